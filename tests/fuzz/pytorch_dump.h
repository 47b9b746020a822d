// What both forms of PyTorch's dumps have in common once they are a tree.
#pragma once

#include "scenarios/records/pytorch/forms/value.h"

namespace pdsim::fuzz {

// Reads the tree as one rank's dump, writes it in both forms and reads those, and diagnoses a job of this dump.
void use_dump(const scenarios::pytorch::Tree& tree);

}  // namespace pdsim::fuzz
