// Words of a command line and of scenario files: times, sizes, rates, shares, and init methods.
#include "core/base/quantity.h"
#include "core/store/rendezvous_url.h"
#include "tests/fuzz/target.h"

using namespace pdsim;

namespace {

template <class Quantity>
void print(const Result<Quantity>& value) {
  if (value.ok()) PDSIM_CHECK(!to_string(*value).empty(), "a quantity that was read can be shown");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  print(parse_time(text));
  print(parse_bytes(text));
  print(parse_rate(text));
  print(parse_ppm(text));
  static_cast<void>(parse_flops(text));
  static_cast<void>(parse_flop_rate(text));
  static_cast<void>(parse_host_port(text, "tcp"));
  static_cast<void>(parse_init_method({text, {}, {}}, {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", text}}));
  return 0;
}
