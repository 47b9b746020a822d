#include "backends/nccl/device/channel.h"

#include "backends/nccl/errors.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace pdsim {

std::int64_t NcclFlight::reserve(std::int64_t wanted) {
  constexpr std::int64_t alignment = 256;
  const std::int64_t at = bytes;
  bytes += (wanted + alignment - 1) / alignment * alignment;
  return at;
}

void NcclFlight::read(const std::byte* memory, std::int64_t wanted, std::int64_t at) {
  in.push_back({const_cast<std::byte*>(memory), wanted, at});
}

namespace {

Status enqueue_copy(const NcclContext& context, std::byte* to, const std::byte* from, const NcclFlight::Copy& copy,
                    cudaMemcpyKind kind) {
  const CudaCalls& cuda = context.loaded.cuda;
  return cuda_status(cuda,
                     cuda.copy(to + copy.at, from + copy.at, static_cast<std::size_t>(copy.bytes), kind, context.stream),
                     "cudaMemcpyAsync");
}

}  // namespace

Status NcclFlight::bring_in(const NcclContext& context) const {
  for (const Copy& copy : in) {
    if (copy.bytes == 0) continue;
    std::memcpy(context.host + copy.at, copy.memory, static_cast<std::size_t>(copy.bytes));
    PDSIM_TRY(enqueue_copy(context, context.device, context.host, copy, cudaMemcpyHostToDevice));
  }
  return {};
}

Status NcclFlight::bring_out(const NcclContext& context) const {
  for (const Copy& copy : out)
    if (copy.bytes > 0) PDSIM_TRY(enqueue_copy(context, context.host, context.device, copy, cudaMemcpyDeviceToHost));
  return {};
}

void NcclFlight::hand_over(const std::byte* host) const {
  for (const Copy& copy : out)
    if (copy.bytes > 0) std::memcpy(copy.memory, host + copy.at, static_cast<std::size_t>(copy.bytes));
}

// Asks one channel; it keeps the channel alive meanwhile.
class NcclChannel::Poller final : public PolledOperation {
 public:
  explicit Poller(std::shared_ptr<NcclChannel> channel) : channel_(std::move(channel)) {}
  bool poll() override {
    NcclChannel& channel = *channel_;
    channel.progressed_ = false;
    const bool over = channel.poll();
    if (!over && !channel.progressed_) return false;
    channel.polled_ = false;
    if (!over) channel.keep_polling();  // again, so that the engine sees that there was news
    return true;
  }
  void abort(const Error& reason) override { channel_->abort(reason); }

 private:
  std::shared_ptr<NcclChannel> channel_;
};

NcclChannel::~NcclChannel() { end(true); }

void NcclChannel::keep_polling() {
  if (std::exchange(polled_, true)) return;
  owner_.engine.add(std::make_unique<Poller>(shared_from_this()));
}

