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
constexpr int indentation = 2, fault_indentation = 5;

// Whether a world says how many ranks it has; one in braces must, for no line can be added to it.
bool gives_size(const std::string& world) {
  std::istringstream in(world);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("ranks:") || line.starts_with("nodes:") || line.starts_with("{")) return true;
  return false;
}

// What stands below `world`: the file, and -n where the file leaves the number of ranks out.
struct WorldBlock {
  std::string lines;
  bool ends_with_size = false;
};

WorldBlock world_block(const RunFlags& flags) {
  const std::string world = flags.world.empty() ? std::string() : world_text(flags.world);
  WorldBlock block{indented(world), flags.world.empty() || (flags.ranks > 0 && !gives_size(world))};
  if (block.ends_with_size) block.lines += fmt::format("  ranks: {}\n", std::max(flags.ranks, 1));
  return block;
}

// A scenario with this world, up to what is expected of it.
std::string document_of(const RunFlags& flags, const std::vector<std::string>& faults) {
  std::string text = "pdsim: 1\nname: run\nsummary: the world of a script\nworld:\n";
  text += world_block(flags).lines;
  if (!faults.empty()) text += "faults:\n";
  for (const std::string& fault : faults) text += fmt::format("  - {{{}}}\n", fault);
  return text + "program: [init_process_group, {repeat: {times: 1000, do: [barrier]}}]\n";
}

scenarios::LoadedFile loaded(const RunFlags& flags) {
  return scenarios::load_text("run.yaml", document_of(flags, flags.faults) + "expect: {outcome: ok}\n");
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

// What of the flags a place of the document comes from.
struct Origin {
  std::string name, text;  // a path and its content, or the option and its value; the text is empty where no place is known
  int line = 0, column = 0;  // of the document, before the first of the text
};

Origin origin_of(const RunFlags& flags, int line) {
  const WorldBlock block = world_block(flags);
  const auto lines = static_cast<int>(std::count(block.lines.begin(), block.lines.end(), '\n'));
  const int first_fault = lines_before_world + lines + 2;
  const auto fault = static_cast<std::size_t>(std::max(line - first_fault, 0));
  if (line >= first_fault && !flags.faults.empty())  // one that is not closed is noticed behind it
    return fault < flags.faults.size() ? Origin{"--fault", flags.faults[fault], line - 1, fault_indentation}
                                       : Origin{"--fault", "", 0, 0};
  if (flags.world.empty() || (block.ends_with_size && line == lines_before_world + lines)) return {"-n", "", 0, 0};
  return line < first_fault - 1 ? Origin{flags.world, world_text(flags.world), lines_before_world, indentation}
                                : Origin{flags.world, "", 0, 0};
}

void print_problem(const RunFlags& flags, scenarios::Diagnostic diagnostic, Console& console) {
  const Origin origin = origin_of(flags, diagnostic.mark.line);
  diagnostic.kind = origin.name == "--fault" ? "option" : "world";
  diagnostic.mark.line = origin.text.empty() ? 0 : std::max(diagnostic.mark.line - origin.line, 1);
  diagnostic.mark.column = std::max(diagnostic.mark.column - origin.column, 1);
  console.problem(origin.name, origin.text, diagnostic);
}

}  // namespace

std::optional<scenarios::World> world_of(const RunFlags& flags, Console& console) {
  std::error_code ignored;
  if (!flags.world.empty() && !std::filesystem::is_regular_file(flags.world, ignored)) {
    console.problem(fmt::format("--world {}: the file does not exist; nothing was run", flags.world));
    return std::nullopt;
  }
  const scenarios::LoadedFile file = loaded(flags);
  for (const scenarios::Diagnostic& diagnostic : file.diagnostics)
    if (!diagnostic.warning) print_problem(flags, diagnostic, console);
  if (file.errors > 0 || file.variants.empty()) return std::nullopt;
  scenarios::World world = file.variants.front().world;
  if (flags.ranks > 0 && world.spec.ranks() != flags.ranks) {
    console.problem(fmt::format("--world {} has {} ranks, and -n says {}; nothing was run", flags.world, world.spec.ranks(),
                                flags.ranks));
    return std::nullopt;
  }
  world.spec.seed = flags.seed;
  return world;
}

WorldSections world_sections(const RunFlags& flags, const RunWorld& run) {
  WorldSections sections;
  std::vector<std::string> faults;
  if (const scenarios::LoadedFile given = loaded(flags); !given.variants.empty())
    for (std::size_t f = 0; f < flags.faults.size() && f < given.variants.front().world.spec.faults.size(); ++f) {
      const sim::FaultSpec& fault = given.variants.front().world.spec.faults[f];
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
