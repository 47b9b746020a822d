// The timeline of the text report: a row per rank (equal rows together), a character per slice of time.
//
//   F forward  B backward  R a collective  S a message  I init or store  O optimizer  C compute  . blocked or waiting
//   shows the last steps that fit into the width; the time after the last event is drawn as a few dots
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>

namespace pdsim::scenarios {

// Empty when nothing took any time.
std::string timeline(const Report& report);

}  // namespace pdsim::scenarios
