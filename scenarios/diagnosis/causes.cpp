#include "scenarios/diagnosis/causes.h"

#include "scenarios/diagnosis/diagnoses.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace pdsim::scenarios {
namespace {

struct Earlier {
  std::string_view cause, symptom;
};
// Values that are wrong on some ranks decide what these do next. Calls that were left out or made once more shift the wrapper's own.
constexpr std::array earlier{
    Earlier{"result-elsewhere", "collective-mismatch"},
    Earlier{"result-elsewhere", "missing-call"},
    Earlier{"result-elsewhere", "parameter-mismatch"},
    Earlier{"collective-mismatch", "unused-parameters"},
    Earlier{"collective-mismatch", "marked-ready-twice"},
    Earlier{"missing-call", "unused-parameters"},
    Earlier{"missing-call", "marked-ready-twice"},
    // A rank that went ahead waits for a key whose writer still waits for it in a call.
    Earlier{"missing-call", "store-key-missing"},
    Earlier{"collective-mismatch", "store-key-missing"},
};

// The changes of both, one after the other.
void join_cures(Diagnosis& first, const Diagnosis& second) {
  std::vector<Cure> together;
  for (const Cure& a : first.cures)
    for (const Cure& b : second.cures)
      if (a.change && b.change)
        together.push_back({fmt::format("together: {}; {}", a.what, b.what),
                            [change = a.change, then = b.change](Scenario& scenario) {
                              change(scenario);
                              then(scenario);
                            },
                            std::nullopt, false, b.is_fix ? second.id : std::string()});
  first.cures.insert(first.cures.end(), together.begin(), together.end());
}

}  // namespace

std::vector<Diagnosis> in_order(const Report& report, Diagnosis found) {
  std::vector<Diagnosis> all;
  for (const Earlier& row : earlier) {
    if (row.symptom != found.id) continue;
    std::optional<Diagnosis> cause = diagnosis_by(report, *diagnosis_named(row.cause));
    // Of calls only what the programs say: a call that is not there because a wrapper waits is not a cause.
    if (!cause || (row.cause != "result-elsewhere" && cause->cures.empty())) continue;
    join_cures(*cause, found);
    all.push_back(std::move(*cause));
  }
  all.push_back(std::move(found));
  return all;
}

}  // namespace pdsim::scenarios
