#include "scenarios/reports/gallery.h"

#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/text/text_layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace pdsim::scenarios {
namespace {

void add_diagnosis(std::vector<std::string>& ids, const Expect& expect) {
  if (!expect.diagnosis || **expect.diagnosis == "none") return;
  if (std::find(ids.begin(), ids.end(), **expect.diagnosis) == ids.end()) ids.push_back(**expect.diagnosis);
}

std::string in_cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

std::string worlds_of(const Pitfall& pitfall) {
  const std::string worlds = fmt::format("{}", fmt::join(pitfall.worlds, ", "));
  if (pitfall.elsewhere.empty()) return worlds;
  return worlds.empty() ? fmt::format("none: {}", pitfall.elsewhere) : fmt::format("{}; {}", worlds, pitfall.elsewhere);
}

std::string versions_of(const Pitfall& pitfall) {
  return pitfall.versions.empty() ? "every version" : fmt::format("{}", fmt::join(pitfall.versions, ", "));
}

std::string paragraph(std::string_view title, std::string_view text) {
  return fmt::format("{}\n{}", title, wrapped(text, 2));
}

}  // namespace

GalleryEntry gallery_entry(const LoadedFile& file) {
  GalleryEntry entry;
  if (file.variants.empty()) return entry;
  const Scenario& first = file.variants.front();
  entry.name = first.name;
  entry.summary = first.summary;
  entry.pitfall = first.pitfall;
  if (!entry.pitfall.given) return entry;
  for (const Scenario& variant : file.variants) {
    add_diagnosis(entry.diagnoses, variant.expect);
    (variant.role() == VariantRole::pitfall ? entry.broken : entry.cures).push_back(variant.variant);
    for (const auto& [world, real] : variant.real) {
      if (real.expect) add_diagnosis(entry.diagnoses, *real.expect);
      entry.differences.push_back(
          fmt::format("{}: {} {}, for {}", world, variant.variant, real.skip ? "is skipped" : "differs", real.why));
    }
  }
  return entry;
}

std::string gallery_page(std::span<const GalleryEntry> entries) {
  std::string page = "| verdict | what happened | shown by |\n|---|---|---|\n";
  for (const DiagnosisRow* row : diagnosis_table()) {
    std::vector<std::string_view> files;
    for (const GalleryEntry& e : entries)
      if (std::find(e.diagnoses.begin(), e.diagnoses.end(), row->id) != e.diagnoses.end()) files.push_back(e.name);
    page += fmt::format("| {} | {} | {} |\n", row->id, in_cell(row->title),
                        files.empty() ? "no file; real connections, and dumps of PyTorch jobs"
                                      : fmt::format("{}", fmt::join(files, ", ")));
  }
  page +=
      "\n| file | symptom | cause | diagnosis | cure | real worlds | PyTorch "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const GalleryEntry& e : entries) {
    if (!e.pitfall.given) continue;
    page += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", e.name, in_cell(e.pitfall.symptom),
                        in_cell(e.pitfall.cause), fmt::join(e.diagnoses, ", "), in_cell(e.pitfall.cure),
                        in_cell(worlds_of(e.pitfall)), versions_of(e.pitfall));
  }
  return page;
}

std::string catalog_page(std::span<const GalleryEntry> entries) {
  const auto row = [](const GalleryEntry& e) {
    return fmt::format("| [{0}](../scenarios/catalog/{0}.yaml) | {1} | {2} |\n", e.name, in_cell(e.summary),
                       fmt::join(e.diagnoses, ", "));
  };
  std::string wrong, well;
  for (const GalleryEntry& e : entries) (e.pitfall.given ? wrong : well) += row(e);
  const std::string head = "\n| file | what it shows | what is found |\n|---|---|---|\n";
  return "# The files of the catalog\n\nPrinted by `pdsim list --markdown`. `pdsim scenario NAME` runs a file, `pdsim explain NAME` tells its "
         "symptom, cause and cure, and\n`pdsim gallery --out DIR` writes all of them as pages that can be searched.\n\n## Something goes "
         "wrong\n" +
         head + wrong + "\n## Nothing goes wrong\n" + head + well;
}

std::string gallery_text(const GalleryEntry& e) {
  std::string text = fmt::format("{}\n{}", e.name, wrapped(e.summary, 2));
  if (!e.pitfall.given) return text;
  text += "\n" + paragraph("symptom", e.pitfall.symptom);
  text += paragraph("cause", e.pitfall.cause);
  if (!e.diagnoses.empty()) text += paragraph("diagnosis", fmt::format("{}", fmt::join(e.diagnoses, ", ")));
  text += paragraph("cure", e.pitfall.cure);
  text += paragraph("shown by variants", fmt::format("fails in {}; fixed in {}", fmt::join(e.broken, ", "),
                                             e.cures.empty() ? "none" : fmt::format("{}", fmt::join(e.cures, ", "))));
  text += paragraph("PyTorch versions", versions_of(e.pitfall));
  text += paragraph("real worlds", worlds_of(e.pitfall));
  for (const std::string& difference : e.differences) text += wrapped(difference, 2);
  return text + fmt::format("\nrun it   pdsim scenario {}\n", e.name);
}

}  // namespace pdsim::scenarios
