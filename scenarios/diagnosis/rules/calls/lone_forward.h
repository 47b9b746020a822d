// A forward through DDP's wrapper that only some ranks run, as a dump shows it: a broadcast of buffers that PyTorch's own frames
// name.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <vector>

namespace pdsim::scenarios::diagnoses {

// Whether another rank than these has run a forward at this place too, in another step: then the place is that of the training.
bool others_run_it(const Report& report, const std::vector<Rank>& ranks, const Call& call);
bool is_lone_forward(const Report& report, const std::vector<Rank>& ranks, const Call& call);
// Sets headline, cause, why and cure; `other` is the call of the ranks of `rest` at that number.
void explain_lone_forward(Diagnosis& d, const Report& report, const std::vector<Rank>& ranks, const Call& call,
                          const std::vector<Rank>& rest, const Call& other);

}  // namespace pdsim::scenarios::diagnoses
