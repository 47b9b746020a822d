#include "scenarios/reports/html/index_page.h"

#include "scenarios/reports/html/html_timeline.h"
#include "scenarios/reports/html/page.h"
#include "scenarios/reports/text/text_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace pdsim::scenarios {
namespace {

std::string page_of(const Scenario& s) {
  return s.variant.empty() ? s.name + "/report.html" : fmt::format("{}/{}/report.html", s.name, s.variant);
}

std::string picture_of(const Report& report) {
  constexpr std::size_t most_apart = 8, most_events_here = 600;  // a picture among many
  const std::vector<RankRow> rows = rank_rows(report, most_apart);
  const TimelineEvents events = timeline_events(report, shown_ranks(rows), most_events_here);
  return events.events.empty() ? "" : timeline_svg(report, rows, events, true).svg;
}

// Returns a URL made of the names of files and variants.
std::string linked(const IndexVariant& variant) {
  const std::string name = escaped(variant.name.empty() ? "report" : variant.name);
  return variant.page.empty() ? name : fmt::format("<a href=\"{}\">{}</a>", escaped(variant.page), name);
}

std::string variant_row(const IndexVariant& variant) {
  return fmt::format("<tr><td class=\"verdict-cell {0}\">{0}</td><td>{1}</td><td>{2}{3}</td></tr>\n",
                     name_of(variant.verdict), linked(variant), escaped(variant.sentence),
                     variant.headline.empty() ? "" : fmt::format("<br><b>{}</b>", escaped(variant.headline)));
}

std::string labelled(std::string_view label, std::string_view text) {
  return text.empty() ? "" : fmt::format("<dt>{}</dt><dd>{}</dd>\n", label, escaped(text));
}

// Returns the text that the search looks through, in lower case.
std::string searched_text(const IndexFile& file) {
  std::string text = fmt::format("{} {} {} {} {}", file.entry.name, file.entry.summary, file.entry.pitfall.symptom,
                                 file.entry.pitfall.cause, file.entry.pitfall.cure);
  for (const IndexVariant& variant : file.variants) text += " " + variant.headline;
  for (const std::string& id : file.entry.diagnoses) text += " " + id;
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string card(const IndexFile& file) {
  const Pitfall& pitfall = file.entry.pitfall;
  std::string out = fmt::format("<article id=\"{0}\" data-text=\"{1}\">\n<h2><a href=\"#{0}\">{0}</a></h2>\n",
                                escaped(file.entry.name), escaped(searched_text(file)));
  out += fmt::format("<p class=\"quiet\">{}</p>\n<dl>\n", escaped(file.entry.summary));
  out += labelled("symptom", pitfall.symptom) + labelled("cause", pitfall.cause) + labelled("cure", pitfall.cure);
  out += "</dl>\n";
  for (const IndexVariant& variant : file.variants)
    if (!variant.picture.empty())
      out += fmt::format("<details open><summary>picture of {}</summary><div class=\"scroll\">{}</div></details>\n",
                         linked(variant), variant.picture);
  out += "<table>\n";
  for (const IndexVariant& variant : file.variants) out += variant_row(variant);
  return out + "</table>\n</article>\n";
}

}  // namespace

IndexFile index_file(const LoadedFile& file, std::span<const Report> reports) {
  IndexFile index{gallery_entry(file), {}};
  const auto diagnosed = [](const Report& report) { return report.diagnosis() != nullptr; };
  auto drawn = std::find_if(reports.begin(), reports.end(), diagnosed);
  if (drawn == reports.end()) drawn = reports.begin();
  for (auto report = reports.begin(); report != reports.end(); ++report) {
    const Diagnosis* found = report->diagnosis();
    const bool ran = report->verdict != Verdict::skip;
    index.variants.push_back({report->scenario->variant, report->verdict,
                              ran ? outcome_sentence(*report) : report->skip_reason,
                              found == nullptr ? "" : fmt::format("{}: {}", found->id, found->headline),
                              report == drawn && ran ? picture_of(*report) : "", ran ? page_of(*report->scenario) : ""});
  }
  return index;
}

std::string render_index(std::string_view title, std::span<const IndexFile> files) {
  std::string cards;
  for (const IndexFile& file : files) cards += card(file);
  return filled(page::index_html, {{"title", escaped(title)},
                                   {"style", std::string(page::report_css) + std::string(page::index_css)},
                                   {"count", std::to_string(files.size())},
                                   {"cards", cards},
                                   {"script", std::string(page::index_js)}});
}

}  // namespace pdsim::scenarios
