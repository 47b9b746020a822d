// The gallery of pitfalls: the descriptions in the files of the catalog, for docs/pitfalls.md and `pdsim explain`.
#pragma once

#include "scenarios/language/loader.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {

struct GalleryEntry {
  std::string name;  // of the file
  std::string summary;
  Pitfall pitfall;
  std::vector<std::string> diagnoses;  // expected by its variants, in file order
  std::vector<std::string> broken;     // variants with a diagnosis, or that do not end well
  std::vector<std::string> cures;      // variants that end well without a diagnosis
  // The differences in real worlds, by variant: "mpi: fixed is skipped, because ...".
  std::vector<std::string> differences;
};

// The entry of one file; for a file without `pitfall` only the name is set.
GalleryEntry gallery_entry(const LoadedFile& file);

// The tables of docs/pitfalls.md, in Markdown: the files that show each diagnosis, and a row for each entry that is a
// pitfall.
std::string gallery_page(std::span<const GalleryEntry> entries);

// docs/scenarios.md: every file of the catalog with its summary and its findings, in Markdown; those in which something goes
// wrong come first.
std::string catalog_page(std::span<const GalleryEntry> entries);

// Everything about one entry, as text of at most 100 columns.
std::string gallery_text(const GalleryEntry& entry);

}  // namespace pdsim::scenarios
