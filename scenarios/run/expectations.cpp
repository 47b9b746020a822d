#include "scenarios/run/expectations.h"

#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"
#include "scenarios/run/expected_operations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

namespace pdsim::scenarios {
namespace {

class Check {
 public:
  Check(Report& report, const Expect& expect) : report_(report), expect_(expect) {}

  void all() {
    if (report_.outcome != *expect_.outcome)
      fail(fmt::format("outcome: {}", name_of(*expect_.outcome)), outcome_text(), expect_.outcome.mark);
    else
      errors();
    blocked();
    diagnosis();
    watchdog();
    if (expect_.warning) warning(*expect_.warning);
    for (const ExpectValue& value : expect_.values) values(value);
    check_operations(report_, expect_, !is_real());
    time();
    step_time();
    if (expect_.buckets) buckets(*expect_.buckets);
    if (expect_.device_rows) device_rows(*expect_.device_rows);
  }

 private:
  void fail(std::string expected, std::string got, const Mark& mark) {
    report_.failures.push_back({std::move(expected), std::move(got), mark.line > 0 ? mark : expect_.mark});
  }

  std::string outcome_text() const {
    if (!report_.errors.empty() && report_.outcome != Outcome::deadlock) {
      const RankError& e = report_.errors.front();
      const std::string where = site_text({e.in, e.step});
      return fmt::format("{}: rank {} raised {}{}{}: {}", name_of(report_.outcome), e.rank, name_of(e.code),
                         where.empty() ? "" : " ", where, e.message);
    }
    const std::string outcome(name_of(report_.outcome));
    if (report_.blocked.empty()) return outcome;
    std::vector<std::pair<std::string, std::vector<Rank>>> places;
    for (const BlockedRank& b : report_.blocked) {
      const std::string place = b.seq < 0 ? b.in : fmt::format("{} #{}", b.in, b.seq);
      const auto same = std::find_if(places.begin(), places.end(), [&](const auto& p) { return p.first == place; });
      if (same == places.end()) {
        places.push_back({place, {b.rank}});
      } else {
        same->second.push_back(b.rank);
      }
    }
    std::string text = outcome;
    for (const auto& [place, ranks] : places)
      text += fmt::format("{} {} in {}", text == outcome ? ":" : ",", ranks_text(ranks), place);
    return text;
  }

  // True if the error is about this operation of the program, step or collective.
  bool is_in(const RankError& e, const std::string& in) const {
    if (e.in == in) return true;
    const auto& calls = log_of(report_.run, e.rank).calls;
    return std::any_of(calls.begin(), calls.end(), [&](const Call& c) {
      return c.name == in && (c.state == CallState::failed || c.state == CallState::timed_out);
    });
  }

  bool is_of_the_kind(const RankError& e) const {
    if (expect_.error) return name_of(e.code) == **expect_.error;
    if (*expect_.outcome == Outcome::timeout) return is_timeout(e.code);
    return !is_consequence(e.code) || first_cause(report_.errors).code == e.code;
  }

  void errors() {
    if (*expect_.outcome != Outcome::error && *expect_.outcome != Outcome::timeout) return deadlock_place();
    std::vector<Rank> ranks;
    std::vector<const RankError*> meant;
    for (const RankError& e : report_.errors)
      if (is_of_the_kind(e)) {
        ranks.push_back(e.rank);
        meant.push_back(&e);
      }
    if (meant.empty()) {
      if (expect_.error) fail(fmt::format("error: {}", **expect_.error), outcome_text(), expect_.error->mark);
      return;
    }
    const auto check = [&](bool holds, const std::string& expected, const std::string& got, const Mark& mark) {
      if (!holds) fail(expected, got, mark);
    };
    if (expect_.rank) {
      bool same = true;
      for (std::size_t r = 0; r < report_.run.ranks.size(); ++r) {
        const bool has = std::find(ranks.begin(), ranks.end(), static_cast<Rank>(r)) != ranks.end();
        same = same && has == expect_.rank->value.contains(static_cast<std::int64_t>(r));
      }
      check(same, fmt::format("rank: {}", expect_.rank->value.text()),
            fmt::format("{} raised {}", ranks_text(ranks), name_of(meant.front()->code)), expect_.rank->mark);
    }
    for (const RankError* e : meant) {
      const auto before = report_.failures.size();
      if (expect_.step)
        check(expect_.step->value.contains(e->step), fmt::format("step: {}", expect_.step->value.text()),
              fmt::format("rank {} raised in step {}", e->rank, e->step), expect_.step->mark);
      if (expect_.in)
        check(is_in(*e, **expect_.in), fmt::format("in: {}", **expect_.in),
              fmt::format("rank {} raised in {}", e->rank, e->in.empty() ? "no operation" : e->in), expect_.in->mark);
      if (expect_.message)
        check(e->message.find(**expect_.message) != std::string::npos, fmt::format("message: {}", **expect_.message),
              fmt::format("rank {}: {}", e->rank, e->message), expect_.message->mark);
      if (report_.failures.size() > before) return;  // one rank's differences are enough
    }
  }

