// Places in the scenario file for the findings of rules. Rules read only the record: this is the one file among them that asks
// the scenario, and without a scenario it adds only lines that the record knows.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <cstdint>
#include <string>

namespace pdsim::scenarios::diagnoses {

// Sections and settings of the file that findings point to.
enum class Section : std::uint8_t { world, model, data, data_parallel, ddp, broadcast_buffers, find_unused_parameters };

// Adds a place that the record names; the width is that of the scenario's own mark there, if there is one. Line 0: no span.
void add_span(Diagnosis& diagnosis, const Report& report, int line, int column, std::string label, bool primary);
// For a setting that is not given, points at its section; adds nothing when that is missing too.
void add_span(Diagnosis& diagnosis, const Report& report, Section section, std::string label, bool primary);
bool is_given(const Report& report, Section section);
// Where the program made a call; line 0 where the record has none.
Mark mark_of(const Site& site);
// Points at the places where the file gives this rank another model than the others.
void add_model_spans(Diagnosis& diagnosis, const Report& report, Rank rank, const std::string& label);
// Points at the places where the processes of a launch end without cleaning up.
void add_crash_spans(Diagnosis& diagnosis, const Report& report, const std::string& label);

}  // namespace pdsim::scenarios::diagnoses
