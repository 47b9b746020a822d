// pdsim list: the catalog, and with --what the names that scenario files may use, each from its one table.

#include "core/base/errors.h"
#include "core/base/nearest.h"
#include "core/base/types.h"
#include "core/collectives/algorithms.h"
#include "core/collectives/collective.h"
#include "core/collectives/tuning/tuning.h"
#include "core/semantics/profile.h"
#include "scenarios/concepts/concepts.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/language/loader.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/language/tables/sections.h"
#include "scenarios/reports/gallery.h"
#include "scenarios/run/parity_page.h"
#include "scenarios/text/printable_json.h"
#include "scenarios/worlds/worlds.h"
#include "sim/network/faults.h"
#include "tools/carried/carried_files.h"
#include "tools/catalog.h"
#include "tools/command.h"
#include "tools/console/capability_tables.h"
#include "tools/explain/explained_names.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {
namespace {

struct Item {
  std::string name;
  std::string summary;
};
using Items = std::vector<Item>;

Items errors() {
  Items items;
  for (const ErrorRow& row : error_table) items.push_back({std::string(row.name), std::string(row.sentence)});
  return items;
}

// A dot within a name, as in torch.nn, ends no sentence.
std::string first_sentence(std::string_view text) {
  const std::string_view sentence = text.substr(0, text.find(". "));
  return std::string(sentence.substr(0, sentence.size() - (sentence.ends_with('.') ? 1 : 0)));
}

Items concept_items() {
  Items items;
  for (const scenarios::Concept* row : scenarios::concepts())
    items.push_back({std::string(row->name), first_sentence(row->text)});
  return items;
}

Items dtype_items() {
  Items items;
  for (const DTypeRow& row : dtypes)
    items.push_back({std::string(row.name), fmt::format("{} bytes, {}", row.size, row.torch_name)});
  return items;
}

// As a user types it: of a portable pdsim, which keeps the catalog inside, the name alone.
std::string listed_name(const std::string& path) {
  return carried_files().empty() ? path : std::filesystem::path(path).stem().string();
}

// The files of the catalog; one that does not load says so in its line.
Items catalog() {
  Items items;
  for (const std::string& path : catalog_files()) {
    const Result<scenarios::LoadedFile> file = scenarios::load_file(path);
    const bool loaded = file.ok() && file->errors == 0 && !file->variants.empty();
    items.push_back({listed_name(path), loaded ? file->variants.front().summary : fmt::format("has errors: pdsim check {}", path)});
  }
  return items;
}

std::vector<scenarios::LoadedFile> loaded_catalog() {
  std::vector<scenarios::LoadedFile> files;
  for (const std::string& path : catalog_files())
    if (Result<scenarios::LoadedFile> file = scenarios::load_file(path); file.ok()) files.push_back(std::move(*file));
  return files;
}

// One item per variant: what it comes to in each world.
Items parity_items() {
  Items items;
  for (const scenarios::ParityRow& row : scenarios::parity_rows(loaded_catalog())) {
    std::string text;
    for (const scenarios::ParityCell& cell : row.cells) {
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", cell.world, cell.verdict);
      if (!cell.why.empty()) text += fmt::format(" ({})", cell.why);
    }
    items.push_back({row.variant.empty() ? row.scenario : row.scenario + "/" + row.variant, text});
  }
  return items;
}
std::string parity_page() { return scenarios::parity_page(loaded_catalog()); }

Items diagnoses() {
  Items items;
  for (const scenarios::DiagnosisRow* row : scenarios::diagnosis_table())
    items.push_back({std::string(row->id), std::string(row->title)});
  return items;
}

Items world_items() {
  Items items;
  for (const scenarios::WorldRow& row : scenarios::worlds()) {
    const Availability here = row.make(row.name)->available();
    const std::string version = here.version.empty() ? "" : ", " + here.version;
    items.push_back(
        {std::string(row.name), fmt::format("{}; {}", row.about, here.yes ? "works here" + version : here.reason)});
  }
  return items;
}

Items rows_of(std::span<const scenarios::language::Key> rows) {
  Items items;
  for (const scenarios::language::Key& row : rows) items.push_back({std::string(row.name), std::string(row.help)});
  return items;
}

Items operations() { return rows_of(scenarios::language::operation_table()); }

Items layers() { return rows_of(scenarios::language::layer_kinds()); }
Items losses() { return rows_of(scenarios::language::loss_kinds()); }
Items optimizers() { return rows_of(scenarios::language::optimizer_kinds()); }

template <class Rows>
Items explained(const Rows& rows) {
  Items items;
  for (const auto& row : rows) items.push_back({std::string(row.name), std::string(row.explanation)});
  return items;
}

Items libraries() { return explained(pdsim::library_semantics()); }
Items profiles() { return explained(pdsim::profiles()); }
Items faults() { return explained(fault_table); }

std::string shape_of(const CollectiveRow& row) {
  std::string text = row.point_to_point ? "between two ranks" : row.rooted ? "with a root" : "the same on all ranks";
  if (row.reduces) text += ", reduces";
  return text;
}

Items collectives() {
  Items items;
  for (const CollectiveRow& row : collective_table) items.push_back({std::string(row.name), shape_of(row)});
  return items;
}

Items algorithm_items() {
  Items items;
  for (const Algorithm& row : algorithms())
    items.push_back({fmt::format("{} {}", name_of(row.kind), row.name), std::string(row.formula)});
  return items;
}

Items tuning_items() {
  Items items;
  for (const Tuning& row : tunings()) items.push_back({std::string(row.algorithm), std::string(row.explanation)});
  return items;
}

struct Kind {
  std::string_view name;
  Items (*items)();
  std::string (*more)() = nullptr;  // printed below the items, as text
  std::string (*page)() = nullptr;  // printed in place of the items, as text
};
constexpr std::array kinds{
    Kind{"algorithms", algorithm_items},
    Kind{"catalog", catalog},
    Kind{"collectives", collectives},
    Kind{"concepts", concept_items},
    Kind{"diagnoses", diagnoses},
    Kind{"dtypes", dtype_items},
    Kind{"errors", errors},
    Kind{"faults", faults},
    Kind{"layers", layers},
    Kind{"libraries", libraries},
    Kind{"losses", losses},
    Kind{"operations", operations},
    Kind{"optimizers", optimizers},
    Kind{"parity", parity_items, nullptr, parity_page},
    Kind{"profiles", profiles},
    Kind{"tunings", tuning_items},
    Kind{"worlds", world_items, capability_tables},
};

// Returns the problem with the value of --what; empty if there is none.
std::string kind_problem(const std::string& word) {
  const std::vector<std::string> names = listed_kinds();
  if (std::find(names.begin(), names.end(), word) != names.end()) return "";
  if (const auto close = nearest(word, std::span<const std::string>(names)))
    return fmt::format("unknown list `{}`; did you mean `{}`?", word, *close);
  return fmt::format("unknown list `{}`; expected {}", word, fmt::join(names, ", "));
}

std::string as_table(const Items& items) {
  std::size_t width = 0;
  for (const Item& item : items) width = std::max(width, item.name.size());
  std::string text;
  for (const Item& item : items) text += fmt::format("{:<{}}  {}\n", item.name, width, item.summary);
  return text;
}

std::string as_json(const Items& items) {
  std::string text;
  for (const Item& item : items)
    text += nlohmann::ordered_json{{"version", scenarios::json_version}, {"name", item.name}, {"summary", item.summary}}.dump() +
            "\n";
  return text;
}

}  // namespace