  // `rank`, `step` and `in` of a deadlock speak of every blocked rank.
  void deadlock_place() {
    if (*expect_.outcome != Outcome::deadlock) return;
    for (const BlockedRank& b : report_.blocked) {
      if (expect_.rank && !expect_.rank->value.contains(b.rank))
        return fail(fmt::format("rank: {}", expect_.rank->value.text()),
                    fmt::format("rank {} is blocked in {}", b.rank, b.in), expect_.rank->mark);
      if (expect_.in && b.in != **expect_.in && b.site != **expect_.in)
        return fail(fmt::format("in: {}", **expect_.in), fmt::format("rank {} is blocked in {}", b.rank, b.in),
                    expect_.in->mark);
      if (expect_.step && !expect_.step->value.contains(b.step))
        return fail(fmt::format("step: {}", expect_.step->value.text()),
                    fmt::format("rank {} is blocked in step {}", b.rank, b.step), expect_.step->mark);
    }
  }

  static std::string text_of(const ExpectBlocked& e) {
    std::string text = fmt::format("{{rank: {}", e.rank.text());
    if (!e.in.empty()) text += fmt::format(", in: {}", e.in);
    if (!e.site.empty()) text += fmt::format(", site: {}", e.site);
    if (e.step) text += fmt::format(", step: {}", e.step->text());
    return text + "}";
  }

  static bool matches(const ExpectBlocked& e, const BlockedRank& b) {
    return e.rank.contains(b.rank) && (e.in.empty() || e.in == b.in || e.in == b.site) &&
           (e.site.empty() || e.site == b.site) && (!e.step || e.step->contains(b.step));
  }

  void blocked() {
    if (expect_.blocked.empty()) return;
    for (const BlockedRank& b : report_.blocked) {
      const bool covered = std::any_of(expect_.blocked.begin(), expect_.blocked.end(),
                                       [&](const ExpectBlocked& e) { return matches(e, b); });
      if (covered) continue;
      std::string place = fmt::format("rank {} is blocked in {}", b.rank, b.in);
      if (!b.site.empty() && b.site != b.in) place += fmt::format(" (site {})", b.site);
      if (b.step >= 0) place += fmt::format(" in step {}", b.step);
      fail("the blocked ranks listed", place, expect_.blocked.front().mark);
    }
    for (const ExpectBlocked& e : expect_.blocked) {
      for (std::size_t r = 0; r < report_.run.ranks.size(); ++r) {
        if (!e.rank.contains(static_cast<std::int64_t>(r))) continue;
        const bool is_blocked = std::any_of(report_.blocked.begin(), report_.blocked.end(),
                                            [&](const BlockedRank& b) { return b.rank == static_cast<Rank>(r); });
        if (is_blocked) continue;
        fail(fmt::format("blocked: {}", text_of(e)), fmt::format("rank {} is not blocked", r), e.mark);
        break;
      }
    }
  }

