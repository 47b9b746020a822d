// The gallery of pitfalls: what the files of the catalog say of themselves, for docs/pitfalls.md and `pdsim explain`.
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
  std::vector<std::string> diagnoses;  // that its variants expect, in file order
  std::vector<std::string> broken;     // variants that show the pitfall
  std::vector<std::string> cures;      // variants that show its cure
  // What is different in a real world, by variant: "mpi: fixed is skipped, because ...".
  std::vector<std::string> differences;
};

// Of one file; of a file without `pitfall` only the name is given.
GalleryEntry gallery_entry(const LoadedFile& file);

// The tables of docs/pitfalls.md, in Markdown: the files that show each diagnosis, and a row for each entry that is a
// pitfall.
std::string gallery_page(std::span<const GalleryEntry> entries);

// docs/scenarios.md: every file of the catalog with its summary and what is found in it, in Markdown; first those that something goes wrong in.
std::string catalog_page(std::span<const GalleryEntry> entries);

// Everything about one entry, as text of at most 100 columns.
std::string gallery_text(const GalleryEntry& entry);

}  // namespace pdsim::scenarios
