// The requests of a guest, which is the process of a rank of `pdsim run`, and the answers: the frames of its socket.
//
//   frame   the length of a JSON object (4 bytes, little-endian), the length of the data behind it (8 bytes), the object, the data
//   answer  to every request but those that only tell something (expects_answer); one at a time
//   trust   a guest is a program of the user's: a frame that is not one is an error, and large ones are refused
#pragma once

#include "core/base/quantity.h"
#include "core/base/result.h"
#include "core/record/site.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::guests {

struct Request {
  enum class Kind : std::uint8_t {
    hello,  // a process is there: `slot` or `rank`, `pid`, and at init_process_group or the first use of a store `name` of the backend (empty: a store), `size`, `text`: the version,
            // `store`: of the script, whose file is not empty; `all`: it is the world's
    store,  // `name` of the function, `keys`, `data`, `number`, `expected`
    join,   // makes the group `name` of the `ranks`, of which this is the `rank`-th
    start,  // a collective or message: `name` is its kind
    monitored_barrier,  // of `group`
    wait,               // until the work ends, at most `timeout`
    poll,               // whether it has ended
    sleep,              // for `timeout`
    destroy,            // `group`, or with `all` every group
    memory,             // maps the guest's descriptor `number`, sealed memory of `size` bytes, for the data of calls; size 0: lets it go
    enter,              // a call of the program begins: `name`
    leave,              // the innermost ends, with the error `code` and `text` where it has one
    group_made,         // `name` and `ranks`
    ddp,  // was constructed, with `count` buckets: `all`: it finds unused parameters, `number`: it broadcasts buffers
    bucket,    // the `number`-th has `count` bytes and the parameters `keys`; `all`: it was laid out again
    model,     // was given to DDP: `keys` are its parameters with their shapes
    bare,      // this rank has trained a model before it made any wrapper
    variable,  // `name` is not in the environment, and init_process_group needs it
    overwritten,  // in backward: tensor `name` is at version `number`, and `count` was saved, by forward `root` since the newest backward;
                  // the broadcast of buffers of forward `tag` wrote it
    replica,        // a model was wrapped for data parallel training: `text` is what the rank calls it, with the parameters `keys`, by
                    // `ranks` (none: all)
    replica_hook,   // gradients of replica `text` are averaged by the program's own hook `purpose`
    replica_state,  // parameters of replica `text` at `moment`: `digest` of all, `digests` of each; `count` collectives of its group have begun
    step,           // of an optimizer on replica `text`, and the state after it; `all`: gradients were synchronised; by `keys` and `values`;
                    // `began`: digests of the gradients when a backward had averaged them and when the step began, and of the optimizer's state
    step_skipped,   // a scaler made no step on replica `text`
    bypassed,       // a forward with gradients of replica `text` went around the wrapper; `all`: the site is the forward's
    unfilled,     // backward returned with `size` of `count` gradients in bucket `number`; missing: `keys`
    goodbye,   // the process ends with status `number`
    raised,    // the exception `name` with `text` escaped; it is about the parameters `keys`
    exited,    // the script is about to end its process with status `number`, not 0, by the function `name`; `text`: what it says of it
    threads,   // before any hello: in process `pid` thread `thread` waits to make the call `name` until that of another thread is answered
    done,      // in a record beside the real library: the call that was written as number `work` ended, with the error `code` and `text`
    unusable,  // before any hello: this interpreter's PyTorch, of the version `text`, cannot be carried; no version: it has none
  };
  Kind kind = Kind::hello;
  std::string name, text, code, store, expected, dtype, reduce, module, purpose;
  std::string backend;  // that the script names for a group
  std::string moment;
  std::vector<std::string> keys, values;
  std::vector<Rank> ranks;
  std::vector<std::int64_t> sends, receives, digests, began;
  std::int64_t slot = -1, pid = 0, number = 0, group = 0, work = 0, count = 0, rank = 0, size = 0, tag = 0;
  std::int64_t root = 0, coalesced = 0, digest = 0;
  std::int64_t threads = 1;  // of the process
  std::int64_t thread = 0;   // that had to wait for another of its process; 0: it did not
  std::int64_t memory = 0, output_at = 0;  // of a start whose data lie in mapped memory, at its beginning; 0: they are in the frame
  bool all = false;
  std::optional<Time> timeout;
  std::optional<Time> computed;  // CPU time of the process since its last answer
  std::optional<std::int64_t> device;  // the GPU of a call's tensors; -1: they are on the CPU; nothing: nobody asks
  std::optional<std::int64_t> guess;   // a barrier has guessed `device`, and this one is the process's own
  Site site;
  std::vector<std::byte> data;
};

constexpr bool expects_answer(Request::Kind kind) { return kind < Request::Kind::enter; }
// It says where the script ends, which is not where it makes a call.
constexpr bool is_of_the_end(Request::Kind kind) {
  return kind == Request::Kind::raised || kind == Request::Kind::exited;
}

struct Answer {
  std::int64_t number = 0, source = -1;
  bool yes = false;
  std::optional<Error> error;
  std::string end;  // "abort", "over": the process ends now
};

// Bytes of the fixed part of a frame.
inline constexpr std::size_t head_size = 12;
// How many bytes follow the head: of the object and of the data.
struct FrameSize {
  std::size_t object = 0, data = 0;
};
// input_invalid: it is not the head of a frame, or more than a gigabyte is announced.
Result<FrameSize> frame_size(const std::byte* head);

// Whether arrays and objects of a JSON text lie in each other deeper than any request's: what reads it would need as much stack.
bool is_nested_too_deep(std::string_view json);

// input_invalid: not a request, or a number that none has.
Result<Request> request_of(std::string_view object, std::vector<std::byte> data);
// The frame of an answer up to its data, of which `data` bytes follow.
std::string answer_head(const Answer& answer, std::size_t data);

}  // namespace pdsim::scenarios::guests
