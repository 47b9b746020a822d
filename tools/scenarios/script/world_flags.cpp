#include "tools/scenarios/script/world_flags.h"

#include "scenarios/language/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace pdsim::tools {
namespace {

std::string world_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// A block of YAML below a key.
std::string indented(const std::string& text) {
  std::string lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines += "  " + line + "\n";
  return lines;
}

constexpr int lines_before_world = 4;  // of the document
constexpr int indentation = 2;

// A scenario with this world, up to what is expected of it.
std::string document_of(const RunFlags& flags, const std::vector<std::string>& faults) {
  std::string text = "pdsim: 1\nname: run\nsummary: the world of a script\nworld:\n";
  if (flags.world.empty()) text += fmt::format("  ranks: {}\n", std::max(flags.ranks, 1));
  text += indented(flags.world.empty() ? std::string() : world_text(flags.world));
  if (!faults.empty()) text += "faults:\n";
  for (const std::string& fault : faults) text += fmt::format("  - {{{}}}\n", fault);
  return text + "program: [init_process_group, {repeat: {times: 1000, do: [barrier]}}]\n";
}

// The lines of one key of a document and of what is below it.
std::string section_of(const std::string& document, const std::string& key) {
  std::istringstream in(document);
  std::string section;
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const bool is_inner = line.empty() || line.front() == ' ' || line.front() == '-';
    if (!is_inner) inside = line.starts_with(key + ":");
    if (inside) section += line + "\n";
  }
  return section;
}

// The option that is wrong, with the place in its file.
std::string option_at(const RunFlags& flags, const scenarios::Mark& mark) {
  const std::string text = flags.world.empty() ? std::string() : indented(world_text(flags.world));
  const auto lines = std::count(text.begin(), text.end(), '\n');
  const int line = mark.line - lines_before_world;
  if (!flags.faults.empty() && line > lines) return "--fault";
  if (flags.world.empty() || line < 1 || line > lines) return flags.faults.empty() ? "--world " + flags.world : "--world or --fault";
  return fmt::format("--world {}:{}:{}", flags.world, line, std::max(mark.column - indentation, 1));
}

}  // namespace

Result<scenarios::World> world_of(const RunFlags& flags) {
  std::error_code ignored;
  if (!flags.world.empty() && !std::filesystem::is_regular_file(flags.world, ignored))
    return Error{Code::input_invalid, fmt::format("--world {}: there is no such file", flags.world), {}};
  const scenarios::LoadedFile file =
      scenarios::load_text("run.yaml", document_of(flags, flags.faults) + "expect: {outcome: ok}\n");
  for (const scenarios::Diagnostic& diagnostic : file.diagnostics)
    if (!diagnostic.warning)
      return Error{Code::input_invalid,
                   fmt::format("{}: {}{}", option_at(flags, diagnostic.mark), diagnostic.what,
                               diagnostic.label.empty() ? "" : "; " + diagnostic.label),
                   {}};
  if (file.variants.empty()) return Error{Code::input_invalid, "the world cannot be read", {}};
  scenarios::World world = file.variants.front().world;
  if (flags.ranks > 0 && world.spec.ranks() != flags.ranks)
    return Error{Code::input_invalid,
                 fmt::format("--world {} has {} ranks, and -n says {}", flags.world, world.spec.ranks(), flags.ranks),
                 {}};
  world.spec.seed = flags.seed;
  return world;
}

WorldSections world_sections(const RunFlags& flags, const RunWorld& run) {
  WorldSections sections;
  std::vector<std::string> faults;
  if (const Result<scenarios::World> world = world_of(flags); world.ok())
    for (std::size_t f = 0; f < flags.faults.size() && f < world->spec.faults.size(); ++f) {
      const sim::FaultSpec& fault = world->spec.faults[f];
      const bool is_in_the_record = fault.kind == FaultKind::crash || fault.kind == FaultKind::hang;
      if (is_in_the_record) continue;
      if (fault.at.step)
        sections.left_out.push_back(fmt::format("--fault '{}' begins at a step of the optimizer, but the saved "
                                                "scenario has no optimizer", flags.faults[f]));
      else
        faults.push_back(flags.faults[f]);
    }
  std::string set;
  if (flags.world.empty()) set += fmt::format("      world.ranks: {}\n", run.ranks);
  set += fmt::format("      world.backend: {}\n      world.profile: {}\n", run.backend, run.profile);
  if (run.timeout) set += fmt::format("      world.timeout: {}ms\n", run.timeout->ps / 1'000'000'000);
  if (run.devices > 0) set += fmt::format("      world.devices: {}\n", run.devices);
  const scenarios::LoadedFile file =
      scenarios::load_text("run.yaml", document_of(flags, faults) + "variants:\n  saved:\n    set:\n" + set +
                                           "    expect: {outcome: ok}\n");
  const std::string document = scenarios::effective_document(file, "saved");
  sections.text = section_of(document, "world") + section_of(document, "faults");
  return sections;
}

}  // namespace pdsim::tools
