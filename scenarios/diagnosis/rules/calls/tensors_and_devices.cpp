// Tensors that a backend does not take as they are: on another device, on a GPU that another rank has, or not contiguous.
#include "core/semantics/device_type.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>

namespace pdsim::scenarios::diagnoses {
namespace {

// The ranks that raised an error with this fact, and the first call that did.
const Call* refused(const Report& report, Code code, std::string_view key, Diagnosis& d, std::string_view what) {
  const Call* first = nullptr;
  for (const RankResult& result : report.run.ranks) {
    const RankLog& log = result.log;
    if (log.end != RankEnd::raised || log.error.code != code || fact(log.error.facts, key).empty()) continue;
    const Call* call = failed_operation(log, code);
    if (call == nullptr) continue;
    add_once(d.ranks, log.rank);
    d.evidence.push_back(evidence_of(log.rank, *call, std::string(what)));
    if (first == nullptr || call->issued < first->issued) first = call;
  }
  return first;
}

std::string fact_of(const Report& report, Rank rank, std::string_view key) {
  return std::string(fact(log_of(report.run, rank).error.facts, key));
}

}  // namespace

std::optional<Diagnosis> device_without_backend(const Report& report) {
  Diagnosis d;
  const Call* call = refused(report, Code::unsupported, "device", d, "the tensor is on a device without a backend");
  if (call == nullptr) return std::nullopt;
  const std::string device = fact_of(report, d.ranks.front(), "device");
  const std::string backend = fact_of(report, d.ranks.front(), "backend");
  d.headline = fmt::format("{} {} with a tensor on {}, which backend {} does not support", who(d.ranks, "calls", "call"),
                           call->name, device, backend);
  d.cause = fmt::format("the tensor of {} is on {}", call->name, device);
  d.why = fmt::format(
      "A process group sends a tensor from its own device. {} moves memory of one kind of device only, and no one "
      "copies the tensor there first. The call is rejected before anything is sent; ranks that passed a supported "
      "tensor wait for the others.",
      backend);
  d.fix = device == name_of(DeviceType::cpu) ? "move the tensor: t.cuda() before the call, and .cpu() after it"
                          : "move the tensor: t.cpu() before the call, and .cuda() after it";
  d.fix_lines = {alternative("init_process_group(\"cpu:gloo,cuda:nccl\"), which has a backend for each")};
  add_span(d, report, call->site.line, call->site.column, fmt::format("a tensor on {}", device), true);
  d.inevitable_at = call->issued;
  d.inevitable = fmt::format("since {}: {} was refused", to_string(call->issued), call->name);
  return d;
}

std::optional<Diagnosis> device_shared(const Report& report) {
  Diagnosis d;
  const Call* call =
      refused(report, Code::invalid_argument, "shared_with", d, "found another rank on its GPU at the first call");
  if (call == nullptr) return std::nullopt;
  std::set<std::int64_t> nodes, devices;
  for (const Rank rank : std::vector<Rank>(d.ranks))
    for (const Note* note : notes_of<notes::DeviceUsed>(log_of(report.run, rank))) {
      const auto& used = note->as<notes::DeviceUsed>();
      d.evidence.push_back(evidence_of(rank, *note, fmt::format("uses GPU {} of node {}", used.device, used.node)));
      nodes.insert(used.node);
      devices.insert(used.device);
    }
  const std::string device = fact_of(report, d.ranks.front(), "device");
  const std::string shared = devices.size() > 1 ? "a GPU" : fmt::format("GPU {}", device);
  const bool are_several = nodes.size() > 1 || devices.size() > 1;
  d.headline = are_several
                   ? fmt::format("{} {} of their node with another rank, and NCCL accepts one process per GPU", who(d.ranks, "shares", "share"), shared)
                   : fmt::format("{} {} of one node, and NCCL accepts one process per GPU", who(d.ranks, "uses", "use"), shared);
  d.cause = are_several ? fmt::format("{} {} with another rank of their node", who(d.ranks, "shares", "share"), shared)
                             : fmt::format("{} {}", who(d.ranks, "is on", "are all on"), shared);
  d.why =
      "Every process starts on GPU 0 until it selects another. NCCL's ranks exchange their host and GPU when the "
      "communicator is created, which happens in the first collective and not in init_process_group; two ranks on one "
      "GPU are rejected there, or hang in older versions.";
  d.fix = {"set_device: {index: local_rank} before init_process_group, that is, "
           "torch.cuda.set_device(int(os.environ['LOCAL_RANK']))",
           "torch.cuda.set_device(int(os.environ['LOCAL_RANK'])) before init_process_group"};
  d.fix_lines = {alternative("give each process one GPU with CUDA_VISIBLE_DEVICES")};
  add_span(d, report, call->site.line, call->site.column, "the first call compares GPUs", true);
  add_span(d, report, Section::world, "counts the GPUs of a node", false);
  d.inevitable_at = call->issued;
  d.inevitable = fmt::format("since {}: {} compared their GPUs", to_string(call->issued), short_ranks(d.ranks));
  return d;
}

std::optional<Diagnosis> strided_view(const Report& report) {
  Diagnosis d;
  const Call* call = refused(report, Code::invalid_argument, "stride", d, "was rejected: the tensor is not contiguous");
  const bool taken = call == nullptr;
  const Note* note = nullptr;
  for (const RankResult& result : report.run.ranks) {
    const Note* passed = first_note<notes::TensorPassed>(result.log);
    if (!taken || passed == nullptr || result.log.error.code != Code::wrong_data) continue;
    const Call* failed = failed_operation(result.log, Code::wrong_data);
    if (failed == nullptr) continue;
    if (note == nullptr) note = passed, call = failed;
    add_once(d.ranks, result.log.rank);
    d.evidence.push_back(evidence_of(result.log.rank, *passed, "passed a view with a stride"));
  }
  if (call == nullptr || d.ranks.empty()) return std::nullopt;
  const std::string stride =
      taken ? std::to_string(note->as<notes::TensorPassed>().stride) : fact_of(report, d.ranks.front(), "stride");
  d.headline = fmt::format("{} {} a view with stride {}, which is not contiguous", who(d.ranks, "passes", "pass"),
                           call->name, stride);
  d.cause = taken ? "the backend used the first elements in memory instead of those of the view"
                  : fmt::format("{} accepts only contiguous tensors", call->name);
  d.why =
      taken
          ? "The backend works on memory: it takes that many elements from the beginning of the tensor. In a view like "
            "t[::2], every other one of these does not belong to the view. The backend combined and wrote them, it did "
            "not touch the view's own last elements, and no call failed."
          : "The backend checks that the elements of the tensor are contiguous in memory, and rejects a view that "
            "skips some, or a transposed matrix, on the rank that passed it.";
  d.fix = "pass a contiguous copy and write it back: c = t.contiguous(); all_reduce(c); t.copy_(c)";
  d.fix_lines = {"all_reduce(t.contiguous()) alone loses the result: it is in the copy"};
  add_span(d, report, call->site.line, call->site.column, fmt::format("a view with stride {}", stride), true);
  d.inevitable_at = call->issued;
  d.inevitable = fmt::format("since {}: the view went into {}", to_string(call->issued), call->name);
  return d;
}

std::optional<Diagnosis> call_not_offered(const Report& report) {
  Diagnosis d;
  const Call* call = refused(report, Code::unsupported, "backend", d, "was rejected by the backend");
  if (call == nullptr) return std::nullopt;
  const std::string backend = fact_of(report, d.ranks.front(), "backend");
  const std::string message = log_of(report.run, d.ranks.front()).error.message;
  d.headline = fmt::format("{} {}, which {} does not support", who(d.ranks, "makes", "make"), call->name, backend);
  d.cause = message;
  d.why =
      "Backends support different operations, element types and reductions. The call is rejected on each rank that "
      "makes it, before anything is sent; ranks that made a different one wait.";
  const bool mean = fact_of(report, d.ranks.front(), "reduce_op") == name_of(ReduceOp::avg);
  d.fix = mean ? "op: sum, and divide by the world size afterwards" : "use another backend, or cast to a type that "
                                                                      "this one supports";
  d.fix_lines = {"the documentation of torch.distributed has a table of what each backend offers"};
  add_span(d, report, call->site.line, call->site.column, "is not offered", true);
  d.inevitable_at = call->issued;
  d.inevitable = fmt::format("since {}: {} was refused", to_string(call->issued), call->name);
  return d;
}

constexpr std::string_view call_not_offered_text =
    R"(The backend of the process group does not support this operation, this element type, or this reduction. Only NCCL has
ReduceOp.AVG; MPI has neither half nor bfloat16; NCCL cannot receive from any source.

How to recognise it: "Cannot use ReduceOp.AVG with Gloo", "unsupported data type", "is not supported by", at the first such
call, on every rank that makes it. It often appears when code written for GPUs is tested on the CPU.

Fix: SUM and a division instead of AVG, a cast, or the backend that has it.)";

