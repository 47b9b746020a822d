#include "tools/console/bench_rows.h"

#include "core/collectives/collective_shape.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sys/resource.h>

namespace pdsim::tools {
namespace {

std::int64_t bytes_of(const BenchTable& table, const TimingRequest& request, std::int64_t count) {
  return total_elements(request.kind, count, table.ranks) * static_cast<std::int64_t>(size_of(request.dtype));
}

struct Speed {
  std::int64_t bytes;
  double us, algbw, busbw;
};

Time time_shown(const BenchTable& table, const TimedRound& round) {
  using Average = NcclTestsFlags::Average;
  if (!table.shown) return round.whole;
  switch (*table.shown) {
    case Average::rank_0: return round.of_rank_0;
    case Average::mean: return round.average;
    case Average::fastest: return round.of_fastest;
    case Average::slowest: return round.of_slowest;
  }
  return round.average;
}

bool is_checked(const TimingRequest& request) { return request.moves_data && request.checks > 0; }

// `ring`, or `double_tree up to 64KiB, then ring`.
std::string chosen_text(const BenchTable& table, const TimingRequest& request) {
  std::string text;
  for (std::size_t i = 0; i < table.chosen.size() && i < table.counts.size(); ++i) {
    if (i + 1 < table.chosen.size() && table.chosen[i + 1] == table.chosen[i]) continue;
    if (!text.empty()) text += ", then ";
    text += table.chosen[i];
    if (i + 1 < table.chosen.size()) text += fmt::format(" up to {}", to_string(Bytes{bytes_of(table, request, table.counts[i])}));
  }
  return text;
}

Speed speed_of(const BenchTable& table, const TimingRequest& request, const TimedRound& round) {
  const std::int64_t bytes = bytes_of(table, request, round.count);
  const double us = time_shown(table, round).us();
  const double algbw = us > 0.0 ? static_cast<double>(bytes) / us / 1000.0 : 0.0;
  return {bytes, us, algbw, algbw * bus_factor(request.kind, table.ranks)};
}

std::string half(const BenchTable& table, const TimingRequest& request, const TimedRound* round) {
  if (round == nullptr) return fmt::format("{:>12} {:>8} {:>8} {:>7}", "-", "-", "-", "-");
  const Speed s = speed_of(table, request, *round);
  return fmt::format("{:>12.3f} {:>8.2f} {:>8.2f} {:>7}", s.us, s.algbw, s.busbw,
                     is_checked(request) ? std::to_string(round->wrong) : "N/A");
}

std::string op_name(const TimingRequest& request) {
  return row(request.kind).reduces ? std::string(name_of(request.op)) : "none";
}

nlohmann::ordered_json raw_list(const RawFunctions& functions, const TimedRound& round) {
  auto list = nlohmann::ordered_json::array();
  for (std::size_t form = 0; form < functions.size() && form < round.raw.size(); ++form) {
    const RawTime& raw = round.raw[form];
    list.push_back({{"function", functions[form]},
                    {"time_us", raw.median.us()},
                    {"least_us", raw.least.us()},
                    {"ratio", raw_ratio(round.average, raw.median)},
                    {"least_ratio", raw_ratio(round.least, raw.least)},
                    {"wrong", raw.wrong}});
  }
  return list;
}

std::string wall_time(double seconds) { return to_string(Time{static_cast<std::int64_t>(seconds * 1e12)}); }

// Three significant digits: 32.1 million, 184 thousand.
std::string rate_in_words(double per_s) {
  const bool millions = per_s >= 999.5e3, thousands = per_s >= 999.5;
  const double shown = per_s / (millions ? 1e6 : thousands ? 1e3 : 1.0);
  const std::string_view unit = millions ? " million" : thousands ? " thousand" : "";
  return fmt::format("{:.{}f}{}", shown, shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2, unit);
}

}  // namespace

std::int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) << 10;
}

std::string bench_header(const BenchTable& table, const TimingRequest& request) {
  std::string text = fmt::format("# {} {} on {}{}{}, {} ranks", name_of(request.kind), request.algorithm, table.world,
                                 table.version.empty() ? "" : " ", table.version, table.ranks);
  if (table.simulated) text += ", simulated time";
  if (!table.chosen.empty()) text += fmt::format("\n# {} takes {}", request.algorithm, chosen_text(table, request));
  const std::string names = fmt::format("{:>12} {:>8} {:>8} {:>7}", "time", "algbw", "busbw", "#wrong");
  const std::string units = fmt::format("{:>12} {:>8} {:>8} {:>7}", "(us)", "(GB/s)", "(GB/s)", "");
  const RawHeads raw = raw_heads(table.raw);
  text += fmt::format("\n#{:>11} {:>11} {:>4} {:>10} {:>4} {:^38} {:^38}{}\n", "", "", "", "", "", "out-of-place",
                      "in-place", raw.functions);
  text += fmt::format("#{:>11} {:>11} {:>4} {:>10} {:>4} {} {}{}\n", "size", "count", "type", "redop", "root", names,
                      names, raw.names);
  return text + fmt::format("#{:>11} {:>11} {:>4} {:>10} {:>4} {} {}{}\n", "(B)", "(elements)", "", "", "", units,
                            units, raw.units);
}

