#include "scenarios/records/live/debug_pages.h"

#include "core/record/record_check.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace pdsim::scenarios::live {
namespace {

constexpr std::string_view heading = "<h2>Rank ", text_begin = "<pre>", text_end = "</pre>",
                           failure = "<p>Failed to fetch";

std::optional<Rank> rank_at(std::string_view text) {
  Rank rank = no_rank;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (read.ec != std::errc() || rank < 0 || rank >= most_recorded_ranks) return std::nullopt;
  return rank;
}

struct Entity {
  std::string_view written, character;
};
constexpr std::array entities{Entity{"&lt;", "<"},    Entity{"&gt;", ">"},  Entity{"&#34;", "\""},
                              Entity{"&quot;", "\""}, Entity{"&#39;", "'"}, Entity{"&amp;", "&"}};

std::string unescaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t at = std::min(text.find('&'), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    const auto* const entity =
        std::find_if(entities.begin(), entities.end(), [&](const Entity& e) { return text.starts_with(e.written); });
    out += entity == entities.end() ? text.substr(0, 1) : entity->character;
    text.remove_prefix(entity == entities.end() ? 1 : entity->written.size());
  }
  return out;
}

// A page whose texts are escaped has no bare quote in them.
std::string text_of_page(std::string_view text) {
  const bool is_escaped = text.find("&#34;") != std::string_view::npos ||
                          text.find("&#39;") != std::string_view::npos || text.find("&quot;") != std::string_view::npos;
  return is_escaped ? unescaped(text) : std::string(text);
}

}  // namespace

std::vector<RankText> ranks_of_page(std::string_view html) {
  std::vector<RankText> ranks;
  std::size_t at = html.find(heading);
  while (at != std::string_view::npos) {
    const std::size_t next = html.find(heading, at + heading.size());
    const std::string_view part =
        html.substr(at + heading.size(), next == std::string_view::npos ? next : next - at - heading.size());
    at = next;
    const std::optional<Rank> rank = rank_at(part);
    const std::size_t colon = part.find(": "), line_end = part.find("</h2>");
    if (!rank || colon == std::string_view::npos || line_end == std::string_view::npos || colon > line_end) continue;
    RankText found;
    found.rank = *rank;
    found.address = std::string(part.substr(colon + 2, line_end - colon - 2));
    const std::size_t path = found.address.find("/handler/");
    found.address = found.address.substr(0, path);
    const std::size_t begin = part.find(text_begin, line_end), end = part.rfind(text_end);
    found.failed = part.substr(0, begin).find(failure) != std::string_view::npos;
    if (begin != std::string_view::npos && end != std::string_view::npos && end >= begin + text_begin.size())
      found.text = text_of_page(part.substr(begin + text_begin.size(), end - begin - text_begin.size()));
    ranks.push_back(std::move(found));
  }
  return ranks;
}

std::map<Rank, std::string> workers_of_store_page(std::string_view html) {
  std::map<Rank, std::string> workers;
  const std::string page = text_of_page(html);
  const std::string_view text = page;
  constexpr std::string_view key = "debug_server/rank";
  for (std::size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const std::string_view line = text.substr(at + key.size(), text.find('\n', at) - at - key.size());
    const std::optional<Rank> rank = rank_at(line);
    const std::size_t begin = line.find("http://");
    if (!rank || begin == std::string_view::npos) continue;
    const std::string_view address = line.substr(begin);
    workers.try_emplace(*rank, address.substr(0, address.find_first_of("'\" <")));
  }
  return workers;
}

}  // namespace pdsim::scenarios::live