constexpr std::string_view device_without_backend_text =
    R"(The tensor of a call is on a device for which the process group has no backend: NCCL moves only GPU memory, MPI without
CUDA support only host memory.

How to recognise it: "No backend type associated with device type cpu", or in older versions "Tensors must be CUDA and
dense", on the ranks that passed such a tensor; the others wait. Object collectives and DistributedSampler's helpers
create their own tensors.

Fix: move the tensor, or init_process_group("cpu:gloo,cuda:nccl").)";

constexpr std::string_view device_shared_text =
    R"(Two processes of one node use the same GPU, usually GPU 0, because the script did not select another. NCCL compares the GPUs of
all ranks when it creates a communicator, and reports an error.

How to recognise it: "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device", or "invalid usage" from NCCL, at the
first collective; with Gloo there is no error, but GPU 0 runs out of memory.

Fix: torch.cuda.set_device(local_rank) before anything else, or one visible device for each process.)";

constexpr std::string_view strided_view_text =
    R"(A tensor whose elements are not contiguous in memory was passed to a collective. NCCL and MPI reject it; Gloo uses the first
elements in memory, which are not those of the view.

How to recognise it: "Tensors must be contiguous", or with Gloo no error, and some elements of the tensor are reduced and
others are not.

Fix: c = t.contiguous(), the call on c, and t.copy_(c) afterwards.)";

extern const DiagnosisRow device_without_backend_row;
const DiagnosisRow device_without_backend_row{70, "device-without-backend",
                                              "a call's tensor is on a device that the backend does not support",
                                              device_without_backend, device_without_backend_text};
extern const DiagnosisRow device_shared_row;
const DiagnosisRow device_shared_row{80, "device-shared", "two ranks of a node use one GPU", device_shared,
                                     device_shared_text};
extern const DiagnosisRow strided_view_row;
const DiagnosisRow strided_view_row{90, "strided-view", "a tensor that is not contiguous was passed to a collective",
                                    strided_view, strided_view_text};
extern const DiagnosisRow call_not_offered_row;
const DiagnosisRow call_not_offered_row{290, "call-not-offered", "the backend does not support the call",
                                        call_not_offered, call_not_offered_text};

}  // namespace pdsim::scenarios::diagnoses
