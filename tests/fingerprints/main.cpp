#include "core/base/fingerprint.h"
#include "tests/fingerprints/fingerprints.h"

#include <array>
#include <cstdio>
#include <string_view>

namespace {

struct Case {
  std::string_view name;
  std::uint64_t (*run)();
};

constexpr std::array cases{
    Case{"random-streams", pdsim::fingerprints::random_streams},
    Case{"half-conversions", pdsim::fingerprints::half_conversions},
    Case{"reductions", pdsim::fingerprints::reductions},
    Case{"training", pdsim::fingerprints::training},
};

void print(std::string_view name, std::uint64_t value) {
  std::printf("%.*s %s\n", static_cast<int>(name.size()), name.data(), pdsim::fingerprint_text(value).c_str());
}

}  // namespace

// The name of a planted leak as the only argument: then only the simulations, with it.
int main(int argc, char** argv) {
  const pdsim::planted::LeakRow* leak = argc > 1 ? pdsim::planted::leak_named(argv[1]) : nullptr;
  if (argc > 1 && leak == nullptr) {
    std::fprintf(stderr, "`%s` is not a planted leak\n", argv[1]);
    return 2;
  }
  if (leak == nullptr)
    for (const Case& c : cases) print(c.name, c.run());
  for (const pdsim::fingerprints::Line& line : pdsim::fingerprints::simulations(leak)) print(line.name, line.value);
}
