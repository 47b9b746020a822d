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

}  // namespace

int main() {
  for (const Case& c : cases) {
    const std::string text = pdsim::fingerprint_text(c.run());
    std::printf("%.*s %s\n", static_cast<int>(c.name.size()), c.name.data(), text.c_str());
  }
}
