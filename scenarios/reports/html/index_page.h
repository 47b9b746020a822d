// index.html over the reports of one or many scenario files: the subject, picture, cause and cure of each, searchable.
//
//   network  none; one script, for the search: everything is readable without it
//   order    of the files, and of their variants, as given
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/reports/gallery.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

struct IndexVariant {
  std::string name;      // empty in a file without variants
  Verdict verdict = Verdict::pass;
  std::string sentence;  // the outcome
  std::string headline;  // of its diagnosis; empty without one
  std::string picture;   // SVG; empty where there is none
  std::string page;      // of its report, relative to the index; empty: none was written
};

struct IndexFile {
  GalleryEntry entry;
  std::vector<IndexVariant> variants;
};

// One row of the index. `reports` are those of the file's variants that were run. A picture is drawn for the first one with a
// diagnosis, or for the first one where none has any.
IndexFile index_file(const LoadedFile& file, std::span<const Report> reports);

std::string render_index(std::string_view title, std::span<const IndexFile> files);

}  // namespace pdsim::scenarios
