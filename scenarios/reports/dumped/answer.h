// The answer to one finding of a dump, in at most five lines: below its headline the rank to blame and its place, the call that
// others wait in, the activity of the other ranks, and the next step.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

struct AnswerLine {
  std::string_view label;  // who, call, others, next
  std::string text;
};

// A line without content is absent.
std::vector<AnswerLine> answer_to(const Report& report, const Diagnosis& finding);

// The open call in which most ranks wait for the culprits; null when none waits.
const Call* waited_call(const Report& report, const Diagnosis& finding);

// "container-node02"; empty where the record names none.
std::string host_of(const RankLog& log);

}  // namespace pdsim::scenarios
