#include "backends/nccl/nccl_backend.h"

#include "backends/engine/wait_for_all.h"
#include "backends/nccl/errors.h"
#include "backends/nccl/nccl_communicator.h"
#include "backends/nccl/probe.h"
#include "backends/nccl/raw.h"
#include "backends/net/interfaces.h"
#include "backends/os/deadline.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <optional>
#include <string>
#include <utility>

namespace pdsim {
namespace {

using namespace literals;

Error unavailable(std::string reason) { return {Code::unavailable, std::move(reason), {}}; }

// Makes a communicator and waits until all ranks have.
Result<std::shared_ptr<NcclChannel>> open_channel(NcclJob& job, NcclGroup& group, const NcclSlot& slot,
                                                  NcclFlight::Clock::time_point deadline) {
  std::shared_ptr<NcclChannel> channel;
  auto outcome = std::make_shared<std::promise<Status>>();
  std::future<Status> opened = outcome->get_future();
  PDSIM_TRY(job.engine().call([&] {
    channel = group.add_channel();
    channel->open(slot, deadline, [outcome](Status status) { outcome->set_value(std::move(status)); });
    return Status{};
  }));
  PDSIM_TRY(opened.get());
  return channel;
}

class NcclBackend final : public Backend {
 public:
  NcclBackend(Runtime& runtime, std::shared_ptr<NcclJob> job) : runtime_(runtime), job_(std::move(job)) {}
  std::string_view name() const override { return "nccl"; }
  Time default_timeout() const override { return 10_min; }  // PyTorch's since 2.2

 private:
  Result<std::unique_ptr<Communicator>> join_group(Store& store, const JoinOptions& options) override {
    const Time timeout = options.timeout > Time{} ? options.timeout : default_timeout();
    const auto deadline = deadline_after(timeout);
    PDSIM_TRY(take_device(options));
    const Result<std::string> name = name_of_join(store, options);
    if (!name.ok()) return name.error();
    auto group = std::make_shared<NcclGroup>(job_->engine(), job_->library());
    std::shared_ptr<NcclChannel> channels[2];
    for (const int i : {0, 1}) {
      const Result<NcclSlot> slot = take_slot(store, options, *name, i, timeout);
      if (!slot.ok()) return slot.error();
      Result<std::shared_ptr<NcclChannel>> opened = open_channel(*job_, *group, *slot, deadline);
      if (!opened.ok()) return opened.error();
      channels[i] = std::move(*opened);
    }
    const std::string prefix = fmt::format("{}/{}", options.group, *name);
    return std::unique_ptr<Communicator>(std::make_unique<NcclCommunicator>(
        runtime_, NcclCommunicator::Parts{job_, std::move(group), channels[0], channels[1], store, prefix, options.rank,
                                          options.size, timeout}));
  }

  Result<std::unique_ptr<RawCaller>> join_raw_group(Store& store, const JoinOptions& options) override {
    const Time timeout = options.timeout > Time{} ? options.timeout : default_timeout();
    PDSIM_TRY(take_device(options));
    const Result<std::string> name = name_of_join(store, options);
    if (!name.ok()) return name.error();
    const Result<NcclSlot> slot = take_slot(store, options, *name, 0, timeout);
    if (!slot.ok()) return slot.error();
    return make_nccl_raw_caller(job_, *slot, deadline_after(timeout));
  }
  // Once, at the first group, which is the world's.
  Status take_device(const JoinOptions& options) {
    if (has_device_) return {};
    const RankList members = options.members();
    const Rank rank = members[options.rank];
    const LocalSlot slot = local_slot(rank, std::max(options.size, members[options.size - 1] + 1), std::getenv);
    const NcclFacts facts = nccl_facts(job_->library(), slot.ranks);
    if (std::string problem = nccl_problem(facts); !problem.empty()) return unavailable(std::move(problem));
    const DevicePlace place = place_on(slot.rank, slot.ranks, facts.devices);
    constexpr int keep_what_is_there = 0;
    if (place.shared)
      for (const auto& [name, value] : shared_device_environment(rank))
        setenv(name.c_str(), value.c_str(), keep_what_is_there);
    const CudaCalls& cuda = job_->library().cuda;
    PDSIM_TRY(job_->engine().call([&] { return cuda_status(cuda, cuda.set_device(place.device), "cudaSetDevice"); }));
    PDSIM_TRY(cuda_status(cuda, cuda.set_device(place.device), "cudaSetDevice"));
    has_device_ = true;
    return {};
  }

  // A store may see several groups of one name, one after the other.
  Result<std::string> name_of_join(Store& store, const JoinOptions& options) const {
    const auto joins = store.add(options.group + "/nccl joins", 1);
    if (!joins.ok()) return joins.error();
    return fmt::format("nccl {}", (*joins - 1) / options.size);
  }

  // In a join's i-th communicator, when every rank is there: NCCL itself would wait forever.
  Result<NcclSlot> take_slot(Store& store, const JoinOptions& options, const std::string& join, int i,
                             Time timeout) const {
    Result<ncclUniqueId> id =
        shared_id(store, options.rank, fmt::format("{}/{}/id {}", options.group, join, i), timeout);
    if (!id.ok()) return id.error();
    PDSIM_TRY(wait_for_all(store, options, fmt::format("{} here {}", join, i), timeout));
    return NcclSlot{*id, options.rank, options.size};
  }

  Result<ncclUniqueId> shared_id(Store& store, Rank rank, const std::string& key, Time timeout) const {
    if (rank == 0) {
      Result<ncclUniqueId> made = make_unique_id(job_->library());
      if (made.ok()) PDSIM_TRY(store.set(key, text_of(*made)));
      return made;
    }
    const std::string keys[] = {key};
    PDSIM_TRY(store.wait(keys, timeout));
    const Result<std::string> text = store.get(key);
    if (!text.ok()) return text.error();
    return unique_id_of(*text);
  }

  Runtime& runtime_;
  std::shared_ptr<NcclJob> job_;
  bool has_device_ = false;
};

}  // namespace

Availability probe_nccl() {
  const Result<NcclLibrary> library = load_nccl();
  if (!library.ok()) return {false, "", library.error().message};
  const NcclFacts facts = nccl_facts(*library, 0);
  const std::string problem = nccl_problem(facts);
  const std::string version =
      fmt::format("NCCL {}, CUDA {}", nccl_version_text(facts.nccl_version), cuda_version_text(facts.runtime_version));
  return {problem.empty(), version, problem};
}

Result<std::unique_ptr<Backend>> make_nccl_backend(Runtime& runtime) {
  const Result<NcclLibrary> library = load_nccl();
  if (!library.ok()) return library.error();
  return make_nccl_backend(runtime, *library);
}

Result<std::unique_ptr<Backend>> make_nccl_backend(Runtime& runtime, const NcclLibrary& library) {
  if (std::string problem = nccl_problem(nccl_facts(library, 0)); !problem.empty())
    return unavailable(std::move(problem));
  const char* list = std::getenv("NCCL_SOCKET_IFNAME");
  const std::vector<std::string> here = network_interfaces();
  if (list != nullptr && std::none_of(here.begin(), here.end(),
                                      [list](const std::string& name) { return nccl_takes_interface(list, name); }))
    return no_such_interface("NCCL_SOCKET_IFNAME", list);
  Result<std::shared_ptr<NcclJob>> job = NcclJob::begin(library);
  if (!job.ok()) return job.error();
  return std::unique_ptr<Backend>(std::make_unique<NcclBackend>(runtime, std::move(*job)));
}

}  // namespace pdsim
