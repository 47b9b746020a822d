// Places in the scenario file for what a rule found in the record. Rules read the record alone: this is the one file among them that
// asks the scenario, and without one it adds nothing but lines that the record knows.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <cstdint>
#include <string>

namespace pdsim::scenarios::diagnoses {

// Sections and settings of the file that findings point at.
enum class Section : std::uint8_t { world, model, data, data_parallel, ddp, broadcast_buffers, find_unused_parameters };

// A place that the record names; the width is taken from the scenario's own mark there, when there is one. Line 0: no span.
void add_span(Diagnosis& diagnosis, const Report& report, int line, int column, std::string label, bool primary);
// Of a setting that is not given, at its section; nothing when that is not there either.
void add_span(Diagnosis& diagnosis, const Report& report, Section section, std::string label, bool primary);
bool is_given(const Report& report, Section section);
// Where the file gives this rank another model than the others.
void add_model_spans(Diagnosis& diagnosis, const Report& report, Rank rank, const std::string& label);
// Where the processes of a launch end without cleaning up.
void add_crash_spans(Diagnosis& diagnosis, const Report& report, const std::string& label);

}  // namespace pdsim::scenarios::diagnoses
