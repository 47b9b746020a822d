// Kinds of notes that operations of scenarios take, beside those of core (core/group/flight_record.h).
#pragma once

#include <string_view>

namespace pdsim::scenarios::program_note {

constexpr std::string_view identity_claimed =
    "identity-claimed";                                    // rank, of, port, taken_by (empty: nobody), local (yes|no)
constexpr std::string_view store_opened = "store-opened";  // path: of init's store file
constexpr std::string_view port_taken = "port-taken";      // port, held_by: of a rank that wanted to listen there
constexpr std::string_view variable_missing = "variable-missing";  // variable: of the environment, for env://

constexpr std::string_view requires_grad_set = "requires-grad-set";  // layers, to (yes|no), wrapped (yes|no)
constexpr std::string_view barrier_device = "barrier-device";  // node, guess, own: the GPU that a first barrier chose
constexpr std::string_view file_begun = "file-begun";          // path: a checkpoint that takes time
constexpr std::string_view file_written = "file-written";      // path
constexpr std::string_view file_read = "file-read";            // path, whole (yes|no)
constexpr std::string_view not_wrapped = "not-wrapped";        // this rank has the process group and the bare model
constexpr std::string_view model_used = "model-used";          // model: the part that a forward or backward is of
// Of the last step of a train, for each device: device, rows, parameters, gradients, optimizer, activations (bytes), computing, step
// (picoseconds).
constexpr std::string_view device_load = "device-load";
constexpr std::string_view rows_taken = "rows-taken";          // rows: of a forward that says how many it takes
// label, root: of a reduce, whose result this rank does not get
constexpr std::string_view result_elsewhere = "result-elsewhere";
constexpr std::string_view copy_passed = "copy-passed";  // label: the call had a copy, and the result stays there

}  // namespace pdsim::scenarios::program_note