  void diagnosis() {
    if (!expect_.diagnosis) return;
    const std::string got = report_.diagnosis() ? report_.diagnosis()->id : "none";
    if (got != **expect_.diagnosis)
      fail(fmt::format("diagnosis: {}", **expect_.diagnosis),
           report_.diagnosis() ? fmt::format("{}: {}", got, report_.diagnosis()->headline) : "no known cause matches",
           expect_.diagnosis->mark);
    if (!report_.diagnosis()) return;
    const Diagnosis& d = *report_.diagnosis();
    if (expect_.culprits) {
      bool same = true;
      for (std::size_t r = 0; r < report_.run.ranks.size(); ++r)
        same = same && expect_.culprits->value.contains(static_cast<std::int64_t>(r)) ==
                           (std::find(d.ranks.begin(), d.ranks.end(), static_cast<Rank>(r)) != d.ranks.end());
      if (!same)
        fail(fmt::format("culprits: {}", expect_.culprits->value.text()),
             d.ranks.empty() ? "it names no rank" : fmt::format("it names {}", ranks_text(d.ranks)),
             expect_.culprits->mark);
    }
    if (expect_.says && d.headline.find(**expect_.says) == std::string::npos &&
        d.cause.find(**expect_.says) == std::string::npos)
      fail(fmt::format("says: {}", **expect_.says), fmt::format("{}; {}", d.headline, d.cause), expect_.says->mark);
  }

  void warning(const Located<std::string>& expected) {
    std::string got = "no rank printed a warning";
    for (const RankResult& result : report_.run.ranks)
      for (const Note* note : notes_of<notes::Warning>(result.log)) {
        got = pdsim::text_of(note->as<notes::Warning>());
        if (got.find(*expected) != std::string::npos) return;
      }
    fail(fmt::format("warning: {}", *expected), got, expected.mark);
  }

  // Real libraries are not waited for that long.
  void watchdog() {
    if (!expect_.watchdog || is_real()) return;
    const std::vector<std::string>& told = report_.run.watchdog;
    const auto has = [this](const std::string& text) { return text.find(**expect_.watchdog) != std::string::npos; };
    if (std::any_of(told.begin(), told.end(), has)) return;
    const auto first = std::find_if(told.begin(), told.end(), [](const std::string& text) { return !text.empty(); });
    fail(fmt::format("watchdog: {}", **expect_.watchdog), first == told.end() ? "it would report nothing" : *first,
         expect_.watchdog->mark);
  }

  const std::vector<double>* tensor(Rank rank, const std::string& name) const {
    if (static_cast<std::size_t>(rank) >= report_.run.ranks.size()) return nullptr;
    return tensor_of(report_.run.ranks[static_cast<std::size_t>(rank)].values, name);
  }

  static const std::vector<double>* tensor_of(const TensorValues& values, const std::string& name) {
    const auto it = values.find(name);
    return it == values.end() ? nullptr : &it->second;
  }

