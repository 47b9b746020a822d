// The origin of a call or note in a flight record: the operation of the program, the phase of the training it belongs to, and the
// source lines of the program.
#pragma once

#include "core/base/enum_names.h"
#include "core/base/shared_value.h"
#include "core/record/note_field.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

enum class Phase : std::uint8_t {
  none,
  initialization,  // of process groups
  construction,    // of the model and its wrapper
  data_loading,
  forward,
  backward,
  optimizer,
  evaluation,
  checkpoint,
};

template <>
inline constexpr auto enum_rows<Phase> = std::to_array<EnumRow<Phase>>({
    {Phase::none, "none"},
    {Phase::initialization, "initialization"},
    {Phase::construction, "construction"},
    {Phase::data_loading, "data loading"},
    {Phase::forward, "forward"},
    {Phase::backward, "backward"},
    {Phase::optimizer, "optimizer"},
    {Phase::evaluation, "evaluation"},
    {Phase::checkpoint, "checkpoint"},
});

struct StackFrame {
  std::string function, file;
  int line = 0;
  static constexpr void fields(auto field) {
    field("function", &StackFrame::function), field("file", &StackFrame::file), field("line", &StackFrame::line);
  }
  bool operator==(const StackFrame&) const = default;
};

// The fields that most calls lack, or share with many.
struct CallOrigin {
  std::string file;                // of the line; empty: the scenario's own
  std::string label;               // given to the operation by the program
  std::vector<StackFrame> frames;  // innermost first
  static constexpr void fields(auto field) {
    field("label", &CallOrigin::label), field("file", &CallOrigin::file), field("frames", &CallOrigin::frames);
  }
  bool operator==(const CallOrigin&) const = default;
};

struct Site {
  std::string op;  // init, train, eval, barrier ...
  int step = -1;   // of a loop
  int line = 0;    // in the file; 1-based, 0: none
  int column = 0;
  Phase phase = Phase::none;
  SharedValue<CallOrigin> origin{};
  bool operator==(const Site&) const = default;
};

}  // namespace pdsim
