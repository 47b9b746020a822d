#include "tools/explain/explained_names.h"

#include "core/base/errors.h"
#include "core/collectives/collective.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/explain/outside_causes.h"
#include "tools/catalog.h"
#include "tools/explain/explain_concept.h"
#include "tools/explain/explain_pipeline.h"

#include <fmt/format.h>

#include <filesystem>

namespace pdsim::tools {

std::vector<std::string> explained_names() {
  std::vector<std::string> names;
  for (const scenarios::DiagnosisRow* row : scenarios::diagnosis_table()) names.emplace_back(row->id);
  for (const scenarios::OutsideCause& row : scenarios::outside_causes()) names.emplace_back(row.name);
  for (const ErrorRow& row : error_table) names.emplace_back(row.name);
  for (const Algorithm& row : algorithms()) {
    names.push_back(qualified(row));
    names.emplace_back(row.name);
  }
  for (std::string& name : pipeline_names()) names.push_back(std::move(name));
  for (std::string& name : concept_names()) names.push_back(std::move(name));
  for (std::string& name : catalog_names()) names.push_back(std::move(name));
  return names;
}

std::vector<std::string> catalog_names() {
  std::vector<std::string> names;
  for (const std::string& path : catalog_files()) names.push_back(std::filesystem::path(path).stem().string());
  return names;
}

std::string qualified(const Algorithm& row) { return fmt::format("{}/{}", name_of(row.kind), row.name); }

std::vector<const Algorithm*> algorithms_named(std::string_view id) {
  std::vector<const Algorithm*> found;
  for (const Algorithm& row : algorithms())
    if (!pdsim::row(row.kind).point_to_point && (id == row.name || id == qualified(row))) found.push_back(&row);
  return found;
}

}  // namespace pdsim::tools
