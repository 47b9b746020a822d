#include "tests/property/properties.h"

#include "core/base/check.h"
#include "tests/property/numbers.h"

#include <fmt/format.h>
#include <rapidcheck.h>

#include <cstdlib>
#include <utility>

namespace pdsim::property {
namespace {

rc::Gen<CollectiveCase> cases_of(const Algorithm& algorithm, const Property& property, const CollectiveWorld& world) {
  const bool listed = find_algorithm(algorithm.kind, algorithm.name).ok();
  const Algorithm* own = listed ? nullptr : &algorithm;
  return rc::Gen<CollectiveCase>([&algorithm, &property, &world, own](const rc::Random& random, int) {
    rc::Random bits = random;
    const auto draw = [&] {
      CollectiveCase c = draw_case(algorithm, bits.next());
      c.own = own;
      return property.shape == nullptr ? c : valid(property.shape(c));
    };
    CollectiveCase c = draw();
    for (int tries = 0; tries < 100 && !world.refuses(c).empty(); ++tries) c = draw();
    return rc::shrinkable::shrinkRecur(std::move(c), [&property, &world](const CollectiveCase& from) {
      std::vector<CollectiveCase> shrunk;
      for (CollectiveCase next : simpler(from)) {
        if (property.shape != nullptr) next = valid(property.shape(next));
        if (!(next == from) && world.refuses(next).empty()) shrunk.push_back(std::move(next));
      }
      return rc::seq::fromContainer(std::move(shrunk));
    });
  });
}

Outcome failed(const Property& property, const CollectiveWorld& world, const CollectiveCase& c, std::string why) {
  Outcome outcome;
  outcome.smallest = c;
  outcome.replay =
      fmt::format("PDSIM_CASE='{}' test_property --gtest_filter='*{}*{}*'", to_text(c), world.name(), property.name);
  outcome.failure =
      fmt::format("{} does not hold on {}: {}\n  replay: {}", property.name, world.name(), why, outcome.replay);
  return outcome;
}

}  // namespace

Outcome check(const Property& property, CollectiveWorld& world, const Algorithm& algorithm, int cases) {
  Outcome outcome;
  int ran = 0;
  std::optional<std::pair<CollectiveCase, std::string>> last;
  rc::detail::TestParams params;
  params.seed = 20261121;
  params.maxSuccess = cases;
  params.maxDiscardRatio = 100;
  const auto generator = cases_of(algorithm, property, world);
  const auto result = rc::detail::checkTestable(
      [&] {
        const CollectiveCase c = *generator;
        RC_PRE(world.refuses(c).empty());
        ++ran;
        std::string why = property.wrong(world, c);
        if (why.empty()) return;
        last.emplace(c, why);
        RC_FAIL(why);
      },
      rc::detail::TestMetadata{}, params);
  // Shrinking accepts a candidate only when it fails, so the last failure is the smallest case.
  if (last) outcome = failed(property, world, last->first, last->second);
  if (!last && !result.template is<rc::detail::SuccessResult>())
    outcome.failure = fmt::format("{}: no case of {} could be drawn", property.name, algorithm.name);
  outcome.cases = ran;
  return outcome;
}

Outcome check_one(const Property& property, CollectiveWorld& world, const CollectiveCase& c) {
  const std::string refused = world.refuses(c);
  const std::string why = refused.empty() ? property.wrong(world, c) : refused;
  Outcome outcome = why.empty() ? Outcome{} : failed(property, world, c, why);
  outcome.cases = 1;
  return outcome;
}

std::string wrong_ranks(const CollectiveCase& c, const RankBuffers& inputs, const WorldOutcome& outcome) {
  for (Rank r = 0; r < c.ranks; ++r) {
    const RankOutcome& rank = outcome.ranks[static_cast<std::size_t>(r)];
    if (!rank.ended)
      return fmt::format("rank {} did not end: {}", r, rank.status.ok() ? "blocked" : rank.status.error().message);
    if (!rank.status.ok()) return fmt::format("rank {} failed: {}", r, rank.status.error().message);
    const std::string wrong = wrong_output(c, inputs, r, rank.output);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

int cases_wanted(int otherwise) {
  const char* wanted = std::getenv("PDSIM_CASES");
  return wanted == nullptr ? otherwise : std::atoi(wanted);
}

std::optional<CollectiveCase> case_wanted() {
  const char* text = std::getenv("PDSIM_CASE");
  if (text == nullptr) return std::nullopt;
  std::optional<CollectiveCase> c = case_of(text);
  PDSIM_CHECK(c.has_value(), "PDSIM_CASE is not a case; copy it from the replay line");
  return c;
}

}  // namespace pdsim::property