std::vector<std::string> listed_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kinds) names.emplace_back(kind.name);
  return names;
}

Action declare_list(CLI::App& app) {
  struct Options {
    std::string what = "catalog";
    bool json = false, markdown = false;
  };
  const auto options = std::make_shared<Options>();
  app.add_option("--what", options->what, fmt::format("what to list: {}", fmt::join(listed_kinds(), ", ")))
      ->check(kind_problem);
  CLI::Option* json = app.add_flag("--json", options->json, "one JSON object per line");
  app.add_flag("--markdown", options->markdown, "of the catalog: a page, that of docs/scenarios.md")->excludes(json);
  return [options](Console& console) {
    const Kind* kind = std::find_if(kinds.begin(), kinds.end(), [&](const Kind& k) { return k.name == options->what; });
    if (options->markdown) {
      if (options->what != "catalog") {
        console.problem("--markdown is only for the catalog", "remove --what");
        return exit_wrong_input;
      }
      std::vector<scenarios::GalleryEntry> entries;
      for (const scenarios::LoadedFile& file : loaded_catalog()) entries.push_back(scenarios::gallery_entry(file));
      console.print(scenarios::catalog_page(entries));
      return exit_held;
    }
    if (kind->page != nullptr && !options->json) {
      console.print(kind->page());
      return exit_held;
    }
    const Items items = kind->items();
    console.print(options->json ? as_json(items) : as_table(items));
    if (kind->more != nullptr && !options->json) console.print("\n" + kind->more());
    return exit_held;
  };
}

}  // namespace pdsim::tools
