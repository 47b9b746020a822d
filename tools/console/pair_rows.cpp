#include "tools/console/pair_rows.h"

#include "tools/console/heat_map.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace pdsim::tools {
namespace {

using Json = nlohmann::ordered_json;
using scenarios::LinkClass;
using scenarios::TimedPairs;

constexpr int ranks_in_rows = 8;         // of more, classes are shown
constexpr std::size_t links_named = 12;  // of slow ones

std::string trimmed(std::string line) { return line.substr(0, line.find_last_not_of(' ') + 1) + "\n"; }

std::string bandwidth_text(const LinkFit& fit) { return has_bandwidth(fit) ? to_string(fit.bandwidth) : "not seen"; }

std::string times_and_fit(const std::vector<Time>& times, const LinkFit& fit) {
  std::string text;
  for (const Time time : times) text += fmt::format("{:>10}", to_string(time));
  return text + fmt::format("{:>12}{:>14}", to_string(fit.latency), bandwidth_text(fit));
}

bool is_slow(const PairTimes& pair) { return pair.slowness >= slow_link; }

// " (gpu07)", " (gpu07 and gpu12)"; empty where all ranks are on one host.
std::string hosts_text(const TimedPairs& timed, const std::vector<Rank>& ranks) {
  if (timed.hosts.empty()) return {};
  std::string text;
  for (const Rank rank : ranks)
    text += fmt::format("{}{}", text.empty() ? "" : " and ", timed.hosts[static_cast<std::size_t>(rank)]);
  return fmt::format(" ({})", text);
}

std::string row_of(const TimedPairs& timed, const PairTimes& pair) {
  std::string line = fmt::format("{:<10}", fmt::format("{} {}", pair.a, pair.b)) + times_and_fit(pair.one_way, pair.fit);
  if (is_slow(pair))
    line += fmt::format("  slow: {:.1f} times the median{}", pair.slowness, hosts_text(timed, {pair.a, pair.b}));
  return trimmed(line);
}

Json bandwidth_json(const LinkFit& fit) {
  return has_bandwidth(fit) ? Json(static_cast<double>(fit.bandwidth.bytes_per_s) / 1e9) : Json();
}

Json times_json(const TimedPairs& timed, const std::vector<Time>& times) {
  Json list = Json::array();
  for (std::size_t i = 0; i < times.size(); ++i) list.push_back({{"bytes", timed.bytes[i]}, {"one_way_us", times[i].us()}});
  return list;
}

// Ranks with more slow links than others.
std::vector<Rank> slow_ranks(int ranks, const TimedPairs& timed) {
  std::vector<int> slow(static_cast<std::size_t>(ranks)), all(slow);
  for (const PairTimes& pair : timed.pairs)
    for (const Rank rank : {pair.a, pair.b}) {
      ++all[static_cast<std::size_t>(rank)];
      slow[static_cast<std::size_t>(rank)] += is_slow(pair) ? 1 : 0;
    }
  std::vector<Rank> found;
  for (Rank rank = 0; rank < ranks; ++rank) {
    const auto place = static_cast<std::size_t>(rank);
    if (all[place] > 1 && 2 * slow[place] > all[place]) found.push_back(rank);
  }
  return found;
}

}  // namespace

bool has_bandwidth(const LinkFit& fit) { return fit.bandwidth.bytes_per_s > 0; }

std::string pairs_text(const std::string& world, int ranks, const TimedPairs& timed) {
  const bool in_rows = ranks <= ranks_in_rows, classes = !in_rows || timed.classes.size() > 1;
  std::string text = fmt::format("links of {}, {} ranks: a message one way\n\n", world, ranks);
  std::string heads;
  for (const std::int64_t bytes : timed.bytes) heads += fmt::format("{:>10}", to_string(Bytes{bytes}));
  heads += fmt::format("{:>12}{:>14}", "latency", "bandwidth");
  if (in_rows) {
    text += fmt::format("{:<10}{}\n", "ranks", heads);
    for (const PairTimes& pair : timed.pairs) text += row_of(timed, pair);
  }
  if (classes) {
    text += fmt::format("{}{:<12}{:>8}{}\n", in_rows ? "\n" : "", "medians of", "links", heads);
    for (const LinkClass& link : timed.classes)
      text += fmt::format("{:<12}{:>8}{}\n", link.name, link.pairs, times_and_fit(link.median, link.fit));
  }
  if (in_rows) return text;
  return text + "\n" + slow_links(ranks, timed) +
         fmt::format("\neach cell: the slowest of its links, as a multiple of the median of its class: . 1.25  - 1.5  + {0}  # {1}  @ more\n{2}",
                     slow_link, 2 * slow_link, heat_text(ranks, timed.pairs));
}

std::string slow_links(int ranks, const TimedPairs& timed) {
  const std::vector<Rank> whole = slow_ranks(ranks, timed);
  const auto is_whole = [&whole](Rank rank) { return std::binary_search(whole.begin(), whole.end(), rank); };
  std::vector<const PairTimes*> single;
  for (const PairTimes& pair : timed.pairs)
    if (is_slow(pair) && !is_whole(pair.a) && !is_whole(pair.b)) single.push_back(&pair);
  if (whole.empty() && single.empty()) return "no link is slow\n";
  std::stable_sort(single.begin(), single.end(),
                   [](const PairTimes* x, const PairTimes* y) { return x->slowness > y->slowness; });
  std::string text;
  for (std::size_t i = 0; i < whole.size() && i < links_named; ++i)
    text += fmt::format("slow: most links of rank {}{}; look at its port, its cable and its node\n", whole[i],
                        hosts_text(timed, {whole[i]}));
  if (whole.size() > links_named) text += fmt::format("slow: most links of {} more ranks\n", whole.size() - links_named);
  for (std::size_t i = 0; i < single.size() && i < links_named; ++i)
    text += fmt::format("slow: ranks {} and {}{}, {:.1f} times the median of `{}`\n", single[i]->a, single[i]->b,
                        hosts_text(timed, {single[i]->a, single[i]->b}), single[i]->slowness, timed.classes[static_cast<std::size_t>(single[i]->link_class)].name);
  if (single.size() > links_named) text += fmt::format("slow: {} more links; --json lists them\n", single.size() - links_named);
  return text;
}

std::string pairs_json(const TimedPairs& timed) {
  std::string text;
  for (const PairTimes& pair : timed.pairs) {
    Json line{{"version", validate_json_version}, {"pair", {pair.a, pair.b}}};
    if (!timed.hosts.empty())
      line["hosts"] = {timed.hosts[static_cast<std::size_t>(pair.a)], timed.hosts[static_cast<std::size_t>(pair.b)]};
    line["class"] = timed.classes[static_cast<std::size_t>(pair.link_class)].name;
    line["latency_us"] = pair.fit.latency.us();
    line["bandwidth_GBps"] = bandwidth_json(pair.fit);
    line["slowness"] = pair.slowness;
    line["slow"] = is_slow(pair);
    line["times"] = times_json(timed, pair.one_way);
    text += line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  for (const LinkClass& link : timed.classes)
    text += Json{{"version", validate_json_version},
                 {"class", link.name},
                 {"links", link.pairs},
                 {"latency_us", link.fit.latency.us()},
                 {"bandwidth_GBps", bandwidth_json(link.fit)},
                 {"median", times_json(timed, link.median)}}
                .dump() +
            "\n";
  return text;
}

}  // namespace pdsim::tools
