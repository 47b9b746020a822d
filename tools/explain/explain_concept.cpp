#include "tools/explain/explain_concept.h"

#include "scenarios/concepts/concept_picture.h"
#include "tools/catalog.h"
#include "tools/command.h"
#include "tools/flags/trial_flags.h"

#include <fmt/format.h>

namespace pdsim::tools {

int explain_concept(const scenarios::Concept& row, std::string& page, Console& console) {
  std::string file;
  if (row.picture.kind == scenarios::ConceptPicture::Kind::run) {
    Result<std::string> found = find_scenario(row.picture.name);
    if (!found.ok()) {
      console.problem(found.error().message);
      return exit_failed;
    }
    file = std::move(*found);
  }
  const Result<std::string> picture = scenarios::draw_concept(row.picture, file);
  if (!picture.ok()) {
    console.problem(picture.error().message);
    return status_of(picture.error());
  }
  page = scenarios::concept_page(row, *picture);
  return exit_held;
}

std::vector<std::string> concept_names() {
  std::vector<std::string> names;
  for (const scenarios::Concept* row : scenarios::concepts()) names.emplace_back(row->name);
  return names;
}

}  // namespace pdsim::tools
