#include "scenarios/reports/html/html_report.h"

#include "scenarios/reports/dumped/answer.h"
#include "scenarios/reports/html/html_timeline.h"
#include "scenarios/reports/html/page.h"
#include "scenarios/reports/text/text_parts.h"
#include "scenarios/text/printable_json.h"
#include "scenarios/text/rank_list.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t most_ranks_apart = 16;  // with more, ranks that made the same calls share a row
constexpr std::size_t most_events_below = 2'500, most_rows_opened = 8;

std::string left_out_text(const TimelineEvents& events, const TimelinePicture& picture, std::size_t ranks) {
  std::string out;
  if (events.left_out > 0)
    out += fmt::format("<p class=\"quiet\">showing the {} events around the first divergence; {} are left out</p>\n",
                       events.events.size(), events.left_out);
  if (picture.ranks_left_out > 0)
    out += fmt::format("<p class=\"quiet\">{} of {} ranks are left out</p>\n", picture.ranks_left_out, ranks);
  return out;
}

// The ranks of a row that several share, each in its own, behind a line that opens them.
std::string opened_row(const Report& report, const RankRow& shared) {
  std::vector<RankRow> rows;
  for (const Rank rank : shared.ranks)
    if (rows.size() < most_rows) rows.push_back({rank, {rank}});
  const TimelineEvents events = timeline_events(report, shown_ranks(rows), most_events_below);
  TimelinePicture picture = timeline_svg(report, rows, events, true);
  picture.ranks_left_out = shared.ranks.size() - rows.size();
  return fmt::format("<details><summary>{} ranks made the same calls: {}</summary>\n{}<div class=\"scroll\">{}</div></details>\n",
                     shared.ranks.size(), escaped(ranks_within(shared.ranks, 200)),
                     left_out_text(events, picture, shared.ranks.size()), picture.svg);
}

std::string pictures(const Report& report, const std::vector<RankRow>& rows, const TimelineEvents& events) {
  const TimelinePicture folded = timeline_svg(report, rows, events, true);
  std::string out = left_out_text(events, folded, report.run.ranks.size());
  if (!folded.folded)
    out += "<div class=\"scroll\">" + folded.svg + "</div>\n";
  else
    out += "<input type=\"checkbox\" id=\"linear\"> <label for=\"linear\">linear time (idle gaps are folded "
           "otherwise)</label>\n<div class=\"scroll folded\">" +
           folded.svg + "</div>\n<div class=\"scroll linear\">" + timeline_svg(report, rows, events, false).svg +
           "</div>\n";
  std::size_t opened = 0;
  for (const RankRow& row : rows)
    if (row.ranks.size() > 1 && opened++ < most_rows_opened) out += opened_row(report, row);
  return out;
}

std::string events_json(const TimelineEvents& events) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const TimelineEvent& e : events.events) {
    Json event{{"rank", e.rank}, {"call", e.call->id}, {"name", e.call->name}};
    if (e.call->seq >= 0) event.update({{"group", e.call->group}, {"seq", e.call->seq}});
    if (!e.call->purpose.empty()) event["purpose"] = text_of(e.call->purpose);
    event["from_ns"] = e.call->issued.ns();
    if (!e.blocked) event["to_ns"] = e.end.ns();
    list.push_back(std::move(event));
  }
  std::string text = printable_json(list.dump(-1, ' ', false, Json::error_handler_t::replace));
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6) text.replace(at, 1, "\\u003c");
  return text;
}

std::string finding_html(const Report& report, const Diagnosis& d) {
  std::string out = fmt::format("<p class=\"headline\">{}: {}</p>\n", escaped(d.id), escaped(d.headline));
  if (report.world.is_dumps() && !report.run.ranks.empty()) {
    out += "<dl>\n";
    for (const AnswerLine& line : answer_to(report, d))
      out += fmt::format("<dt>{}</dt><dd>{}</dd>\n", line.label, escaped(line.text));
    out += "</dl>\n";
  }
  out += fmt::format("<p>{}</p>\n", escaped(d.why.empty() ? d.cause : d.why));
  if (!d.inevitable.empty() && !report.world.is_dumps())
    out += fmt::format("<p class=\"quiet\">unavoidable {}</p>\n", escaped(d.inevitable));
  return d.fix.empty() ? out : out + fmt::format("<p><b>fix</b> <code>{}</code></p>\n", escaped(d.fix.text));
}

std::string summary(const Report& report, const std::string& name) {
  std::string out = fmt::format("<h1>{}</h1>\n", escaped(name));
  if (report.world.is_dumps()) {  // nobody expected anything
    out += fmt::format("<p>{} rank{}, {}</p>\n", report.run.ranks.size(), report.run.ranks.size() == 1 ? "" : "s",
                       escaped(outcome_sentence(report)));
    for (const std::string& line : left_out_lines(report.left_out))
      out += fmt::format("<p class=\"quiet\">{}</p>\n", escaped(line));
  } else {
    out += fmt::format("<p><span class=\"verdict {}\">{}</span> {}{}</p>\n", name_of(report.verdict),
                       name_of(report.verdict), escaped(outcome_sentence(report)),
                       report.verdict == Verdict::pass && report.outcome != Outcome::ok ? ", as expected" : "");
  }
  if (report.scenario != nullptr && !report.scenario->summary.empty())
    out += fmt::format("<p class=\"quiet\">{}</p>\n", escaped(report.scenario->summary));
  for (const Diagnosis& d : report.findings) out += finding_html(report, d);
  if (report.findings.empty() && report.outcome != Outcome::ok) {
    out += fmt::format("<p class=\"headline\">{}</p>\n", escaped(unexplained_sentence(report)));
  }
  return out;
}

}  // namespace

std::string render_html(const Report& report, std::string_view text) {
  std::string name = report.scenario == nullptr ? "run" : report.scenario->name;
  if (report.scenario != nullptr && !report.scenario->variant.empty()) name += " / " + report.scenario->variant;
  const std::vector<RankRow> rows = rank_rows(report, most_ranks_apart);
  const TimelineEvents events = timeline_events(report, shown_ranks(rows));
  return filled(page::report_html, {{"title", escaped(name) + ": " + std::string(name_of(report.outcome))},
                                    {"style", std::string(page::report_css)},
                                    {"summary", summary(report, name)},
                                    {"timeline", pictures(report, rows, events)},
                                    {"report", escaped(text)},
                                    {"events", events_json(events)},
                                    {"script", std::string(page::report_js)}});
}

}  // namespace pdsim::scenarios
