#include "tests/architecture/rules.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <utility>

namespace pdsim::architecture {
namespace {

struct Layer {
  std::string_view folder;
  std::array<std::string_view, 6> may_include;
};
constexpr std::array layers{
    Layer{"core/", {"core/"}},
    Layer{"sim/", {"core/", "sim/"}},
    Layer{"backends/", {"core/", "backends/"}},
    Layer{"scenarios/", {"core/", "sim/", "backends/", "scenarios/"}},
    Layer{"tools/", {"core/", "sim/", "backends/", "scenarios/", "tools/"}},
    Layer{"tests/", {"core/", "sim/", "backends/", "scenarios/", "tools/", "tests/"}},
};

// Where the headers of a library may be included; `source_only`: in .cpp files only.
struct Library {
  std::string_view header;
  std::array<std::string_view, 4> folders;
  bool source_only;
};
constexpr std::array libraries{
    Library{"fmt/", {"core/", "sim/", "backends/", "scenarios/"}, false},
    Library{"fmt/", {"tools/", "tests/"}, false},
    Library{"Eigen/", {"core/nn/"}, true},
    Library{"boost/", {"sim/"}, false},
    Library{"boost/", {"backends/http/"}, true},
    Library{"xxhash.h", {"core/base/"}, true},
    Library{"cpuid.h", {"core/collectives/"}, true},
    Library{"immintrin.h", {"core/collectives/"}, true},
    Library{"sys/mman.h",
            {"sim/kernel/stacks.cpp", "backends/os/shared_memory.cpp", "core/collectives/proof/apart.cpp", "tests/"},
            true},
    Library{"sys/wait.h", {"core/collectives/proof/apart.cpp"}, true},  // proofs that must not end the process
    Library{"sys/wait.h", {"backends/", "scenarios/", "tools/", "tests/"}, false},
    Library{"sys/resource.h", {"core/collectives/proof/apart.cpp"}, true},
    Library{"sys/resource.h", {"backends/", "scenarios/", "tools/", "tests/"}, false},
    Library{"unistd.h", {"core/collectives/proof/apart.cpp"}, true},
    Library{"unistd.h", {"backends/", "scenarios/", "tools/", "tests/"}, false},
    Library{"sanitizer/", {"sim/kernel/stacks.cpp"}, true},
    Library{"gloo/", {"backends/gloo/", "tests/unit/gloo/"}, false},
    Library{"mpi.h", {"backends/mpi/"}, false},
    Library{"nccl.h", {"backends/nccl/"}, false},
    Library{"cuda", {"backends/nccl/"}, false},
    Library{"yaml-cpp/", {"scenarios/language/"}, true},
    Library{"nlohmann/", {"backends/", "scenarios/", "tools/", "tests/"}, true},
    Library{"nlohmann/", {"core/rpc/"}, true},
    Library{"CLI/", {"tools/"}, true},
    Library{"gtest/", {"tests/"}, false},
    Library{"rapidcheck", {"tests/"}, false},
    Library{"benchmark/", {"tests/"}, true},
};

constexpr std::array forbidden_words{
    "steady_clock",
    "system_clock",
    "high_resolution_clock",
    "clock_gettime",
    "gettimeofday",
    "random_device",
    "mt19937",
    "rand",
    "srand",
    "std::shuffle",
    "getenv",
    "sleep_for",
    "thread_local",
    "unordered_map",
    "unordered_set",
    "std::hash",
    "uniform_int_distribution",
    "uniform_real_distribution",
    "normal_distribution",
    "bernoulli_distribution",
};

// The base class of Boost.Fiber's algorithms has this in a signature; virtual time never calls it.
constexpr std::string_view required_signature = "void suspend_until(const std::chrono::steady_clock::time_point&)";

constexpr int line_limit = 500;
constexpr int file_limit = 26;  // in one folder

// One file for each scenario, script, dump, recorded training or snapshot.
constexpr std::array data_folders{
    "scenarios/catalog", "tests/cli/snapshots", "tests/guests/gallery",
    "tests/oracle",      "tests/reports/dumps", "tests/reports/scenarios",
};

constexpr std::array<std::string_view, 7> cited_folders{"core/", "sim/", "backends/", "scenarios/", "tools/", "tests/", "docs/"};

// Notes that the design was made from, which readers do not have.
constexpr std::array<std::string_view, 6> pages_elsewhere{"SEMANTICS", "NUMBERS", "DESIGN", "ALGORITHMS", "REPORTS", "GUESTS"};

bool is_header(std::string_view path) { return path.ends_with(".h"); }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

bool has_word(std::string_view line, std::string_view word) {
  for (std::size_t at = line.find(word); at != std::string_view::npos; at = line.find(word, at + 1)) {
    const bool starts = at == 0 || !is_word(line[at - 1]);
    const bool ends = at + word.size() == line.size() || !is_word(line[at + word.size()]);
    if (starts && ends) return true;
  }
  return false;
}

// Calls visit(line number, line without its comment).
template <class Visit>
void for_each_line(std::string_view text, Visit visit) {
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    visit(number, line.substr(0, line.find("//")));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

std::string place(std::string_view path, int line) { return std::string(path) + ":" + std::to_string(line); }

template <std::size_t N>
bool is_below_any(std::string_view path, const std::array<std::string_view, N>& folders) {
  return std::any_of(folders.begin(), folders.end(),
                     [&](std::string_view folder) { return !folder.empty() && path.starts_with(folder); });
}

// The rooms of a layer, lowest first: a room includes itself and those before it. A file above all rooms (sim/run.h) may include each.
struct Room {
  std::string_view folder;
  std::array<std::string_view, 4> never;  // rooms below it that it must not know all the same
};
constexpr std::array rooms{
    Room{"core/base/", {}},
    Room{"core/runtime/", {}},
    Room{"core/store/", {}},
    Room{"core/nn/", {"core/runtime/", "core/store/"}},
    Room{"core/collectives/", {"core/store/", "core/nn/"}},
    Room{"core/semantics/", {"core/runtime/", "core/store/", "core/nn/"}},
    Room{"core/record/", {"core/nn/"}},
    Room{"core/group/", {"core/nn/"}},
    Room{"core/parallel/", {"core/store/"}},
    Room{"core/sharded/", {"core/store/"}},
    Room{"core/pipeline/", {"core/store/", "core/nn/", "core/parallel/", "core/sharded/"}},
    Room{"core/rpc/", {"core/parallel/", "core/sharded/", "core/pipeline/"}},
    Room{"core/measure/", {"core/nn/", "core/parallel/", "core/sharded/", "core/rpc/"}},
    Room{"sim/kernel/", {}},
    Room{"sim/network/", {}},
    Room{"sim/world/", {}},
    Room{"backends/os/", {}},
    Room{"backends/net/", {}},
    Room{"backends/tcp_store/", {}},
    Room{"backends/http/", {}},
    Room{"backends/process/", {}},
    Room{"backends/launch/", {}},
    Room{"backends/engine/", {"backends/tcp_store/", "backends/process/", "backends/launch/"}},
    Room{"backends/gloo/", {"backends/tcp_store/", "backends/launch/"}},
    Room{"backends/mpi/", {"backends/tcp_store/", "backends/launch/", "backends/gloo/"}},
    Room{"backends/nccl/", {"backends/tcp_store/", "backends/launch/", "backends/gloo/", "backends/mpi/"}},
    Room{"scenarios/text/", {}},
    Room{"scenarios/plans/", {}},
    Room{"scenarios/records/", {"scenarios/plans/"}},
    Room{"scenarios/language/", {"scenarios/records/"}},
    Room{"scenarios/program/", {}},
    Room{"scenarios/worlds/", {}},
    Room{"scenarios/diagnosis/", {"scenarios/program/", "scenarios/worlds/", "scenarios/plans/"}},
    Room{"scenarios/reports/", {"scenarios/program/", "scenarios/worlds/"}},
    Room{"scenarios/guests/", {"scenarios/program/", "scenarios/worlds/", "scenarios/reports/"}},
    Room{"scenarios/run/", {}},
    Room{"scenarios/measure/", {}},
    Room{"scenarios/concepts/", {"scenarios/guests/", "scenarios/measure/"}},
};

const Room* room_of(std::string_view path) {
  const auto* room =
      std::find_if(rooms.begin(), rooms.end(), [&](const Room& r) { return path.starts_with(r.folder); });
  return room == rooms.end() ? nullptr : room;
}

bool is_allowed(const Room& from, const Room& to) {
  return &to <= &from && std::find(from.never.begin(), from.never.end(), to.folder) == from.never.end();
}

std::string project_include_problem(std::string_view path, std::string_view header) {
  const auto* layer =
      std::find_if(layers.begin(), layers.end(), [&](const Layer& l) { return path.starts_with(l.folder); });
  if (layer == layers.end()) return {};
  if (!is_below_any(header, layer->may_include))
    return std::string(layer->folder) + " must not include " + std::string(header);
  const Room *from = room_of(path), *to = room_of(header);
  const bool same_layer = header.starts_with(layer->folder);
  if (same_layer && from != nullptr && to != nullptr && !is_allowed(*from, *to))
    return std::string(from->folder) + " must not include " + std::string(header) + ": the rooms point the other way";
  return {};
}

std::string library_include_problem(std::string_view path, std::string_view header) {
  bool known = false;
  for (const Library& library : libraries) {
    if (!header.starts_with(library.header)) continue;
    known = true;
    if (is_below_any(path, library.folders) && !(library.source_only && is_header(path))) return {};
  }
  if (known) return "<" + std::string(header) + "> does not belong here";
  const bool standard = header.find_first_of("./") == std::string_view::npos;
  if (!standard && (path.starts_with("core/") || path.starts_with("sim/")))
    return "<" + std::string(header) + "> is not of the standard library";
  return {};
}

}  // namespace

Problems include_problems(std::string_view path, std::string_view text) {
  Problems problems;
  for_each_line(text, [&](int number, std::string_view line) {
    constexpr std::string_view include = "#include ";
    if (!line.starts_with(include) || line.size() < include.size() + 2) return;
    const char opening = line[include.size()];
    const std::string_view rest = line.substr(include.size() + 1);
    const std::string_view header = rest.substr(0, rest.find(opening == '<' ? '>' : '"'));
    const std::string problem =
        opening == '<' ? library_include_problem(path, header) : project_include_problem(path, header);
    if (!problem.empty()) problems.push_back({place(path, number), problem});
  });
  return problems;
}

Problems hidden_state_problems(std::string_view path, std::string_view text) {
  Problems problems;
  if ((!path.starts_with("core/") && !path.starts_with("sim/"))) return problems;
  for_each_line(text, [&](int number, std::string_view line) {
    if (line.find(required_signature) != std::string_view::npos) return;
    for (const std::string_view word : forbidden_words)
      if (has_word(line, word)) problems.push_back({place(path, number), std::string(word) + " is not deterministic"});
  });
  return problems;
}

Problems rule_problems(std::string_view path, std::string_view text) {
  Problems problems;
  if (path.find("/diagnoses/") == std::string_view::npos && path.find("/rules/") == std::string_view::npos)
    return problems;
  if (!path.starts_with("scenarios/") || path.find("/scenario_places.") != std::string_view::npos) return problems;
  for_each_line(text, [&](int number, std::string_view line) {
    for (const std::string_view asked : {"scenario->", "scenario.", ".scenario", "*scenario"})
      if (line.find(asked) != std::string_view::npos && !line.starts_with("#include"))
        problems.push_back({place(path, number), "a rule asks the scenario; it reads the record alone"});
  });
  return problems;
}

Problems room_problems(std::string_view path, std::string_view) {
  const std::size_t layer = path.find('/');
  const bool has_rooms = is_below_any(path, std::array<std::string_view, 4>{"core/", "sim/", "backends/", "scenarios/"});
  if (!has_rooms || path.find('/', layer + 1) == std::string_view::npos || room_of(path) != nullptr) return {};
  return {{std::string(path), "is in no room; give its folder a row in tests/architecture/rules.cpp"}};
}

namespace {

std::vector<std::string> cited_files(std::string_view comment) {
  std::vector<std::string> cited;
  for (std::size_t at = 0; at < comment.size(); ++at) {
    const bool begins = at == 0 || comment[at - 1] == ' ' || comment[at - 1] == '(' || comment[at - 1] == '`';
    if (!begins || !is_below_any(comment.substr(at), cited_folders)) continue;
    std::size_t end = at;
    while (end < comment.size() && (is_word(comment[end]) || std::string_view("/.-").find(comment[end]) != std::string_view::npos))
      ++end;
    const bool is_pattern = end < comment.size() && std::string_view("*<{").find(comment[end]) != std::string_view::npos;
    while (end > at && (comment[end - 1] == '.' || comment[end - 1] == '/')) --end;
    if (!is_pattern) cited.emplace_back(comment.substr(at, end - at));
  }
  return cited;
}

}  // namespace

Problems citation_problems(std::string_view path, std::string_view text, const FileExists& exists) {
  Problems problems;
  int number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t begins = line.find("// ");
    if (begins == std::string_view::npos || line.find('"') < begins) continue;  // within a string, perhaps
    const std::string_view comment = line.substr(begins + 3);
    for (const std::string& file : cited_files(comment))
      if (!exists(file)) problems.push_back({place(path, number), file + " is cited, and is not in the repository"});
    for (const std::string_view page : pages_elsewhere)
      if (has_word(comment, page))
        problems.push_back({place(path, number), std::string(page) + " is not a page of the repository; cite one, or a source"});
  }
  return problems;
}

Problems size_problems(std::string_view path, std::string_view text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines <= line_limit) return {};
  return {{std::string(path), std::to_string(lines) + " lines; split it by subject, the limit is 500"}};
}

Problems folder_problems(std::string_view folder, int files) {
  const auto is_in = [folder](std::string_view data) {
    return folder.starts_with(data) && (folder.size() == data.size() || folder[data.size()] == '/');
  };
  if (files <= file_limit || std::any_of(data_folders.begin(), data_folders.end(), is_in)) return {};
  return {{std::string(folder), std::to_string(files) + " files; sort them into folders by subject, the limit is " +
                                    std::to_string(file_limit)}};
}

}  // namespace pdsim::architecture
