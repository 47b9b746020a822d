// Tensors that a backend does not take as they are: on another device, on a GPU that another rank has, or not contiguous.
#include "core/semantics/device_type.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/rules/wording.h"
#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

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
  d.headline = fmt::format("{} {} with a tensor on {}, for which backend {} has no way", who(d.ranks, "calls", "call"),
                           call->name, device, backend);
  d.cause = fmt::format("the tensor of {} is on {}", call->name, device);
  d.why = fmt::format(
      "A process group sends a tensor from where it is. {} moves memory of one kind of device only, and nobody copies "
      "the tensor there first. The call is refused before anything is sent; ranks that passed it well wait for the "
      "others.",
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
  for (const Rank rank : std::vector<Rank>(d.ranks))
    for (const Note* note : notes_of<notes::DeviceUsed>(log_of(report.run, rank))) {
      const auto& used = note->as<notes::DeviceUsed>();
      d.evidence.push_back(evidence_of(rank, *note, fmt::format("uses GPU {} of node {}", used.device, used.node)));
    }
  const std::string device = fact_of(report, d.ranks.front(), "device");
  d.headline =
      fmt::format("{} GPU {} of one node, and NCCL takes one process for each", who(d.ranks, "uses", "use"), device);
  d.cause = fmt::format("{} GPU {}", who(d.ranks, "is on", "are all on"), device);
  d.why =
      "Every process starts on GPU 0 until it chooses another. NCCL's ranks tell each other their host and GPU when "
      "the communicator is made, which is at the first collective and not in init_process_group; two on one GPU are "
      "refused there, or, in older versions, hang.";
  d.fix = {"set_device: {index: local_rank} before init_process_group, that is, "
           "torch.cuda.set_device(int(os.environ['LOCAL_RANK']))",
           "torch.cuda.set_device(int(os.environ['LOCAL_RANK'])) before init_process_group"};
  d.fix_lines = {alternative("give each process one GPU with CUDA_VISIBLE_DEVICES")};
  add_span(d, report, call->site.line, call->site.column, "the first call compares GPUs", true);
  add_span(d, report, Section::world, "counts the GPUs of a node", false);
  d.inevitable_at = call->issued;
  d.inevitable = fmt::format("since {}: {} met on GPU {}", to_string(call->issued), ranks_text(d.ranks), device);
  return d;
}

std::optional<Diagnosis> strided_view(const Report& report) {
  Diagnosis d;
  const Call* call = refused(report, Code::invalid_argument, "stride", d, "was refused: the tensor is not contiguous");
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
  d.cause = taken ? "the backend took the first elements in memory for those of the view"
                  : fmt::format("{} takes contiguous tensors only", call->name);
  d.why =
      taken
          ? "The backend works on memory: so many elements from the beginning of the tensor on. Of a view like t[::2] "
            "every other one of these belongs to somebody else. They were combined and written, the view's own "
            "last elements were not, and no call failed."
          : "The backend checks that the elements of the tensor lie one after another, and refuses a view that "
            "skips some or a transposed matrix, on the rank that passed it.";
  d.fix = "pass a contiguous copy and write it back: c = t.contiguous(); all_reduce(c); t.copy_(c)";
  d.fix_lines = {"all_reduce(t.contiguous()) alone loses the result: it is in the copy"};
  add_span(d, report, call->site.line, call->site.column, fmt::format("a view with stride {}", stride), true);
  d.inevitable_at = call->issued;
  d.inevitable = fmt::format("since {}: the view went into {}", to_string(call->issued), call->name);
  return d;
}

std::optional<Diagnosis> call_not_offered(const Report& report) {
  Diagnosis d;
  const Call* call = refused(report, Code::unsupported, "backend", d, "was refused by the backend");
  if (call == nullptr) return std::nullopt;
  const std::string backend = fact_of(report, d.ranks.front(), "backend");
  const std::string message = log_of(report.run, d.ranks.front()).error.message;
  d.headline = fmt::format("{} {}, and {} has no such call", who(d.ranks, "makes", "make"), call->name, backend);
  d.cause = message;
  d.why =
      "Backends differ in operations, element types and reductions: what one library has built in, another does not. "
      "The call is refused on each rank that makes it, before anything is sent; ranks that made another one wait.";
  const bool mean = fact_of(report, d.ranks.front(), "reduce_op") == name_of(ReduceOp::avg);
  d.fix = mean ? "op: sum, and divide by the world size afterwards" : "another backend, or cast to a type that it has";
  d.fix_lines = {"the documentation of torch.distributed has a table of what each backend offers"};
  add_span(d, report, call->site.line, call->site.column, "is not offered", true);
  d.inevitable_at = call->issued;
  d.inevitable = fmt::format("since {}: {} was refused", to_string(call->issued), call->name);
  return d;
}

constexpr std::string_view call_not_offered_text =
    R"(The backend of the process group does not have this operation, this element type, or this reduction. ReduceOp.AVG is NCCL's
alone; MPI has neither half nor bfloat16; a receive from any source is not NCCL's.

How to recognise it: "Cannot use ReduceOp.AVG with Gloo", "unsupported data type", "is not supported by", at the first such call,
on every rank that makes it. Code that was written on GPUs shows it when it is tested on the CPU.

Fix: SUM and a division instead of AVG, a cast, or the backend that has it.)";

constexpr std::string_view device_without_backend_text =
    R"(The tensor of a call is on a device for which the process group has no backend: NCCL moves memory of GPUs only, MPI without
CUDA support that of the host only.

How to recognise it: "No backend type associated with device type cpu", or in older versions "Tensors must be CUDA and
dense", on the ranks that passed such a tensor; the others wait. Object collectives and DistributedSampler's helpers make
tensors of their own.

Fix: move the tensor, or init_process_group("cpu:gloo,cuda:nccl").)";

constexpr std::string_view device_shared_text =
    R"(Two processes of one node work on the same GPU, mostly GPU 0, because nothing chose another. NCCL compares the GPUs of all
ranks when it makes a communicator, and refuses.

How to recognise it: "Duplicate GPU detected : rank 0 and rank 1 both on CUDA device", or "invalid usage" from NCCL, at the first
collective; with Gloo no error, but memory of GPU 0 that runs out.

Fix: torch.cuda.set_device(local_rank) before anything else, or one visible device for each process.)";

constexpr std::string_view strided_view_text =
    R"(A tensor whose elements do not lie one after another was passed to a collective. NCCL and MPI refuse it; Gloo takes the first
elements in memory, which are not those of the view.

How to recognise it: "Tensors must be contiguous", or with Gloo no error and a tensor of which some elements are reduced and
others are not.

Fix: c = t.contiguous(), the call on c, and t.copy_(c) afterwards.)";

extern const DiagnosisRow device_without_backend_row;
const DiagnosisRow device_without_backend_row{70, "device-without-backend",
                                              "a call's tensor is on a device that the backend does not serve",
                                              device_without_backend, device_without_backend_text};
extern const DiagnosisRow device_shared_row;
const DiagnosisRow device_shared_row{80, "device-shared", "two ranks of a node use one GPU", device_shared,
                                     device_shared_text};
extern const DiagnosisRow strided_view_row;
const DiagnosisRow strided_view_row{90, "strided-view", "a tensor that is not contiguous was passed to a collective",
                                    strided_view, strided_view_text};
extern const DiagnosisRow call_not_offered_row;
const DiagnosisRow call_not_offered_row{290, "call-not-offered", "the backend does not offer the call",
                                        call_not_offered, call_not_offered_text};

}  // namespace pdsim::scenarios::diagnoses
