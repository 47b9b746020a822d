#include "tools/explain/explain_flags.h"

#include "core/collectives/collective.h"
#include "scenarios/plans/own_plan.h"
#include "tools/explain/explain_pipeline.h"
#include "tools/explain/explained_names.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

namespace pdsim::tools {
namespace {

enum Subject : std::uint8_t { algorithm = 1, plan = 2, schedule = 4, csv = 8, other = 16 };

struct FlagUse {
  std::string_view flag;
  int subjects;
  std::string_view applies;
};
constexpr std::string_view pictures = "pictures of an algorithm or a plan", schedules = "pipeline schedules that pdsim makes";
constexpr std::array flag_uses{
    FlagUse{"--ranks", algorithm | plan, pictures},
    FlagUse{"--bytes", algorithm | plan, pictures},
    FlagUse{"--root", algorithm | plan, pictures},
    FlagUse{"--nodes", algorithm, "pictures of an algorithm of the table"},
    FlagUse{"--svg", algorithm | plan | schedule | csv, "algorithms, plans and pipeline schedules"},
    FlagUse{"--stages", schedule, schedules},
    FlagUse{"--stages-per-rank", schedule, schedules},
    FlagUse{"--microbatches", schedule, schedules},
    FlagUse{"--forward", schedule | csv, "pipeline schedules"},
    FlagUse{"--input-backward", schedule | csv, "pipeline schedules"},
    FlagUse{"--weight-backward", schedule | csv, "pipeline schedules"},
    FlagUse{"--message", schedule | csv, "pipeline schedules"},
};

Subject subject_of(const std::string& id) {
  if (is_pipeline(id)) return id.ends_with(".csv") ? csv : schedule;
  if (scenarios::names_plan_file(id)) return plan;
  return algorithms_named(id).empty() ? other : algorithm;
}

bool is_given(const CLI::App& app, std::string_view flag) {
  const CLI::Option* option = app.get_option_no_throw(std::string(flag));
  return option != nullptr && option->count() > 0;
}

}  // namespace

std::string misplaced_flag(const CLI::App& app, const std::string& id) {
  const Subject subject = subject_of(id);
  for (const FlagUse& use : flag_uses)
    if (is_given(app, use.flag) && (use.subjects & subject) == 0)
      return fmt::format("{} applies to {}, not to `{}`", use.flag, use.applies, id);
  if (subject != algorithm) return {};
  const Algorithm& first = *algorithms_named(id).front();
  if (is_given(app, "--root") && !row(first.kind).rooted) return fmt::format("--root: {} has no root", name_of(first.kind));
  if (is_given(app, "--bytes") && !row(first.kind).has_input) return fmt::format("--bytes: {} sends no data", name_of(first.kind));
  return {};
}

}  // namespace pdsim::tools
