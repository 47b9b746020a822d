#include "scenarios/reports/text/text_report.h"

#include "core/base/fingerprint.h"
#include "core/base/printable.h"
#include "scenarios/diagnosis/fix_proof.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/rank_end.h"
#include "scenarios/reports/text/report_tables.h"
#include "scenarios/reports/text/text_parts.h"
#include "scenarios/reports/text/text_timeline.h"
#include "scenarios/reports/text/verdict_lines.h"
#include "scenarios/text/rank_list.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios {
namespace {

std::string_view topology_of(const sim::WorldSpec& world) {
  switch (world.topology.kind) {
    case sim::Topology::Kind::fat_tree:
      return " in a fat tree";
    case sim::Topology::Kind::rail:
      return " on rails";
    case sim::Topology::Kind::torus:
      return " in a torus";
    case sim::Topology::Kind::crossbar:
      break;
  }
  return "";
}

std::string header(const Report& report) {
  const Scenario& s = *report.scenario;
  const sim::WorldSpec& w = s.world.spec;
  std::string ranks = fmt::format("{} rank{}", w.ranks(), w.ranks() == 1 ? "" : "s");
  if (w.two_level) ranks = fmt::format("{} nodes x {} ranks", w.nodes, w.ranks_per_node);
  if (!report.world.is_simulated()) return fmt::format("{}   {}, real {}\n\n", s.name, ranks, report.world.name());
  const sim::Link& link = w.two_level ? w.inter : w.intra;
  return fmt::format("{}   {}{}, {} semantics, {}, {}, seed {}\n\n", s.name, ranks, topology_of(w), w.backend,
                     to_string(link.latency),
                     link.bandwidth.bytes_per_s == 0 ? "infinitely fast" : to_string(link.bandwidth), s.seed);
}

// The variant that the report explains: the first that failed and did not end well, else the first with a diagnosis, else
// the first that did not end well.
const Report* explained(const std::vector<Report>& reports) {
  const auto first = [&](auto holds) -> const Report* {
    const auto it = std::find_if(reports.begin(), reports.end(), holds);
    return it == reports.end() ? nullptr : &*it;
  };
  const auto went_wrong = [](const Report& r) {
    return r.verdict != Verdict::skip && (r.outcome != Outcome::ok || r.diagnosis());
  };
  if (const Report* failed = first([&](const Report& r) { return r.verdict == Verdict::fail && went_wrong(r); }))
    return failed;
  if (const Report* diagnosed = first([](const Report& r) { return r.diagnosis() != nullptr; })) return diagnosed;
  return first(went_wrong);
}

// Returns the values that were checked in a variant that ended well.
std::string values_line(const Report& report) {
  std::string text;
  for (const ValueCheck& v : report.values)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", v.tensor, v.result);
  return text.empty() ? text : wrapped(text, 6);
}

std::string headline(const Report& report) {
  if (report.diagnosis()) {
    const std::string_view kind = report.outcome == Outcome::ok ? "silent" : name_of(report.outcome);
    return wrapped(fmt::format("{}[{}]: {}", kind, report.diagnosis()->id, report.diagnosis()->headline), 0);
  }
  return wrapped(fmt::format("{}: {}", name_of(report.outcome), unexplained_sentence(report)), 0);
}

// For an error that nothing explains: where the program raised it, if that is in the file whose lines are shown.
std::vector<Span> place_of_the_error(const Report& report) {
  if (report.outcome != Outcome::error) return {};
  const Rank rank = first_cause(report.errors).rank;
  const RankLog& log = log_of(report.run, rank);
  const Site& site = log.error_site;
  const bool is_shown = !site.origin || site.origin->file == report.scenario->file;
  if (site.line <= 0 || !is_shown) return {};
  const std::string_view how = !exit_status_of(log.error) ? "raised this" : is_at_its_end(log) ? "exited here" : "exited after this";
  return {Span{site.line, site.column, 1, fmt::format("{} {}", ranks_text(ranks_of_the_cause(report)), how), true}};
}

std::string divergence_section(const Report& report) {
  if (!report.divergence) return {};
  const Divergence& d = *report.divergence;
  std::string out = fmt::format("first divergence: sequence number {} of group {}\n", d.seq, d.group);
  std::vector<std::pair<std::string, std::vector<Rank>>> groups;
  for (const Divergence::Entry& entry : d.entries) {
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == entry.call; });
    if (same == groups.end()) {
      groups.push_back({entry.call, {entry.rank}});
    } else {
      same->second.push_back(entry.rank);
    }
  }
  for (const auto& [call, ranks] : groups)
    out += beside(fmt::format("  {}  ", ranks_text(ranks)), call);
  return out + "\n";
}

