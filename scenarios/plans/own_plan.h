// A user's own plan, from a file: a text (docs/plans.md), or a program that prints it.
//
//   which    is_plan_program() decides
//   proof    nothing here runs a plan; a process group proves it before its first call (algorithm_choice.h), and refusal() shows
//            why it was refused
#pragma once

#include "core/collectives/proof/plan_proof.h"
#include "scenarios/plans/printed_plan.h"
#include "scenarios/text/diagnostic.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace pdsim::scenarios {

// Whether `name` is that of a file, such as `ring.plan`, `./rounds.py` or `plans/rounds.py` if that can be run, and not of an algorithm of the
// table or a text that begins with a path.
bool names_plan_file(std::string_view name);

// Whether the file is to be run: it is executable, and if it is called NAME.plan, begins with #! or is not a text.
bool is_plan_program(const std::string& path);

// Where a failed proof points: the file, its text, and the line.
struct PlanFlaw {
  std::string file;
  std::string text;
  Diagnostic diagnostic{};
  bool is_plan = true;  // false: the program failed or printed something else, so that there was nothing to prove
};

class OwnPlan {
 public:
  const Algorithm& algorithm() const { return text_ ? text_->algorithm() : printed_->algorithm(); }
  const std::string& file() const { return text_ ? text_->file() : printed_->file(); }
  bool is_program() const { return text_ == nullptr; }
  // The text of the file; empty for a program.
  std::string text() const { return text_ ? text_->text() : std::string(); }
  bool is_for(const PlanArgs& args) const { return algorithm().rounds->is_for(args); }
  PlanFlaw flaw(const PlanProof& proof) const;
  // The report of a failed proof: the sentence, the line with a caret below the failing round, its messages, and how to reproduce
  // it.
  std::string refusal(const PlanProof& proof) const;
  // The command that shows it again.
  std::string replay(const PlanProof& proof) const;

 private:
  friend struct OwnPlanLoader;
  std::shared_ptr<const PlanText> text_;
  std::shared_ptr<const PrintedPlan> printed_;
};

struct LoadedPlan {
  std::shared_ptr<const OwnPlan> plan;  // null: it could not be loaded
  std::string problem;                  // why, as a report of lines; ends with a newline
  std::string sentence;                 // the same in one line
  Diagnostic diagnostic{};              // its parts; without a mark if it concerns no line
  std::string text{};                   // that the mark is in
};

// `texts`: a program is read like a text, and not started.
enum class PlanFiles : std::uint8_t { texts_and_programs, texts };
LoadedPlan load_plan(const std::string& path, PlanFiles which = PlanFiles::texts_and_programs);
LoadedPlan plan_of_text(std::string file, std::string text);

}  // namespace pdsim::scenarios