std::string bench_row(const BenchTable& table, const TimingRequest& request, const TimedRound& out_of_place,
                      const TimedRound* in_place) {
  const Speed s = speed_of(table, request, out_of_place);
  return fmt::format("{:>12} {:>11} {:>4} {:>10} {:>4} {} {}{}\n", s.bytes, out_of_place.count, name_of(request.dtype),
                     op_name(request), row(request.kind).rooted ? request.root : -1,
                     half(table, request, &out_of_place), half(table, request, in_place),
                     raw_columns(table.raw, out_of_place, in_place));
}

void BenchTotals::add(const BenchTable& table, const TimingRequest& request, const TimedRound& round) {
  wrong += round.wrong;
  busbw += speed_of(table, request, round).busbw;
  ++rows;
  checked += is_checked(request) ? 1 : 0;
  without_data += request.moves_data ? 0 : 1;
}

std::string bench_footer(const BenchTotals& totals, bool sizes_only) {
  const std::string verdict = totals.checked > 0 ? fmt::format("{} {}", totals.wrong, totals.wrong == 0 ? "OK" : "FAILED")
                                                 : "not checked";
  std::string text = fmt::format("# Out of bounds values : {}\n# Avg bus bandwidth    : {:g}\n", verdict,
                                 totals.rows > 0 ? totals.busbw / totals.rows : 0.0);
  if (totals.without_data > 0 && !sizes_only)
    text += fmt::format("# {} of {} calls moved sizes only, because their data take more than 1GiB, and were not checked\n",
                        totals.without_data, totals.rows);
  return text;
}

std::string bench_cost(const BenchTable& table, const BenchCost& total) {
  const std::int64_t peak = peak_rss_bytes();
  return fmt::format(
      "# {} messages in {}, {} a second ({} a CPU second); {} with starting and joining; peak memory {} MiB, {:.1f} KiB more for each "
      "rank\n\n",
      total.messages, wall_time(total.wall_s), rate_in_words(total.messages_in(total.wall_s)),
      rate_in_words(total.messages_in(total.cpu_s)), wall_time(total.run_wall_s), peak >> 20, static_cast<double>(peak - table.bytes_before) / 1024.0 / table.ranks);
}

std::string bench_json(const BenchTable& table, const TimingRequest& request, const TimedRound& round,
                       const BenchCost& cost) {
  const Speed s = speed_of(table, request, round);
  nlohmann::ordered_json line{{"version", bench_json_version},
                              {"world", table.world},
                              {"collective", name_of(request.kind)},
                              {"algorithm", request.algorithm},
                              {"dtype", name_of(request.dtype)},
                              {"op", op_name(request)},
                              {"ranks", table.ranks},
                              {"bytes", s.bytes},
                              {"count", round.count},
                              {"in_place", round.in_place},
                              {"payload", request.moves_data ? "real" : "none"}};
  for (std::size_t i = 0; i < table.chosen.size() && i < table.counts.size(); ++i)
    if (table.counts[i] == round.count) line["chosen"] = table.chosen[i];
  if (row(request.kind).rooted) line["root"] = request.root;
  line[table.simulated ? "simulated_us" : "time_us"] = s.us;
  line["algbw_GBps"] = s.algbw;
  line["busbw_GBps"] = s.busbw;
  if (table.simulated) {
    line["messages"] = cost.messages;
    line["wall_s"] = cost.wall_s;
    line["messages_per_s"] = cost.messages_in(cost.wall_s);
    line["cpu_s"] = cost.cpu_s;
    line["messages_per_cpu_s"] = cost.messages_in(cost.cpu_s);
    line["run_wall_s"] = cost.run_wall_s;
    line["peak_rss_bytes"] = peak_rss_bytes();
  }
  line["wrong"] = round.wrong;
  line["checked"] = is_checked(request);
  if (table.raw.empty()) return line.dump() + "\n";
  line["least_us"] = round.least.us();
  line["raw"] = raw_list(table.raw, round);
  std::string text = line.dump() + "\n";
  const double bytes_per_us = s.us > 0.0 ? static_cast<double>(s.bytes) : 0.0;
  for (std::size_t form = 0; form < line["raw"].size(); ++form) {
    nlohmann::ordered_json raw = line;
    const RawTime& time = round.raw[form];
    raw["algorithm"] = "raw";
    raw["function"] = table.raw[form];
    raw["time_us"] = time.median.us();
    raw["algbw_GBps"] = time.median > Time{} ? bytes_per_us / time.median.us() / 1000.0 : 0.0;
    raw["busbw_GBps"] = raw["algbw_GBps"].get<double>() * bus_factor(request.kind, table.ranks);
    raw["wrong"] = time.wrong;
    raw["least_us"] = time.least.us();
    raw.erase("raw");
    text += raw.dump() + "\n";
  }
  return text;
}

}  // namespace pdsim::tools