std::string why_section(const Diagnosis& d) {
  std::string out = "why\n" + wrapped(d.why, 2);
  if (!d.inevitable.empty()) out += wrapped("unavoidable " + d.inevitable, 2);
  return out + "\n";
}

// The changes that were made and run, and cured it; their price where there is a choice.
std::string tried_lines(const Diagnosis& d) {
  std::string out;
  const bool is_choice = std::count_if(d.cures.begin(), d.cures.end(), [](const Cure& c) { return cures(c); }) > 1;
  for (const Cure& cure : d.cures)
    if (cures(cure))
      out += wrapped(fmt::format("tried: {}: finishes in {}{}, and nothing else is found", cure.what,
                                 to_string(cure.tried->elapsed),
                                 is_choice ? fmt::format(" with {} collectives", cure.tried->collectives) : ""),
                     2);
  return out;
}

std::string fix_section(const Report& report, const std::vector<Report>& reports) {
  const Diagnosis& d = *report.diagnosis();
  const std::vector<FixProof> proofs = fix_proofs(report, reports);
  std::string names;
  for (const FixProof& p : proofs)
    if (!p.report->scenario->variant.empty())
      names += fmt::format("{}`{}`", names.empty() ? "" : ", ", p.report->scenario->variant);
  std::string out = names.empty() ? std::string("fix\n")
                                  : beside("fix   ", fmt::format("(variant{} {} prove{} it)", proofs.size() == 1 ? "" : "s",
                                                                 names, proofs.size() == 1 ? "s" : ""));
  out += wrapped(d.fix.text, 2);
  for (const FixLine& line : d.fix_lines) out += wrapped(line.said(), 2);
  out += tried_lines(d);
  for (const FixProof& p : proofs) {
    if (p.report->scenario->variant.empty()) continue;
    std::string line = fmt::format("`{}`", p.report->scenario->variant);
    if (!p.settings.empty()) line += fmt::format(" ({})", p.settings);
    line += " " + outcome_sentence(*p.report);
    if (const std::string cost = cost_text(p); !cost.empty()) line += "; it " + cost;
    out += wrapped(line, 2);
  }
  return out + "\n";
}

// The other findings of the report, each with its reason and its fix.
std::string more_findings(const Report& report) {
  std::string out;
  const std::string_view kind = report.outcome == Outcome::ok ? "silent" : name_of(report.outcome);
  for (std::size_t i = 1; i < report.findings.size(); ++i) {
    const Diagnosis& d = report.findings[i];
    out += wrapped(fmt::format("also {}[{}]: {}", kind, d.id, d.headline), 0);
    out += wrapped(d.why, 2) + wrapped("fix: " + d.fix.text, 2);
    for (const FixLine& line : d.fix_lines) out += wrapped(line.said(), 2);
    out += tried_lines(d);
    out += "\n";
  }
  return out;
}

std::string pointers(const Report& report, const TextOptions& options) {
  std::string out = options.replay.empty() ? replay_line(report, options)
                                           : fmt::format("replay   {}\n", options.replay);
  const Scenario& s = *report.scenario;
  if (!options.out_dir.empty()) {
    const std::string dir = s.variant.empty() ? s.name : s.name + "/" + s.variant;
    out += fmt::format("look     {}/{}/{{report.html,trace.json,events.jsonl}}\n", options.out_dir, dir);
  }
  std::vector<std::string> ids;
  for (const Diagnosis& d : report.findings)
    if (std::find(ids.begin(), ids.end(), d.id) == ids.end()) ids.push_back(d.id);
  for (const std::string& id : ids) out += fmt::format("more     pdsim explain {}\n", id);
  return out;
}

