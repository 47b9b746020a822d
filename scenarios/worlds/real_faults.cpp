#include "scenarios/worlds/real_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace pdsim::scenarios {
namespace {

using namespace literals;

std::vector<std::string_view> names_in_real_worlds() {
  std::vector<std::string_view> names;
  for (const FaultRow& row : fault_table)
    if (row.in_real_worlds) names.push_back(row.name);
  return names;
}

Time times(Time t, double factor) { return {static_cast<std::int64_t>(static_cast<double>(t.ps) * factor)}; }

}  // namespace

Status real_faults_supported(const Scenario& scenario, std::string_view world) {
  for (const Fault& fault : scenario.faults)
    if (!row_of(fault.spec.kind).in_real_worlds)
      return Error{Code::unsupported,
                   fmt::format("the fault `{}` of line {} needs the simulated world; on {} there are {}",
                               name_of(fault.spec.kind), fault.mark.line, world, fmt::join(names_in_real_worlds(), ", ")),
                   {{"fault", std::string(name_of(fault.spec.kind))}}};
  return {};
}

bool kills_ranks(const Scenario& scenario) {
  return std::any_of(scenario.faults.begin(), scenario.faults.end(),
                     [](const Fault& fault) { return fault.spec.kind == FaultKind::crash; });
}

RealFaults::RealFaults(const Scenario& scenario, int rank, int launch, Runtime& runtime, FlightRecorder& recorder,
                       std::function<void()> crash)
    : launch_(launch), runtime_(runtime), recorder_(recorder), crash_(std::move(crash)) {
  for (const Fault& fault : scenario.faults)
    if (fault.spec.match.rank.contains(rank)) armed_.push_back({&fault.spec});
}

void RealFaults::reach(int step, std::string_view operation) {
  for (Armed& armed : armed_) {
    const bool repeats = armed.spec->kind == FaultKind::slow && !armed.spec->duration;
    if ((!armed.fired || repeats) && is_at(*armed.spec, step, operation)) fire(armed, operation);
  }
}

bool RealFaults::is_at(const sim::FaultSpec& fault, int step, std::string_view operation) const {
  const auto& at = fault.at;
  if (at.launch && *at.launch != launch_) return false;
  if (at.step && *at.step != step) return false;
  if (!at.before.empty() && at.before != operation) return false;
  if (!fault.match.op.empty() && fault.match.op != operation) return false;
  return !at.time || runtime_.now() >= *at.time;
}

void RealFaults::fire(Armed& armed, std::string_view operation) {
  if (armed.spec->kind != FaultKind::crash && !armed.fired)
    recorder_.note(notes::Fault{armed.spec->kind, std::string(operation)});
  armed.fired = true;
  if (armed.spec->kind == FaultKind::crash) return crash_();
  if (armed.spec->kind == FaultKind::hang) {
    (void)runtime_.make_event()->wait(Time::max());
    return;
  }
  const Time once = armed.spec->duration ? std::max(times(*armed.spec->duration, armed.spec->factor - 1), 100_ms)
                                         : times(1_ms, armed.spec->factor - 1);
  runtime_.sleep_until(runtime_.now() + once);
}

}  // namespace pdsim::scenarios