  static bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](double x, double y) {
      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
    });
  }

  void result(const std::string& name, std::string text) { report_.values.push_back({name, std::move(text)}); }

  void values(const ExpectValue& e) {
    if (e.holds) return holds(e);
    const std::vector<double>* first = tensor(e.rank.value_or(0), e.tensor);
    if (first == nullptr)
      return fail(fmt::format("a value of {}", e.tensor), fmt::format("rank {} has none", e.rank.value_or(0)), e.mark);
    if (!e.across_ranks.empty()) across(e, *first);
    if (e.equals) against_single(e);
    if (e.near) near(e, *first);
  }

  void across(const ExpectValue& e, const std::vector<double>& first) {
    std::vector<Rank> different;
    for (std::size_t r = 1; r < report_.run.ranks.size(); ++r) {
      const std::vector<double>* other = tensor(static_cast<Rank>(r), e.tensor);
      if (other == nullptr || !same_bits(first, *other)) different.push_back(static_cast<Rank>(r));
    }
    const std::string got = different.empty() ? "equal" : "differ";
    result(e.tensor, got);
    if (got == e.across_ranks) return;
    fail(
        fmt::format("{} across ranks: {}", e.tensor, e.across_ranks),
        different.empty() ? "the same bits on every rank" : fmt::format("{} differ from rank 0", ranks_text(different)),
        e.mark);
  }

  // Bit for bit without a tolerance, else the largest absolute difference over the largest absolute value.
  void against_single(const ExpectValue& e) {
    const std::string_view reference = name_of(*e.equals);
    const std::vector<double>* single = tensor_of(report_.references[*e.equals], e.tensor);
    if (single == nullptr)
      return fail(fmt::format("{} equals {}", e.tensor, reference), "no such reference was run", e.mark);
    for (std::size_t r = 0; r < report_.run.ranks.size(); ++r) {
      if (e.rank && *e.rank != static_cast<Rank>(r)) continue;
      const std::vector<double>* mine = tensor(static_cast<Rank>(r), e.tensor);
      double worst = 0.0, largest = 0.0;
      const bool comparable = mine != nullptr && mine->size() == single->size();
      for (std::size_t i = 0; comparable && i < single->size(); ++i) {
        const double gap = std::abs((*mine)[i] - (*single)[i]);
        worst = std::isnan(gap) ? INFINITY : std::max(worst, gap);
        largest = std::max(largest, std::abs((*single)[i]));
      }
      const bool holds = comparable && (same_bits(*mine, *single) || worst <= e.tolerance * largest);
      if (holds) continue;
      result(e.tensor, "differ");
      return fail(fmt::format("{} equals {} within {}", e.tensor, reference, e.tolerance),
                  comparable ? fmt::format("rank {} differs by up to {:.3g} of {:.3g}", r, worst, largest)
                             : fmt::format("rank {} has a different number of elements", r),
                  e.mark);
    }
    result(e.tensor, "equal");
  }

  void holds(const ExpectValue& e) {
    const std::string name = e.rank ? fmt::format("{} of rank {}", e.tensor, *e.rank) : e.tensor;
    bool any = false;
    for (std::size_t r = 0; r < report_.run.ranks.size(); ++r) {
      if (e.rank && *e.rank != static_cast<Rank>(r)) continue;
      const std::vector<double>* got = tensor(static_cast<Rank>(r), e.tensor);
      if (got == nullptr) continue;
      any = true;
      const bool same = std::equal(got->begin(), got->end(), e.holds->begin(), e.holds->end(),
                                   [&e](double a, double b) { return std::abs(a - b) <= e.tolerance; });
      if (same) continue;
      result(name, "differ");
      return fail(fmt::format("{} holds [{}]", name, fmt::join(*e.holds, ", ")),
                  fmt::format("rank {} holds [{}]", r, fmt::join(*got, ", ")), e.mark);
    }
    if (any) return result(name, fmt::format("[{}]", fmt::join(*e.holds, ", ")));
    fail(fmt::format("{} holds [{}]", name, fmt::join(*e.holds, ", ")),
         e.rank ? fmt::format("rank {} has no result of it", *e.rank) : "no rank has a result of it", e.mark);
  }

  void near(const ExpectValue& e, const std::vector<double>& values) {
    const auto worst =
        std::find_if(values.begin(), values.end(), [&](double v) { return !(std::abs(v - *e.near) <= e.tolerance); });
    const double shown = worst != values.end() ? *worst : values.empty() ? *e.near : values.front();
    result(e.tensor, fmt::format("{}", shown));
    if (worst != values.end())
      fail(fmt::format("{} near {} within {}", e.tensor, *e.near, e.tolerance), fmt::format("{}", shown), e.mark);
  }

  Time measured() const {
    if (report_.outcome == Outcome::ok || report_.outcome == Outcome::deadlock || report_.errors.empty())
      return report_.run.deadlocked ? report_.run.deadlock_at : report_.run.elapsed;
    for (const RankError& e : report_.errors)
      if (is_of_the_kind(e)) return e.at;
    return report_.errors.front().at;
  }

  // Only simulated links have the speed that the file says.
  bool is_real() const {
    return report_.world.kind() == WorldKind::real;
  }

  // Beside a figure of another source, which gives it room, how far off it is.
  void time() {
    if (!expect_.time) return;
    const Expect::TimeRange& range = *expect_.time;
    const Time got = measured();
    if (range.near && range.near->ps > 0 && range.within > Expect::TimeRange{}.within && !is_real()) {
      const double off = static_cast<double>(got.ps) / static_cast<double>(range.near->ps) - 1.0;
      result("time", fmt::format("{} beside {} ({:+.1f} %)", to_string(got), to_string(*range.near),
                                 std::round(1000.0 * off) / 10.0 + 0.0));  // not -0.0
    }
    in_range("time", range, got);
  }

  // Checks the time of the rank that took longest.
  void step_time() {
    if (!expect_.step_time) return;
    Time got{};
    for (const RankResult& rank : report_.run.ranks) got = std::max(got, rank.step_time);
    if (got.ps == 0) return fail("a step's time", "no rank ended that step", expect_.step_time->mark);
    result("step_time", to_string(got));
    in_range("step_time", *expect_.step_time, got);
  }

  void buckets(const Expect::Buckets& expected) {
    for (std::size_t r = 0; r < report_.run.ranks.size(); ++r) {
      const std::vector<double>* initial = tensor(static_cast<Rank>(r), std::string(initial_buckets_value));
      const std::vector<double>* last = tensor(static_cast<Rank>(r), std::string(rebuilt_buckets_value));
      if (last == nullptr || last->empty()) last = initial;  // never rebuilt
      if (initial == nullptr) return fail("buckets", fmt::format("rank {} has none", r), expected.mark);
      const auto is = [](const std::vector<std::int64_t>& wanted, const std::vector<double>& got) {
        return std::equal(wanted.begin(), wanted.end(), got.begin(), got.end(),
                          [](std::int64_t a, double b) { return a == static_cast<std::int64_t>(b); });
      };
      const auto off = [&](const char* key, const std::string& wanted, const std::string& got) {
        fail(fmt::format("buckets: {} {}", key, wanted), fmt::format("rank {}: {}", r, got), expected.mark);
      };
      if (expected.count && *expected.count != static_cast<std::int64_t>(last->size()))
        return off("count", std::to_string(*expected.count), std::to_string(last->size()));
      if (!expected.bytes.empty() && !is(expected.bytes, *last))
        return off("bytes", fmt::format("{}", fmt::join(expected.bytes, ", ")),
                   fmt::format("{}", fmt::join(*last, ", ")));
      if (!expected.initial_bytes.empty() && !is(expected.initial_bytes, *initial))
        return off("initial_bytes", fmt::format("{}", fmt::join(expected.initial_bytes, ", ")),
                   fmt::format("{}", fmt::join(*initial, ", ")));
    }
  }

  void device_rows(const Located<std::vector<std::int64_t>>& expected) {
    const std::vector<double>* got = tensor(0, std::string(device_rows_value));
    const bool same =
        got != nullptr && std::equal(expected->begin(), expected->end(), got->begin(), got->end(),
                                     [](std::int64_t a, double b) { return a == static_cast<std::int64_t>(b); });
    if (!same)
      fail(fmt::format("device_rows: {}", fmt::join(*expected, ", ")),
           got != nullptr ? fmt::format("{}", fmt::join(*got, ", ")) : "no forward was split across devices",
           expected.mark);
  }

  void in_range(const std::string& what, const Expect::TimeRange& range, Time got) {
    for (Failure& failure : misses(what, range, got, !is_real())) report_.failures.push_back(std::move(failure));
  }

  Report& report_;
  const Expect& expect_;
};

}  // namespace

const Expect& expectation_for(const Scenario& scenario, const RunWorld& world) {
  const auto it = scenario.real.find(world.name());
  return it != scenario.real.end() && it->second.expect ? *it->second.expect : scenario.expect;
}

void check_expectations(Report& report) {
  if (report.scenario == nullptr) return;
  report.failures.clear();
  report.values.clear();
  report.operations.clear();
  const auto real = report.scenario->real.find(report.world.name());
  if (report.verdict == Verdict::skip) return;
  if (real != report.scenario->real.end() && real->second.skip) {
    report.verdict = Verdict::skip;
    report.skip_reason = real->second.why;
    return;
  }
  Check(report, expectation_for(*report.scenario, report.world)).all();
  report.verdict = report.failures.empty() ? Verdict::pass : Verdict::fail;
}

}  // namespace pdsim::scenarios
