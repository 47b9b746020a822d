#include "scenarios/diagnosis/rules/scenario_places.h"

#include <algorithm>
#include <utility>

namespace pdsim::scenarios::diagnoses {
namespace {

void look(const Mark& mark, int line, int column, int& width) {
  if (mark.line == line && mark.column == column) width = std::max(width, mark.width);
}

void look(const std::vector<Operation>& operations, int line, int column, int& width) {
  for (const Operation& op : operations) {
    look(op.mark, line, column, width);
    look(op.body, line, column, width);
    look(op.messages, line, column, width);
  }
}

void add_mark(Diagnosis& diagnosis, const Mark& mark, std::string label, bool primary) {
  if (mark.line > 0) diagnosis.spans.push_back({mark.line, mark.column, mark.width, std::move(label), primary});
}

Mark mark_of_section(const Scenario& scenario, Section section) {
  const Ddp& ddp = scenario.ddp;
  switch (section) {
    case Section::world:
      return scenario.world.mark;
    case Section::model:
      return scenario.model.mark;
    case Section::data:
      return scenario.data.mark;
    case Section::data_parallel:
      return scenario.data_parallel ? scenario.data_parallel->mark : Mark{};
    case Section::ddp:
      return ddp.mark;
    case Section::broadcast_buffers:
      return ddp.mark_of("broadcast_buffers");
    case Section::find_unused_parameters:
      return ddp.mark_of("find_unused_parameters");
  }
  return {};
}

bool ends_unclean(const Operation& op) {
  const auto* relaunch = op.if_is<RelaunchOptions>();
  return relaunch != nullptr && !relaunch->clean;
}

}  // namespace

void add_span(Diagnosis& diagnosis, const Report& report, int line, int column, std::string label, bool primary) {
  if (line <= 0) return;
  int width = 1;
  if (report.scenario != nullptr) {
    for (const Branch& take : report.scenario->model.branches) {
      look(take.path.mark, line, column, width);
      look(take.when.mark, line, column, width);
    }
    look(report.scenario->ddp.mark, line, column, width);
    look(report.scenario->program, line, column, width);
  }
  diagnosis.spans.push_back({line, column, width, std::move(label), primary});
}

void add_span(Diagnosis& diagnosis, const Report& report, Section section, std::string label, bool primary) {
  if (report.scenario != nullptr) add_mark(diagnosis, mark_of_section(*report.scenario, section), std::move(label), primary);
}

Mark mark_of(const Site& site) { return {site.line, site.column, 1}; }

bool is_given(const Report& report, Section section) {
  if (report.scenario == nullptr) return false;
  if (section == Section::broadcast_buffers) return report.scenario->ddp.gives("broadcast_buffers");
  if (section == Section::find_unused_parameters) return report.scenario->ddp.gives("find_unused_parameters");
  return mark_of_section(*report.scenario, section).line > 0;
}

void add_model_spans(Diagnosis& diagnosis, const Report& report, Rank rank, const std::string& label) {
  if (report.scenario == nullptr) return;
  for (const ModelChange& change : report.scenario->model.per_rank)
    if (change.when.selects(rank, report.scenario->world.spec.node_of(rank), -1))
      add_mark(diagnosis, change.mark, label, true);
}

void add_crash_spans(Diagnosis& diagnosis, const Report& report, const std::string& label) {
  if (report.scenario == nullptr) return;
  for (const Operation& op : report.scenario->program)
    if (ends_unclean(op)) add_mark(diagnosis, op.mark, label, false);
}

}  // namespace pdsim::scenarios::diagnoses
