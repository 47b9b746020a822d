#include "backends/nccl/raw.h"

#include "backends/nccl/errors.h"
#include "backends/nccl/native.h"

#include <utility>

namespace pdsim {
namespace {

using Clock = NcclFlight::Clock;

// A communicator shared by all prepared calls; the last of them releases it.
class RawCommunicator {
 public:
  explicit RawCommunicator(std::shared_ptr<NcclJob> job) : job_(std::move(job)) {}
  ~RawCommunicator() {
    if (communicator_ != nullptr) (void)nccl().abort(communicator_);  // destroy would wait for the other ranks
    if (landed_ != nullptr) (void)cuda().destroy_event(landed_);
    if (stream_ != nullptr) (void)cuda().destroy_stream(stream_);
  }
  RawCommunicator(const RawCommunicator&) = delete;
  RawCommunicator& operator=(const RawCommunicator&) = delete;

  Status open(const NcclSlot& slot, Clock::time_point deadline) {
    PDSIM_TRY(cuda_status(cuda(), cuda().make_stream(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"));
    PDSIM_TRY(cuda_status(cuda(), cuda().make_event(&landed_, cudaEventDisableTiming), "cudaEventCreateWithFlags"));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    const ncclResult_t begun = nccl().init(&communicator_, slot.size, slot.id, slot.rank, &config);
    PDSIM_TRY(nccl_status(nccl(), begun, "ncclCommInitRankConfig", nullptr));
    return settle(deadline);
  }

  const NcclLibrary& library() const { return job_->library(); }
  const CudaCalls& cuda() const { return library().cuda; }
  NcclContext context(const NcclStaging::Buffer& buffer) const {
    return {library(), communicator_, stream_, buffer.device, buffer.host, buffer.works};
  }

  // Until NCCL has taken up the last call.
  Status settle(Clock::time_point deadline = Clock::time_point::max()) const {
    ncclResult_t state = ncclInProgress;
    while (state == ncclInProgress) {
      PDSIM_TRY(nccl_status(nccl(), nccl().async_error(communicator_, &state), "ncclCommGetAsyncError", communicator_));
      if (state == ncclInProgress && Clock::now() >= deadline)
        return Error{Code::timeout, "not every rank made NCCL's communicator within the timeout", {}};
    }
    return nccl_status(nccl(), state, "ncclCommGetAsyncError", communicator_);
  }

  // Until the stream has come here.
  Status finish() const {
    PDSIM_TRY(cuda_status(cuda(), cuda().record_event(landed_, stream_), "cudaEventRecord"));
    cudaError_t state = cudaErrorNotReady;
    while (state == cudaErrorNotReady) state = cuda().query_event(landed_);
    return cuda_status(cuda(), state, "cudaEventQuery");
  }

 private:
  const NcclCalls& nccl() const { return library().nccl; }

  std::shared_ptr<NcclJob> job_;
  ncclComm_t communicator_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t landed_ = nullptr;
};

class PreparedCall {
 public:
  PreparedCall(std::shared_ptr<RawCommunicator> at, NcclFlight flight)
      : at_(std::move(at)), staging_(at_->cuda()), flight_(std::move(flight)) {}

  Status reserve() {
    Result<NcclStaging::Buffer> buffer = staging_.take(flight_.bytes);
    if (!buffer.ok()) return buffer.error();
    buffer_ = *buffer;
    return {};
  }

  Status bring_in() const { return flight_.bring_in(at_->context(buffer_)); }

  Status call() const {
    while (true) {
      const Result<bool> more = flight_.launch(at_->context(buffer_));
      if (!more.ok()) return more.error();
      PDSIM_TRY(at_->settle());
      if (!*more) return {};
    }
  }

  Status bring_out() const {
    PDSIM_TRY(flight_.bring_out(at_->context(buffer_)));
    PDSIM_TRY(at_->finish());
    flight_.hand_over(buffer_.host);
    return {};
  }

  Status finish() const { return at_->finish(); }

 private:
  std::shared_ptr<RawCommunicator> at_;
  NcclStaging staging_;
  NcclStaging::Buffer buffer_;
  NcclFlight flight_;
};

class NcclRawCaller final : public RawCaller {
 public:
  NcclRawCaller(std::shared_ptr<RawCommunicator> communicator, Rank rank, int size)
      : communicator_(std::move(communicator)), rank_(rank), size_(size) {}

  Result<Run> prepare(const Collective& call, int form) override {
    constexpr int staged = 0, on_device = 1;
    auto prepared = std::make_shared<PreparedCall>(communicator_, native_flight(call, rank_, size_));
    PDSIM_TRY(prepared->reserve());
    if (form == staged)
      return Run([prepared]() -> Status {
        PDSIM_TRY(prepared->bring_in());
        PDSIM_TRY(prepared->call());
        return prepared->bring_out();
      });
    if (form != on_device) return Error{Code::unsupported, "NCCL has no such function", {}};
    PDSIM_TRY(prepared->bring_in());
    return Run([prepared, first = true]() mutable -> Status {
      PDSIM_TRY(prepared->call());
      return std::exchange(first, false) ? prepared->bring_out() : prepared->finish();
    });
  }

 private:
  std::shared_ptr<RawCommunicator> communicator_;
  Rank rank_;
  int size_;
};

}  // namespace

Result<std::unique_ptr<RawCaller>> make_nccl_raw_caller(std::shared_ptr<NcclJob> job, const NcclSlot& slot,
                                                        Clock::time_point deadline) {
  auto communicator = std::make_shared<RawCommunicator>(std::move(job));
  PDSIM_TRY(communicator->open(slot, deadline));
  return std::unique_ptr<RawCaller>(std::make_unique<NcclRawCaller>(std::move(communicator), slot.rank, slot.size));
}

}  // namespace pdsim
