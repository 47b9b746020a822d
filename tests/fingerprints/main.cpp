#include "core/base/fingerprint.h"
#include "tests/fingerprints/fingerprints.h"

#include <array>
#include <cstdio>
#include <string>
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
  const std::string leak = argc > 1 ? argv[1] : "";
  if (leak.empty())
    for (const Case& c : cases) print(c.name, c.run());
  for (const pdsim::fingerprints::Line& line : pdsim::fingerprints::simulations(leak)) print(line.name, line.value);
}