Status NcclChannel::begin_open(const NcclSlot& slot) {
  const CudaCalls& cuda = owner_.loaded.cuda;
  PDSIM_TRY(cuda_status(cuda, cuda.make_stream(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const NcclCalls& nccl = owner_.loaded.nccl;
  return nccl_status(nccl, nccl.init(&communicator_, slot.size, slot.id, slot.rank, &config), "ncclCommInitRankConfig",
                     nullptr);
}

void NcclChannel::open(const NcclSlot& slot, Clock::time_point deadline, std::function<void(Status)> opened) {
  deadline_ = deadline;
  opened_ = std::move(opened);
  const Status begun = begin_open(slot);
  if (!begun.ok()) return owner_.failed(begun.error());
  keep_polling();
}

void NcclChannel::submit(NcclFlight flight) {
  if (state_ == State::closing || state_ == State::over)
    return flight.done(Error{Code::group_unusable, "the group's communicator was aborted", {}});
  waiting_.push_back(std::move(flight));
  keep_polling();
}

bool NcclChannel::poll() {
  if (state_ == State::over) return true;
  const Status status = advance();
  if (!status.ok()) owner_.failed(status.error());
  return state_ == State::over || (state_ == State::open && idle());
}

Status NcclChannel::advance() {
  const NcclCalls& nccl = owner_.loaded.nccl;
  ncclResult_t state = ncclSuccess;
  PDSIM_TRY(nccl_status(nccl, nccl.async_error(communicator_, &state), "ncclCommGetAsyncError", communicator_));
  PDSIM_TRY(nccl_status(nccl, state, "ncclCommGetAsyncError", communicator_));
  const bool busy = state == ncclInProgress;
  if (state_ == State::closing) return advance_closing(busy);
  if (state_ == State::opening) PDSIM_TRY(advance_opening(busy));
  if (state_ == State::open && !busy) PDSIM_TRY(launch_next());
  PDSIM_TRY(land());
  return check_deadlines();
}

Status NcclChannel::advance_opening(bool busy) {
  if (busy) {
    if (Clock::now() < deadline_) return {};
    return Error{Code::timeout, "not every rank made NCCL's communicator within the timeout", {}};
  }
  state_ = State::open;
  progressed_ = true;
  if (const auto opened = std::exchange(opened_, nullptr)) opened({});
  return {};
}

Status NcclChannel::advance_closing(bool busy) {
  if (busy && Clock::now() < deadline_) return {};
  end(busy);
  return {};
}

NcclContext NcclChannel::lane_of(const InAir& air) const {
  return {owner_.loaded, communicator_, stream_, air.buffer.device, air.buffer.host, air.buffer.works};
}

// NCCL has taken up what was launched last.
Status NcclChannel::launch_next() {
  if (launching_) return launching_->more ? launch_part() : send_on_its_way();
  if (waiting_.empty()) return {};
  launching_ = std::make_unique<InAir>();
  InAir& air = *launching_;
  air.flight = std::move(waiting_.front());
  waiting_.pop_front();
  Result<NcclStaging::Buffer> buffer = owner_.staging.take(air.flight.bytes);
  if (!buffer.ok()) return buffer.error();
  air.buffer = *buffer;
  const CudaCalls& cuda = owner_.loaded.cuda;
  PDSIM_TRY(cuda_status(cuda, cuda.make_event(&air.landed, cudaEventDisableTiming), "cudaEventCreateWithFlags"));
  PDSIM_TRY(air.flight.bring_in(lane_of(air)));
  return launch_part();
}

Status NcclChannel::launch_part() {
  const Result<bool> more = launching_->flight.launch(lane_of(*launching_));
  if (!more.ok()) return more.error();
  launching_->more = *more;
  progressed_ = true;
  return {};
}

// All of NCCL's kernels are on the stream now, so what comes back may follow.
Status NcclChannel::send_on_its_way() {
  InAir air = std::move(*std::exchange(launching_, nullptr));
  flying_.push_back(std::move(air));
  InAir& flying = flying_.back();
  const CudaCalls& cuda = owner_.loaded.cuda;
  PDSIM_TRY(flying.flight.bring_out(lane_of(flying)));
  progressed_ = true;
  return cuda_status(cuda, cuda.record_event(flying.landed, stream_), "cudaEventRecord");
}

Status NcclChannel::land() {
  const CudaCalls& cuda = owner_.loaded.cuda;
  while (!flying_.empty()) {
    const cudaError_t landed = cuda.query_event(flying_.front().landed);
    if (landed == cudaErrorNotReady) return {};
    PDSIM_TRY(cuda_status(cuda, landed, "cudaEventQuery"));
    InAir air = std::move(flying_.front());
    flying_.pop_front();
    progressed_ = true;
    air.flight.hand_over(air.buffer.host);
    finish(air);
    air.flight.done({});
  }
  return {};
}

void NcclChannel::finish(InAir& air) {
  if (air.landed != nullptr) (void)owner_.loaded.cuda.destroy_event(std::exchange(air.landed, nullptr));
  if (air.buffer.device != nullptr) owner_.staging.give_back(std::exchange(air.buffer, {}));
}

// Whoever waited too long is told so; the rest of the group ends because of that.
Status NcclChannel::check_deadlines() {
  const Clock::time_point now = Clock::now();
  std::vector<std::function<void(Status)>> late;
  const auto check = [&](NcclFlight& flight) {
    if (now >= flight.deadline && flight.done) late.push_back(std::exchange(flight.done, nullptr));
  };
  for (InAir& air : flying_) check(air.flight);
  if (launching_) check(launching_->flight);
  for (NcclFlight& flight : waiting_) check(flight);
  if (late.empty()) return {};
  const Error timeout{Code::timeout, "the operation was not finished within the group's timeout", {}};
  owner_.failed({Code::group_unusable,
                 "an operation of the group was not finished in time, and NCCL's communicator was aborted",
                 {}});
  for (const auto& done : late) done(timeout);
  return {};
}

void NcclChannel::abort(const Error& reason) {
  if (state_ == State::over) return;
  std::vector<std::function<void(Status)>> ended;
  if (opened_) ended.push_back(std::exchange(opened_, nullptr));
  for (InAir& air : flying_)
    if (air.flight.done) ended.push_back(std::move(air.flight.done));
  if (launching_ && launching_->flight.done) ended.push_back(std::move(launching_->flight.done));
  for (NcclFlight& flight : waiting_)
    if (flight.done) ended.push_back(std::move(flight.done));
  end(true);
  for (const auto& done : ended) done(reason);
}

void NcclChannel::close(std::function<void()> closed) {
  constexpr std::chrono::seconds patience(5);
  if (state_ == State::over) return closed();
  closed_ = std::move(closed);
  if (state_ != State::open || !idle()) return end(true);
  state_ = State::closing;
  deadline_ = Clock::now() + patience;
  const NcclCalls& nccl = owner_.loaded.nccl;
  if (!nccl_status(nccl, nccl.finalize(communicator_), "ncclCommFinalize", communicator_).ok()) return end(true);
  keep_polling();
}

// The device may still be copying into the staging buffers, so those of flights that are cut off stay out of use until they are freed.
void NcclChannel::end(bool abort) {
  if (std::exchange(state_, State::over) == State::over) return;
  const NcclLibrary& library = owner_.loaded;
  if (communicator_ != nullptr) (void)(abort ? library.nccl.abort : library.nccl.destroy)(communicator_);
  communicator_ = nullptr;
  for (InAir& air : flying_) (void)library.cuda.destroy_event(air.landed);
  if (launching_ && launching_->landed != nullptr) (void)library.cuda.destroy_event(launching_->landed);
  flying_.clear();
  launching_.reset();
  waiting_.clear();
  if (stream_ != nullptr) (void)library.cuda.destroy_stream(std::exchange(stream_, nullptr));
  if (const auto closed = std::exchange(closed_, nullptr)) closed();
}

}  // namespace pdsim
