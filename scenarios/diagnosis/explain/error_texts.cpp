#include "scenarios/diagnosis/explain/error_texts.h"

#include <algorithm>
#include <array>

namespace pdsim::scenarios {
namespace {

struct ErrorText {
  Code code;
  std::string_view text;
};

constexpr std::array<ErrorText, static_cast<std::size_t>(Code::count_)> error_texts{{
    {Code::internal, R"(This is a mistake in pdsim, never in a scenario.

Fix: report it with the command line, the scenario file and what was printed.)"},
    {Code::invalid_argument,
     R"(The process group checks every call before anything is sent: a root or peer that is not a rank of the group, a buffer whose
element count or dtype is not the call's, a reduce operation that the dtype does not support, overlapping input and output.
Only the calling rank sees the error; the others wait for it in the collective that it did not start.

Fix: correct the argument that the message names. If other ranks hang, look for the one that raised the error.)"},
    {Code::input_invalid,
     R"(A file or an option given to pdsim is wrong. Nothing was run; the exit status is 2. For a scenario file, all errors
are shown at once, each with its place.

Fix: `pdsim check FILE` shows the same errors without running; `pdsim schema` prints a schema for editors.)"},
    {Code::io_error,
     R"(The operating system refused to read or write a file or a folder; the message gives its reason.

Fix: check permissions, free space, and whether every rank sees the same file system.)"},
    {Code::unavailable,
     R"(The world (gloo, mpi, nccl) was not built in or lacks its hardware. The exit status is 3, which test runners
treat as a skip.

Fix: `pdsim doctor` reports what is missing.)"},
    {Code::unsupported,
     R"(The backend does not support this operation, like the real library; its documentation lists the supported
ones.

Fix: use another operation with the same effect (reduce_scatter = reduce + scatter), or another backend.)"},
    {Code::limit_exceeded,
     R"(Scenario files are untrusted, so ranks, steps, operations and memory have limits, which are checked before anything
is allocated.

Fix: use fewer ranks or steps, a smaller count or model, or `payload: none`, which moves only sizes.)"},
    {Code::not_initialized,
     R"(A collective, DDP or the group's properties were used before init_process_group, or on a rank that never called it.

Fix: call init_process_group first, on every rank, including worker processes started by spawn.)"},
    {Code::already_initialized,
     R"(init_process_group was called a second time in one process, often by a library that also initialises it.

Fix: check is_initialized() first, or call destroy_process_group before the second call.)"},
    {Code::group_destroyed,
     R"(The group was used after destroy_process_group, for example by a late log line that reduces a metric,
or a hook at exit.

Fix: destroy the group last.)"},
    {Code::timeout,
     R"(An operation waited longer than the group's timeout (Gloo 30 minutes, NCCL 10 by default). The timeout says only that some
rank did not do its part; the rank that reports it is seldom the one at fault. Afterwards the group cannot be used.

How to recognise the cause: compare what every rank called with the same sequence number. A rank that is missing there, or
made a different call, is the culprit; if all are there, a message is missing.

Fix: remove the cause that the report names. A longer timeout helps only if a rank was slow (timeout-too-short).)"},
    {Code::peer_closed,
     R"(The connection to another rank closed while an operation needed it, because that rank ended. Gloo prints "connection closed
by peer" with an address but no rank.

How to recognise the cause: this error is a consequence. The first error by time, on another rank, is the cause; a rank that
merely finished its program early looks the same.

Fix: look at the rank that ended first.)"},
    {Code::process_aborted,
     R"(The library ended the process from its own thread, so no try block around the call can catch it: Gloo does so when a
message is longer than the receiving buffer, NCCL's watchdog after a timeout. The last line of that rank's log is the
only evidence.

Fix: pass sizes that agree on all ranks; for the watchdog see watchdog-timeout.)"},
    {Code::rank_crashed,
     R"(The process of a rank died: killed (often out of memory), or crashed. It leaves no Python trace.

How to recognise it: the launcher reports an exit by signal; the kernel's log names the out-of-memory killer.

Fix: find out why it died. Restart all ranks together, from a checkpoint.)"},
    {Code::cancelled,
     R"(The operation was cancelled because the run ended: another rank failed and the launcher, or pdsim, ended the rest. It
is a consequence, never a cause.

Fix: look at the first error by time.)"},
    {Code::group_unusable,
     R"(An earlier operation of this group timed out or lost a connection, and left its connections closed. Every later call
fails at once with this error.

Fix: handle the first error; a new group is needed, usually a restart of all ranks.)"},
    {Code::watchdog_timeout,
     R"(NCCL's kernels cannot be interrupted, so a watchdog thread looks for collectives that run longer than the timeout,
prints one line with the sequence number and the operation, and ends the process.

How to recognise the cause: as with timeout. Ranks whose watchdog fired were waiting; look at the rank without that
line, or with a different operation at the same number.

Fix: remove the cause that the report names.)"},
    {Code::store_timeout,
     R"(A rank waited for a key in the store and no rank set it in time (5 minutes by default): the rank that should have set
it did not start, failed earlier, or uses another store or prefix.

Fix: find the missing rank; check MASTER_ADDR, MASTER_PORT and world_size on all ranks.)"},
    {Code::store_corrupt,
     R"(The file of a FileStore holds data that are not a store record: two programs share the path, or the file was
truncated, or copied while it was being written.

Fix: use a fresh path for every run.)"},
    {Code::store_closed,
     R"(The process that serves the store, rank 0 with tcp:// and env://, has ended while others still needed it.

Fix: let rank 0 end last (a barrier before the end), or look for its error.)"},
    {Code::rendezvous_timeout,
     R"(Not every rank joined in time. world_size is larger than the number of processes, one of them failed while
importing its modules, or it uses another address.

Fix: start exactly world_size processes, with ranks 0 to world_size - 1, each once.)"},
    {Code::connection_refused,
     R"(A rank connected to a peer's address from the store, and nobody was listening there. The address is old (a store file
of an earlier run), the peer has died, or a firewall is between them.

Fix: use a fresh store for every run; see stale-rendezvous.)"},
    {Code::collective_mismatch, R"(Ranks called different collectives at one sequence number of a group.

Fix: make the same collectives in the same order on every rank; see the diagnosis with the same
name.)"},
    {Code::size_mismatch,
     R"(Ranks called one collective with different element counts, or a message met a receive with a different size. MPI
reports a truncated message; Gloo ends the process; NCCL hangs or reads beyond the end.

Fix: pass equal counts and dtypes on every rank. If sizes differ by nature, gather them first and pad.)"},
    {Code::ddp_not_needed,
     R"(DistributedDataParallel was given a module without any parameter that requires a gradient: all are frozen, or there
are none.

Fix: use the module itself, or freeze parameters that need no reduction after wrapping.)"},
    {Code::model_differs,
     R"(The constructor of DistributedDataParallel compares the number and the shapes of parameters with those of rank 0. They
differ: a layer is built from data that differs per rank (a vocabulary, a number of classes), or a branch on the rank.
Parameters with equal shapes in a different order are not noticed.

Fix: build the same module on every rank.)"},
    {Code::reduction_not_finished,
     R"(The last backward left a gradient bucket unreduced, because a parameter in it got no gradient on this rank. That
backward returned without an error; this forward is the first chance to notice. The optimizer has stepped on gradients that
were not averaged.

How to recognise it: PyTorch's message says that it expected to have finished reduction in the prior iteration.

Fix: see `pdsim explain unused-parameters`.)"},
    {Code::marked_ready_twice,
     R"(A gradient became ready a second time in one backward: a module ran twice under reentrant checkpointing, a parameter is
shared between two wrapped modules, or the outputs hide parameters from find_unused_parameters, which then marks them before
their gradient arrives.

Fix: use non-reentrant checkpointing or static_graph=True; use one wrapper for all modules that share parameters; return
tensors from forward in lists, tuples or dicts.)"},
    {Code::static_graph_changed,
     R"(static_graph=True promises that every step uses the same parameters the same number of times; this step used one more
times than the first step did.

Fix: leave static_graph off, and set find_unused_parameters=True if the used parameters vary.)"},
    {Code::inputs_exhausted,
     R"(join() was entered with throw_on_early_termination, and a rank ran out of inputs before the others: it announces this in an
all_reduce that every forward makes, and then every rank raises in the same step instead of waiting for gradients that never
arrive. Training code catches the exception and continues with the next epoch.

How to recognise it: PyTorch's message says that this rank exhausted all inputs, or on the others that at least one rank
did.

Fix: catch it around the loop and drop the rest of the epoch, or leave throw_on_early_termination off, so that the rank
without inputs shadows the others.)"},
    {Code::state_dict_mismatch,
     R"(load_state_dict compares the keys and shapes of a checkpoint with those of the model. Matching entries have been copied by the
time of the error. With strict=False missing and unexpected keys are not errors, and a checkpoint without any matching key
silently loads nothing.

How to recognise it: "Missing key(s) in state_dict" and "Unexpected key(s) in state_dict" with the same names but for `module.`
at the beginning: the checkpoint was saved from DistributedDataParallel's wrapper and is loaded into the bare module, or the
other way.

Fix: save `model.module.state_dict()` and load it with `model.module.load_state_dict(...)` on every rank.)"},
    {Code::checkpoint_corrupt,
     R"(The file is not a checkpoint, or is incomplete: the process that wrote it died, the disk was full, or another rank read
it while it was being written. Nothing was loaded.

Fix: write to a temporary file and rename it, and put a barrier between the rank that writes and the ranks that read.)"},
    {Code::saved_tensor_modified,
     R"(Autograd saved a tensor for backward together with its version. It was later written in place, so its version is higher when
backward needs it, and the gradient would be wrong.

How to recognise it: "modified by an inplace operation"; the message names the shape and both versions. Without DDP look for
`+=`, `relu_(...)`, an optimizer step between two backwards; with DDP also for a second forward, whose buffer broadcast
writes in place (buffer-broadcast-inplace).

Fix: clone before the write, or run backward before it.)"},
    {Code::autograd_misuse,
     R"(backward was called on a tensor without a graph: the loss was computed without gradients, or its graph
was already used and freed.

Fix: compute the loss with gradients enabled, once per backward, or keep the graph.)"},
    {Code::shape_mismatch,
     R"(Two shapes that must agree do not: the input of a layer and its weights, or a prediction and its
target.

Fix: the message names both shapes.)"},
    {Code::wrong_data,
     R"(pdsim checks the result of every collective of a scenario against the inputs of all ranks. This one ended without an
error but delivered a different result: ranks passed different reduce operations or dtypes of equal size, or a message
was changed on its way. A training job would have continued.

Fix: remove the cause that the report names (collective-mismatch, message-corrupted).)"},
    {Code::program_raised,
     R"(The program of one rank raised an exception that has nothing to do with communication: a missing file, an index out of range in
a data loader, out of memory. Only that rank sees it. The others wait for it in their next collective, or see their connection
close, and report that instead.

Fix: read the log of this rank. With a launcher that ends all ranks when one fails, the others do not wait.)"},
}};

}  // namespace

std::string_view text_of_error(Code code) {
  const auto* it = std::find_if(error_texts.begin(), error_texts.end(), [code](const ErrorText& t) { return t.code == code; });
  return it == error_texts.end() ? std::string_view() : it->text;
}

}  // namespace pdsim::scenarios