std::string block(const Report& report, const std::vector<Report>& reports, const TextOptions& options) {
  std::string out = "\n" + headline(report);
  out += excerpt(report.scenario->file, options.source,
                 report.diagnosis() ? report.diagnosis()->spans : place_of_the_error(report));
  out += "\n";
  if (report.diagnosis()) out += fix_section(report, reports) + why_section(*report.diagnosis());
  out += more_findings(report);
  out += waits_section(report);
  out += errors_section(report);  // of a deadlock those before it
  if (!report.blocked.empty() || !report.diagnosis()) out += state_section(report);
  out += places_section(report);
  if (!report.diagnosis()) out += divergence_section(report);
  if (const std::string picture = timeline(report); !picture.empty()) out += picture + "\n";
  out += devices_section(report);
  out += warnings_section(report);
  out += watchdog_section(report);
  return out + pointers(report, options);
}

std::string last_line(const std::vector<Report>& reports) {
  std::size_t held = 0, skipped = 0, prints = 0;
  Fingerprint together;
  std::uint64_t only = 0;
  Time simulated{};
  std::int64_t wall_ns = 0;
  bool is_sim = true;
  for (const Report& r : reports) {
    held += r.verdict == Verdict::pass ? 1 : 0;
    skipped += r.verdict == Verdict::skip ? 1 : 0;
    if (r.run.fingerprint) {
      together.add(*r.run.fingerprint);
      only = *r.run.fingerprint;
      ++prints;
    }
    simulated += r.run.deadlocked ? r.run.deadlock_at : r.run.elapsed;
    wall_ns += r.run.wall_ns;
    is_sim = is_sim && r.world.is_simulated();
  }
  const bool named = reports.size() > 1 || !reports.front().scenario->variant.empty();
  std::string out = named ? fmt::format("{} of {} variants as expected", held, reports.size() - skipped)
                          : std::string(held == 1      ? "as expected"
                                        : skipped == 1 ? "skipped"
                                                       : "not as expected");
  if (skipped > 0 && named) out += fmt::format(", {} skipped", skipped);
  if (prints > 0) out += fmt::format("   fingerprint {}", fingerprint_text(prints == 1 ? only : together.value()));
  const std::string wall = wall_ns > 0 ? fmt::format(" in {}", to_string(Time{wall_ns * 1000})) : std::string();
  return out + (is_sim ? fmt::format("   simulated {}{}\n", to_string(simulated), wall) : "  " + wall + "\n");
}

std::string coloured(std::string text) {
  struct Paint {
    std::string_view word, code;
  };
  constexpr Paint paints[] = {{"PASS", "32"}, {"FAIL", "31"}, {"SKIP", "33"}};
  std::string out;
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size() - 1);
    std::string line(rest.substr(0, end + 1));
    rest.remove_prefix(end + 1);
    for (const Paint& p : paints)
      if (line.rfind(p.word, 0) == 0)
        line = fmt::format("\x1b[{}m{}\x1b[0m{}", p.code, p.word, line.substr(p.word.size()));
    out += line;
  }
  return out;
}

}  // namespace

std::string render_text(const std::vector<Report>& reports, const TextOptions& options) {
  if (reports.empty() || reports.front().scenario == nullptr) return {};
  std::string out;
  if (!options.quiet) out += header(reports.front());
  const Report* worst = explained(reports);
  const std::vector<std::string> verdicts = verdict_lines(reports);
  for (std::size_t i = 0; i < reports.size(); ++i) {
    const Report& r = reports[i];
    out += verdicts[i];
    if (!options.quiet && worst == nullptr)
      out += values_line(r) + devices_section(r) + operations_section(r) + warnings_section(r);
  }
  if (!options.quiet && worst != nullptr) out += block(*worst, reports, options);
  out += last_line(reports);
  out = printable_lines(out);
  return options.colour ? coloured(std::move(out)) : out;
}

std::string render_diagnosis(const Report& report, const TextOptions& options) {
  if (report.scenario == nullptr) return {};
  const Scenario& s = *report.scenario;
  std::string out =
      fmt::format("{}{}{}   {} rank{}, {}\n", s.name, s.variant.empty() ? "" : " / ", s.variant,
                  report.run.ranks.size(), report.run.ranks.size() == 1 ? "" : "s", outcome_sentence(report));
  const bool went_wrong = report.outcome != Outcome::ok || report.diagnosis();
  return printable_lines(went_wrong ? out + block(report, {}, options) : out + "nothing to explain\n");
}

}  // namespace pdsim::scenarios
