#include "core/base/quantity.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace pdsim {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t scale;  // base units per one of these
};

constexpr std::array<Unit, 6> time_units{{{"ns", 1'000},
                                          {"us", 1'000'000},
                                          {"ms", 1'000'000'000},
                                          {"s", 1'000'000'000'000},
                                          {"min", 60'000'000'000'000},
                                          {"ps", 1}}};
constexpr std::array<Unit, 7> size_units{{{"B", 1},
                                          {"kB", 1'000},
                                          {"MB", 1'000'000},
                                          {"GB", 1'000'000'000},
                                          {"KiB", 1 << 10},
                                          {"MiB", 1 << 20},
                                          {"GiB", 1 << 30}}};
constexpr std::array<Unit, 7> rate_units{{{"kB/s", 1'000},
                                          {"MB/s", 1'000'000},
                                          {"GB/s", 1'000'000'000},
                                          {"MiB/s", 1 << 20},
                                          {"GiB/s", 1 << 30},
                                          {"Mbit/s", 125'000},
                                          {"Gbit/s", 125'000'000}}};
constexpr std::array<Unit, 6> flop_units{{{"FLOP", 1},
                                          {"kFLOP", 1'000},
                                          {"MFLOP", 1'000'000},
                                          {"GFLOP", 1'000'000'000},
                                          {"TFLOP", 1'000'000'000'000},
                                          {"PFLOP", 1'000'000'000'000'000}}};
constexpr std::array<Unit, 4> flop_rate_units{{{"MFLOP/s", 1'000'000},
                                               {"GFLOP/s", 1'000'000'000},
                                               {"TFLOP/s", 1'000'000'000'000},
                                               {"PFLOP/s", 1'000'000'000'000'000}}};
constexpr std::array<Unit, 1> ppm_units{{{"ppm", 1}}};

Error not_a(std::string_view what, std::string_view text, std::string_view right) {
  return {Code::input_invalid, fmt::format("`{}` is not {}", text, what), {{"help", std::string(right)}}};
}

// value * scale for a decimal text, exactly; nullopt when it is not a plain decimal or does not fit.
std::optional<std::int64_t> scaled_decimal(std::string_view digits, std::int64_t scale) {
  Wide value = 0;
  Wide divisor = 1;
  bool point = false;
  bool any = false;
  for (const char c : digits) {
    if (c == '.') {
      if (point || !any) return std::nullopt;
      point = true;
      any = false;
      continue;
    }
    if (c < '0' || c > '9') return std::nullopt;
    any = true;
    value = value * 10 + static_cast<unsigned>(c - '0');
    if (point) divisor *= 10;
    if (value > (Wide{1} << 63) || divisor > 1'000'000'000'000'000) return std::nullopt;
  }
  if (!any) return std::nullopt;
  const Wide result = value * static_cast<Wide>(scale) / divisor;
  if (result >= (Wide{1} << 63)) return std::nullopt;
  return static_cast<std::int64_t>(result);
}

Result<std::int64_t> parse(std::string_view text, std::span<const Unit> units, std::string_view what,
                           std::string_view right) {
  const std::size_t end = text.find_first_not_of("0123456789.");
  const std::string_view digits = text.substr(0, end);
  const std::string_view unit = end == std::string_view::npos ? "" : text.substr(end);
  for (const Unit& u : units) {
    if (u.name != unit) continue;
    if (digits.size() > 1 && digits[0] == '0' && digits[1] != '.') break;
    if (const auto value = scaled_decimal(digits, u.scale)) return *value;
    break;
  }
  return not_a(what, text, right);
}

// The largest unit in which the value is at least 1, with at most four significant digits.
std::string with_unit(std::int64_t value, std::span<const Unit> ascending) {
  const Unit* best = &ascending.front();
  for (const Unit& u : ascending)
    if (value >= u.scale) best = &u;
  const double in_unit = static_cast<double>(value) / static_cast<double>(best->scale);
  const int decimals = in_unit >= 1000 ? 0 : in_unit >= 100 ? 1 : in_unit >= 10 ? 2 : 3;
  std::string number = fmt::format("{:.{}f}", in_unit, decimals);
  if (number.find('.') != std::string::npos) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') number.pop_back();
  }
  return number + std::string(best->name);
}

constexpr std::array<Unit, 6> print_times{{{"ps", 1},
                                           {"ns", 1'000},
                                           {"us", 1'000'000},
                                           {"ms", 1'000'000'000},
                                           {"s", 1'000'000'000'000},
                                           {"min", 60'000'000'000'000}}};
constexpr std::array<Unit, 4> print_binary{{{"B", 1}, {"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}}};
constexpr std::array<Unit, 4> print_decimal{{{"B", 1}, {"kB", 1'000}, {"MB", 1'000'000}, {"GB", 1'000'000'000}}};
constexpr std::array<Unit, 4> print_rates{{{"B/s", 1}, {"kB/s", 1'000}, {"MB/s", 1'000'000}, {"GB/s", 1'000'000'000}}};

}  // namespace

Time transfer_time(Bytes size, Rate rate) {
  if (rate.bytes_per_s == 0 || size.count == 0) return {};
  constexpr std::int64_t narrow = 9'000'000;  // bytes whose picoseconds at 1 B/s, and a rounding, fit into 63 bits
  if (size.count > 0 && size.count < narrow && rate.bytes_per_s > 0) {
    const auto r = static_cast<std::uint64_t>(rate.bytes_per_s);
    const std::uint64_t ps = static_cast<std::uint64_t>(size.count) * 1'000'000'000'000ULL;
    return {static_cast<std::int64_t>((ps + r / 2) / r)};
  }
  const Wide ps = static_cast<Wide>(size.count) * 1'000'000'000'000ULL;
  const auto r = static_cast<Wide>(rate.bytes_per_s);
  return {static_cast<std::int64_t>((ps + r / 2) / r)};
}

Time working_time(Flops work, FlopRate speed) {
  if (speed.per_s == 0) return {};
  const Wide ps = static_cast<Wide>(work.count) * 1'000'000'000'000ULL;
  const auto s = static_cast<Wide>(speed.per_s);
  const Wide time = (ps + s / 2) / s;
  const auto most = static_cast<Wide>(Time::max().ps);
  return time < most ? Time{static_cast<std::int64_t>(time)} : Time::max();
}

Result<Time> parse_time(std::string_view text) {
  auto v = parse(text, time_units, "a duration", "write a number and a unit with no space: 5ns, 5us, 5ms, 5s, 5min");
  if (!v.ok()) return v.error();
  return Time{*v};
}

Result<Bytes> parse_bytes(std::string_view text) {
  auto v = parse(text, size_units, "a size", "write a number and a unit with no space: 64B, 64kB, 64KiB, 25MiB, 1GiB");
  if (!v.ok()) return v.error();
  return Bytes{*v};
}

Result<Rate> parse_rate(std::string_view text) {
  auto v = parse(text, rate_units, "a rate", "write a number and a unit with no space: 500MB/s, 25GB/s, 100Gbit/s");
  if (!v.ok()) return v.error();
  return Rate{*v};
}

Result<Ppm> parse_ppm(std::string_view text) {
  auto v = parse(text, ppm_units, "a drift", "write a number and ppm with no space: 20ppm");
  if (!v.ok()) return v.error();
  return Ppm{*v};
}

Result<Flops> parse_flops(std::string_view text) {
  auto v = parse(text, flop_units, "an amount of arithmetic",
                 "write a number and a unit with no space: 800MFLOP, 2.4GFLOP, 1.2TFLOP");
  if (!v.ok()) return v.error();
  return Flops{*v};
}

Result<FlopRate> parse_flop_rate(std::string_view text) {
  auto v = parse(text, flop_rate_units, "a speed of a device",
                 "write a number and a unit with no space: 500GFLOP/s, 19.5TFLOP/s");
  if (!v.ok()) return v.error();
  return FlopRate{*v};
}

std::string to_string(Time t) {
  if (t.ps < 0) return "-" + to_string(Time{-t.ps});
  if (t.ps == 0) return "0ns";
  return with_unit(t.ps, print_times);
}

std::string to_string(Bytes b) {
  const bool decimal = b.count >= 1000 && b.count % 1000 == 0 && b.count % 1024 != 0;
  return with_unit(b.count, decimal ? std::span<const Unit>(print_decimal) : std::span<const Unit>(print_binary));
}

std::string to_string(Rate r) { return with_unit(r.bytes_per_s, print_rates); }

std::string to_string(Ppm p) { return fmt::format("{}ppm", p.value); }

}  // namespace pdsim
