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
    Library{"cpuid.h", {"core/collectives/"}, true},
    Library{"immintrin.h", {"core/collectives/"}, true},
    Library{"sys/mman.h", {"sim/stacks.cpp", "backends/local/shared_memory.cpp"}, true},
    Library{"sanitizer/", {"sim/stacks.cpp"}, true},
    Library{"gloo/", {"backends/gloo/", "tests/unit/gloo/"}, false},
    Library{"mpi.h", {"backends/mpi/"}, false},
    Library{"nccl.h", {"backends/nccl/"}, false},
    Library{"cuda", {"backends/nccl/"}, false},
    Library{"yaml-cpp/", {"scenarios/engine/"}, true},
    Library{"nlohmann/", {"backends/", "scenarios/", "tools/", "tests/"}, true},
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

// Plants the leaks that the determinism check must find, so it needs what is forbidden everywhere else.
constexpr std::string_view planted_leaks = "sim/leaks.cpp";

// The base class of Boost.Fiber's algorithms has this in a signature; virtual time never calls it.
constexpr std::string_view required_signature = "void suspend_until(const std::chrono::steady_clock::time_point&)";

constexpr int line_limit = 500;

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

// "backends/gloo/" of "backends/gloo/device.h"; empty for a file that is in no folder of backends.
std::string_view backend_folder(std::string_view path) {
  constexpr std::string_view backends = "backends/";
  if (!path.starts_with(backends)) return {};
  const std::size_t slash = path.find('/', backends.size());
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash + 1);
}

std::string project_include_problem(std::string_view path, std::string_view header) {
  const auto* layer =
      std::find_if(layers.begin(), layers.end(), [&](const Layer& l) { return path.starts_with(l.folder); });
  if (layer == layers.end()) return {};
  if (!is_below_any(header, layer->may_include))
    return std::string(layer->folder) + " must not include " + std::string(header);
  const std::string_view from = backend_folder(path), to = backend_folder(header);
  if (!from.empty() && !to.empty() && from != to && to != "backends/local/")
    return std::string(from) + " must not include " + std::string(header) + ": backends do not know each other";
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
    if (!line.starts_with(include) || line.size() < include.size() + 2 || path == planted_leaks) return;
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
  if ((!path.starts_with("core/") && !path.starts_with("sim/")) || path == planted_leaks) return problems;
  for_each_line(text, [&](int number, std::string_view line) {
    if (line.find(required_signature) != std::string_view::npos) return;
    for (const std::string_view word : forbidden_words)
      if (has_word(line, word)) problems.push_back({place(path, number), std::string(word) + " is not deterministic"});
  });
  return problems;
}

Problems size_problems(std::string_view path, std::string_view text) {
  const auto lines = std::count(text.begin(), text.end(), '\n');
  if (lines <= line_limit) return {};
  return {{std::string(path), std::to_string(lines) + " lines; split it by subject, the limit is 500"}};
}

}  // namespace pdsim::architecture
