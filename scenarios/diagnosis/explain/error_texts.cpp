#include "scenarios/diagnosis/explain/error_texts.h"

#include <algorithm>
#include <array>

namespace pdsim::scenarios {
namespace {

struct ErrorText {
  Code code;
  std::string_view text;
};

constexpr std::array<ErrorText, static_cast<std::size_t>(Code::count_)> texts{{
    {Code::internal, R"(This is a mistake in pdsim, never in a scenario.

Fix: report it with the command line, the scenario file and what was printed.)"},
    {Code::invalid_argument,
     R"(The process group checks every call before anything is sent: a root or peer that is not a rank of the group, a
buffer whose element count or dtype is not the call's, a reduce operation that the dtype does not have, input and output that
overlap. Only the calling rank sees the error; the others wait for it in the collective that it did not start.

Fix: what the message names. If other ranks hang, look for the one that raised.)"},
    {Code::input_invalid,
     R"(A file or an option given to pdsim is wrong. Nothing was run; the exit status is 2. For scenario files every error of
the file is shown at once, each with its place.

Fix: `pdsim check FILE` shows the same without running; `pdsim schema` is for editors.)"},
    {Code::io_error,
     R"(The operating system refused to read or write a file or a folder; the message carries its reason.

Fix: permissions, free space, and whether every rank sees the same file system.)"},
    {Code::unavailable,
     R"(The world (gloo, mpi, nccl) was not built in or lacks its hardware. The exit status is 3, which test runners take
for a skip.

Fix: `pdsim doctor` says what is missing.)"},
    {Code::unsupported,
     R"(The backend does not offer this operation, as in the real library; what each offers is in its documentation.

Fix: another operation with the same effect (reduce_scatter = reduce + scatter), or another backend.)"},
    {Code::limit_exceeded,
     R"(Scenario files are untrusted, so ranks, steps, operations and memory have stated limits, checked before anything is
allocated.

Fix: fewer ranks or steps, a smaller count or model, or `payload: none`, which moves sizes only.)"},
    {Code::not_initialized,
     R"(A collective, DDP or the group's properties were used before init_process_group, or on a rank that never called it.

Fix: call init_process_group first, on every rank, also in worker processes that were started by spawn.)"},
    {Code::already_initialized,
     R"(init_process_group was called a second time in one process, often by a library that also initialises it.

Fix: ask is_initialized() first, or destroy_process_group before the second call.)"},
    {Code::group_destroyed,
     R"(The group was used after destroy_process_group: a late log line that reduces a metric, a hook at exit.

Fix: destroy the group last.)"},
    {Code::timeout,
     R"(An operation waited longer than the group's timeout (Gloo 30 minutes, NCCL 10 by default). The timeout says only that some
rank did not do its part; the rank that reports it is seldom the one at fault. After it the group cannot be used.

How to recognise the cause: compare what every rank called with the same sequence number. A rank that is missing there, or
called something else, is the culprit; if all are there, a message is missing.

Fix: the cause that the report names. A longer timeout helps only where a rank was slow (timeout-too-short).)"},
    {Code::peer_closed,
     R"(The connection to another rank closed while an operation needed it, because that rank ended. Gloo prints "connection
closed by peer" with an address and no rank.

How to recognise the cause: this error is a consequence. The first error by time, on another rank, is the cause; a rank that
simply finished its program early looks the same.

Fix: look at the rank that ended first.)"},
    {Code::process_aborted,
     R"(The library ended the process from a thread of its own, so no try block around the call can catch it: Gloo when a
message is longer than the buffer that waits for it, NCCL's watchdog after a timeout. The last line of that rank's log is
all there is.

Fix: sizes that agree on all ranks; for the watchdog see watchdog-timeout.)"},
    {Code::rank_crashed,
     R"(The process of a rank died: killed (often out of memory), or crashed. It leaves no Python trace.

How to recognise it: the launcher reports an exit by signal; the kernel's log names the out-of-memory killer.

Fix: the reason of its death. Start all ranks again together, from a checkpoint.)"},
    {Code::cancelled,
     R"(The operation was given up because the run ended: another rank failed and the launcher, or pdsim, ended the rest. It is
a consequence, never a cause.

Fix: look at the first error by time.)"},
    {Code::group_unusable,
     R"(An earlier operation of this group timed out or lost a connection, and left its connections closed. Every later call
fails at once with this error.

Fix: handle the first error; a new group is needed, usually a restart of all ranks.)"},
    {Code::watchdog_timeout,
     R"(NCCL's kernels cannot be interrupted, so a watchdog thread looks for collectives that run longer than the timeout,
prints one line with the sequence number and the operation, and ends the process.

How to recognise the cause: as with timeout. Ranks whose watchdog fired were waiting; the one without the line, or with
another operation at the same number, is the one to look at.

Fix: the cause that the report names.)"},
    {Code::store_timeout,
     R"(A rank waited for a key in the store and nobody set it in time (5 minutes by default): the rank that should have set it
did not start, failed before it, or uses another store or prefix.

Fix: find the rank that did not come; check MASTER_ADDR, MASTER_PORT and world_size on all ranks.)"},
    {Code::store_corrupt,
     R"(The file of a FileStore holds something that is not a record of it: two programs share the path, or the file was
truncated, or copied while it was written.

Fix: a fresh path for every run.)"},
    {Code::store_closed,
     R"(The process that serves the store, rank 0 with tcp:// and env://, has ended while others still needed it.

Fix: let rank 0 end last (a barrier before the end), or look for its error.)"},
    {Code::rendezvous_timeout,
     R"(Not every rank joined in time. world_size is larger than the number of processes, one of them failed while it
imported its modules, or it looks at another address.

Fix: start as many processes as world_size says, with ranks 0 to world_size - 1, each once.)"},
    {Code::connection_refused,
     R"(A rank connected to the address that the store gave for a peer, and nobody listened there. The address is old (a store
file of an earlier run), the peer has died, or a firewall is between them.

Fix: a fresh store for every run; see stale-rendezvous.)"},
    {Code::collective_mismatch, R"(Ranks called different collectives at one sequence number of a group.

Fix: the same collectives in the same order on every rank; see the diagnosis of the same name.)"},
    {Code::size_mismatch,
     R"(Ranks called one collective with different element counts, or a message met a receive of another size. MPI reports a
truncated message; Gloo ends the process; NCCL hangs or reads beyond the end.

Fix: equal counts and dtypes on every rank. Gather the sizes first and pad, if they differ by nature.)"},
    {Code::ddp_not_needed,
     R"(DistributedDataParallel was given a module without any parameter that requires a gradient: all are frozen, or there
are none.

Fix: use the module itself, or freeze after wrapping what need not be reduced.)"},
    {Code::model_differs,
     R"(The constructor of DistributedDataParallel compares the number and the shapes of parameters with those of rank 0. They
differ: a layer is built from data that differs per rank (a vocabulary, a number of classes), or a branch on the rank.
Parameters of equal shapes in another order are not noticed.

Fix: build the same module on every rank.)"},
    {Code::reduction_not_finished,
     R"(The last backward left a gradient bucket unreduced, because a parameter in it got no gradient on this rank. That
backward returned without an error; this forward is the first chance to notice. The optimizer has stepped on gradients that
were not averaged.

How to recognise it: PyTorch's message says that it expected to have finished reduction in the prior iteration.

Fix: see `pdsim explain unused-parameters`.)"},
    {Code::marked_ready_twice,
     R"(A gradient became ready a second time in one backward: a module ran twice under reentrant checkpointing, a parameter
is shared between two wrapped modules, or the outputs hide parameters from find_unused_parameters, which then marks them
before their gradient comes.

Fix: non-reentrant checkpointing or static_graph=True; one wrapper for all modules that share parameters; return tensors from
forward in lists, tuples or dicts.)"},
    {Code::static_graph_changed,
     R"(static_graph=True promises that every step uses the same parameters the same number of times; this step used one more
often than the first.

Fix: leave static_graph off, and set find_unused_parameters=True if the used parameters vary.)"},
    {Code::inputs_exhausted,
     R"(join() was entered with throw_on_early_termination, and a rank ran out of inputs before the others: it says so in an
all_reduce that every forward makes, and then every rank raises in the same step instead of waiting for gradients that never
come. Training code catches it and goes on to the next epoch.

How to recognise it: PyTorch's message says that a rank exhausted all inputs, the others that at least one did.

Fix: catch it around the loop, drop what is left of the epoch, or leave throw_on_early_termination off, and the rank without
inputs shadows the others.)"},
    {Code::state_dict_mismatch,
     R"(load_state_dict compares the keys and shapes of a checkpoint with those of the model. What fits has been copied when
the error comes. With strict=False missing and unexpected keys are not errors, and a checkpoint of which no key fits loads
nothing, silently.

How to recognise it: "Missing key(s) in state_dict" and "Unexpected key(s) in state_dict" with the same names but for `module.`
at the beginning: the checkpoint was saved from DistributedDataParallel's wrapper and is loaded into the bare module, or the
other way.

Fix: save `model.module.state_dict()` and load it with `model.module.load_state_dict(...)` on every rank.)"},
    {Code::checkpoint_corrupt,
     R"(The file is not a checkpoint, or not a whole one: the process that wrote it died, the disk was full, or another rank read
it while it was being written. Nothing was loaded.

Fix: write to a temporary file and rename it; a barrier between the rank that writes and the ranks that read.)"},
    {Code::saved_tensor_modified,
     R"(Autograd saved a tensor for backward together with its version. Something wrote to it in place afterwards, so its
version is higher when backward needs it, and the gradient would be wrong.

How to recognise it: "modified by an inplace operation"; the message names the shape and both versions. Without DDP look for
`+=`, `relu_(...)`, an optimizer step between two backwards; with DDP also for a second forward, whose buffer broadcast
writes in place (buffer-broadcast-inplace).

Fix: clone before the write, or run backward before it.)"},
    {Code::autograd_misuse,
     R"(backward was called on something without a graph: the loss was computed without gradients, or its graph was already
used and freed.

Fix: compute the loss with gradients on, once per backward, or keep the graph.)"},
    {Code::shape_mismatch,
     R"(Shapes that must agree do not: the input of a layer and its weights, a prediction and its target.

Fix: the message names both shapes.)"},
    {Code::wrong_data,
     R"(pdsim checks the result of every collective of a scenario against the inputs of all ranks. This one ended without an
error and delivered something else: ranks passed different reduce operations or dtypes of equal size, or a message was
changed on its way. A training job would have gone on.

Fix: the cause that the report names (collective-mismatch, message-corrupted).)"},
    {Code::program_raised,
     R"(The program of one rank raised an exception that has nothing to do with communication: a file that is not there, an
index out of range in a data loader, memory that ran out. Only that rank sees it. The others wait for it in their next collective,
or see their connection close, and report that instead.

Fix: read the log of this rank. A launcher that ends all ranks when one fails keeps the others from waiting.)"},
}};

}  // namespace

std::string_view text_of_error(Code code) {
  const auto* it = std::find_if(texts.begin(), texts.end(), [code](const ErrorText& t) { return t.code == code; });
  return it == texts.end() ? std::string_view() : it->text;
}

}  // namespace pdsim::scenarios
