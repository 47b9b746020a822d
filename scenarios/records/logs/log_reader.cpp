#include "scenarios/records/logs/log_reader.h"

#include "core/record/record_check.h"
#include "scenarios/records/logs/block_reader.h"
#include "scenarios/records/logs/failed_processes.h"
#include "scenarios/records/logs/line_forms.h"
#include "scenarios/records/logs/line_prefix.h"
#include "scenarios/records/logs/line_text.h"
#include "scenarios/records/logs/ras_json.h"
#include "scenarios/records/logs/ras_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>
#include <utility>

namespace pdsim::scenarios::logs {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t piece = std::size_t{1} << 20;
constexpr std::size_t most_speakers = 8192;  // whose blocks are read at one time

// Returns the text after a progress bar on the same line: torch's own prefix stands in the middle.
std::string_view from_rank_prefix(std::string_view line) {
  const std::size_t at = line.find("[rank", 1);
  if (at == std::string_view::npos) return line;
  const std::string_view rest = line.substr(at);
  const std::size_t end = rest.find("]:");
  return end < 16 && leading_number(rest.substr(5)) ? rest : line;
}

// === Rank 3: http://host:41234 ===
std::optional<Rank> section_rank(std::string_view line) {
  if (!line.starts_with("=== Rank ") || !trimmed(line).ends_with("===")) return std::nullopt;
  const auto number = leading_number(line.substr(9));
  if (!number || *number < 0 || *number >= most_recorded_ranks) return std::nullopt;
  return static_cast<Rank>(*number);
}

class Reader {
 public:
  explicit Reader(LogFacts& out) : out_(out) {}

  void begin_file(int file, Rank named) {
    file_ = file;
    named_ = named;
    section_ = no_rank;
    line_ = 0;
    prefixes_ = {};
    desync_seq_ = -1;
    last_at_.reset();
  }
  void line(std::string_view text) {
    ++line_;
    ++out_.lines;
    if (const std::optional<Rank> rank = section_rank(text)) {
      end_blocks();
      section_ = *rank;
      see(*rank, std::nullopt);
      return;
    }
    PrefixedLine parts = prefixes_.read(text);
    if (parts.rank == no_rank && parts.text.size() == text.size())
      if (const std::string_view rest = from_rank_prefix(text); rest.size() != text.size())
        parts = prefixes_.read(rest);
    if (parts.is_beyond) {
      ++out_.lines_beyond;
      return;
    }
    const Rank rank = rank_of(parts);
    if (parts.at_ns) last_at_ = parts.at_ns;
    if (rank != no_rank) see(rank, parts.at_ns);
    if (parts.group_rank != no_rank) note_group(rank, parts);
    const bool headed = parts.at_ns.has_value() || !parts.group.empty();
    for (BlockReader::Block& block : reader_of(rank).read(parts.text, headed, line_))
      add(rank, parts, std::move(block.body), block.at_ns, block.line);
    if (std::optional<RasReport> said = ras_.read(parts.text)) add(no_rank, {}, std::move(*said), std::nullopt, line_);
    std::optional<FactBody> fact = fact_of_line(parts.text);
    if (!fact) return;
    add_line(rank, parts, std::move(*fact));
  }
  // A file that is one document of NCCL's RAS service.
  void ras_document(std::vector<RasReport> reports) {
    line_ = 1;
    for (RasReport& report : reports) add(no_rank, {}, std::move(report), std::nullopt, line_);
  }
  void end_file() {
    end_blocks();
    if (std::optional<RasReport> said = ras_.finish()) add(no_rank, {}, std::move(*said), std::nullopt, line_);
    ras_ = {};
  }

 private:
  Rank rank_of(const PrefixedLine& line) {
    if (line.rank != no_rank) return line.rank;
    if (line.local_rank != no_rank) {
      if (const std::optional<Rank> global = prefixes_.global_rank(line.local_rank)) return *global;
      if (named_ != no_rank) return named_;
      if (local_file_ < 0) local_file_ = file_;
      if (local_file_ == file_) return line.local_rank;
      out_.unplaced_local_ranks = true;
      return no_rank;
    }
    if (section_ != no_rank) return section_;
    if (named_ != no_rank) return named_;
    return is_default_group(line) ? line.group_rank : no_rank;
  }
  static bool is_default_group(const PrefixedLine& line) {
    return line.group == "0" || line.group_desc == "default_pg";
  }

  // Notes a rank's place in a group from a line. The [Rank 3] of a call that timed out is that of the group whose calls the
  // process logged first.
  void note_group(Rank rank, const PrefixedLine& line) {
    if (is_default_group(line)) return;
    if (line.group.empty() && rank == no_rank) {
      RankSeen& seen = out_.unnamed_ranks[line.group_rank];
      if (seen.lines++ == 0) seen.file = file_;
      seen.last_line = line_;
    } else if (line.group.empty()) {
      out_.shows_subgroups = out_.shows_subgroups || rank != line.group_rank;
    } else if (const std::string name = clipped(line.group, 80);
               out_.groups.size() < most_named_groups || out_.groups.count(name) != 0) {
      GroupRanks& group = out_.groups[name];
      if (rank != no_rank) group.add(line.group_rank, rank);
      out_.shows_subgroups = out_.shows_subgroups || rank != line.group_rank;
    }
  }

  void see(Rank rank, std::optional<std::int64_t> at_ns) { out_.see(rank, file_, line_, at_ns); }

  BlockReader& reader_of(Rank rank) {
    if (readers_.size() >= most_speakers && readers_.count(rank) == 0) return readers_[no_rank];
    return readers_[rank];
  }

  void end_blocks() {
    for (auto& [rank, reader] : readers_)
      for (BlockReader::Block& block : reader.finish()) add(rank, {}, std::move(block.body), block.at_ns, block.line);
    readers_.clear();
  }

  // A snapshot of the desync report says its number in one line and the ranks in the next.
  void add_line(Rank rank, const PrefixedLine& parts, FactBody body) {
    if (auto* state = std::get_if<DesyncState>(&body)) {
      if (state->in_group.empty()) {
        desync_seq_ = state->seq;
        return;
      }
      if (state->seq < 0) state->seq = desync_seq_;
      if (state->seq < 0) return;
    }
    add(rank, parts, std::move(body), std::nullopt, line_);
  }

  void add(Rank rank, const PrefixedLine& parts, FactBody body, std::optional<std::int64_t> at_ns, std::int64_t line) {
    if (auto* failed = std::get_if<ProcessFailed>(&body)) {
      if (failed->rank == no_rank && failed->local_rank != no_rank)
        failed->rank = prefixes_.global_rank(failed->local_rank).value_or(no_rank);
      rank = failed->rank;
      if (rank != no_rank) see(rank, std::nullopt);
    }
    auto& alike = alike_[std::tuple(rank, parts.group_rank, body.index(), std::string(parts.group))];
    if (out_.facts.size() >= most_facts || ++alike > most_alike) {
      ++out_.more_facts;
      return;
    }
    Fact fact;
    fact.rank = rank;
    fact.group_rank = parts.group_rank;
    fact.group = clipped(parts.group, 80);
    fact.group_desc = clipped(parts.group_desc, 80);
    fact.file = file_;
    fact.line = line;
    fact.at_ns = at_ns ? at_ns : parts.at_ns ? parts.at_ns : last_at_;
    fact.body = std::move(body);
    out_.facts.push_back(std::move(fact));
  }

  LogFacts& out_;
  int file_ = 0, local_file_ = -1;
  Rank named_ = no_rank, section_ = no_rank;
  std::int64_t line_ = 0;
  Seq desync_seq_ = -1;
  std::optional<std::int64_t> last_at_;
  PrefixReader prefixes_;
  std::map<Rank, BlockReader> readers_;
  RasReader ras_;
  std::map<std::tuple<Rank, Rank, std::size_t, std::string>, std::size_t> alike_;
};

// Cuts a text that comes in pieces into lines, of which most_line bytes are kept.
class LineCutter {
 public:
  LineCutter(Reader& reader, LogFacts& out) : reader_(reader), out_(out) {}
  void take(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = text.find_first_of("\n\r");
      const std::string_view part = text.substr(0, end);
      const std::size_t room = most_line - std::min(most_line, line_.size());
      line_.append(part.substr(0, room));
      is_cut_ = is_cut_ || part.size() > room;
      if (end == std::string_view::npos) return;
      flush();
      text.remove_prefix(end + 1);
    }
  }
  void flush() {
    if (!line_.empty()) reader_.line(line_);
    if (line_.empty()) reader_.line("");
    if (is_cut_) ++out_.cut_lines;
    is_cut_ = false;
    line_.clear();
  }
  void finish() {
    if (!line_.empty()) flush();
  }

 private:
  Reader& reader_;
  LogFacts& out_;
  std::string line_;
  bool is_cut_ = false;
};

// Whether the text was one document, read or refused; else it is read line by line.
bool take_document(std::string_view text, Reader& reader, std::string& problem) {
  if (!looks_like_ras_json(text.substr(0, 4096))) return false;
  if (std::optional<std::vector<RasReport>> reports = read_ras_json(text, problem)) reader.ras_document(std::move(*reports));
  return true;
}

bool is_document(std::ifstream& file) {
  std::string beginning(4096, '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(static_cast<std::size_t>(file.gcount()));
  file.clear();
  file.seekg(0);
  return looks_like_ras_json(beginning);
}

bool read_file(const std::string& path, Reader& reader, LineCutter& lines, std::string& problem) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) {
    problem = "it is not a regular file";
    return false;
  }
  std::ifstream file(path, std::ios::binary);
  if (is_document(file)) {
    std::string text(most_ras_json + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    take_document(text, reader, problem);
    return problem.empty();
  }
  std::string buffer(piece, '\0');
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    lines.take(std::string_view(buffer.data(), static_cast<std::size_t>(file.gcount())));
  }
  if (!file.eof()) problem = "it cannot be read";
  return file.eof();
}

// The numbers in a path, each with what surrounds it.
std::vector<std::pair<std::string, Rank>> numbers_of_path(const std::string& path) {
  std::vector<std::pair<std::string, Rank>> numbers;
  for (std::size_t at = 0; at < path.size();) {
    if (std::isdigit(static_cast<unsigned char>(path[at])) == 0) {
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < path.size() && std::isdigit(static_cast<unsigned char>(path[end])) != 0) ++end;
    const auto number = leading_number(std::string_view(path).substr(at, end - at));
    if (number && *number >= 0 && *number < most_recorded_ranks)
      numbers.emplace_back(path.substr(0, at) + "#" + path.substr(end), static_cast<Rank>(*number));
    at = end;
  }
  return numbers;
}

// rank_3.log, rank3.out, RANK-3
Rank rank_after_word(const std::string& path) {
  std::string name = fs::path(path).filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t at = name.rfind("rank");
  if (at == std::string::npos) return no_rank;
  const std::size_t digits = name.find_first_not_of("_-.=", at + 4);
  if (digits == std::string::npos) return no_rank;
  const std::vector<Rank> ranks = ranks_in(std::string_view(name).substr(digits));
  return ranks.empty() ? no_rank : ranks.front();
}

}  // namespace

void LogFacts::see(Rank rank, int file, std::int64_t line, std::optional<std::int64_t> at_ns) {
  RankSeen& seen = ranks[rank];
  if (seen.lines++ == 0) seen.file = file;
  seen.last_line = line;
  if (at_ns) seen.last_at_ns = at_ns;
}

std::vector<Rank> ranks_of_names(const std::vector<std::string>& paths) {
  std::vector<Rank> ranks(paths.size(), no_rank);
  std::map<std::string, std::set<Rank>> by_shape;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    ranks[i] = rank_after_word(paths[i]);
    for (const auto& [shape, number] : numbers_of_path(paths[i])) by_shape[shape].insert(number);
  }
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (ranks[i] != no_rank || paths.size() < 2) continue;
    std::size_t most = 1;
    for (const auto& [shape, number] : numbers_of_path(paths[i]))
      if (by_shape[shape].size() > most) {
        most = by_shape[shape].size();
        ranks[i] = number;
      }
  }
  return ranks;
}

LogFacts read_logs(const std::vector<std::string>& paths) {
  LogFacts out;
  out.files.assign(paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(std::min(paths.size(), most_log_files)));
  if (paths.size() > most_log_files)
    out.left_out.add(fmt::format("all but the first {} of {} files", most_log_files, paths.size()));
  const std::vector<Rank> named = ranks_of_names(out.files);
  Reader reader(out);
  for (std::size_t i = 0; i < out.files.size(); ++i) {
    std::string problem;
    reader.begin_file(static_cast<int>(i), named[i]);
    LineCutter lines(reader, out);
    if (!read_file(out.files[i], reader, lines, problem)) out.left_out.add(fmt::format("{}: {}", out.files[i], problem));
    lines.finish();
    reader.end_file();
  }
  place_group_ranks(out);
  place_failed_processes(out);
  return out;
}

LogFacts read_log_texts(const std::vector<std::pair<std::string, std::string_view>>& texts) {
  LogFacts out;
  for (const auto& [name, text] : texts) out.files.push_back(name);
  const std::vector<Rank> named = ranks_of_names(out.files);
  Reader reader(out);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    reader.begin_file(static_cast<int>(i), named[i]);
    std::string problem;
    if (!take_document(texts[i].second, reader, problem)) {
      LineCutter lines(reader, out);
      lines.take(texts[i].second);
      lines.finish();
    }
    if (!problem.empty()) out.left_out.add(fmt::format("{}: {}", texts[i].first, problem));
    reader.end_file();
  }
  place_group_ranks(out);
  place_failed_processes(out);
  return out;
}

namespace {

// {'loss': 0.9} of a trainer, or {"loss": 0.9} with more lines of another kind behind it; each line of a flight record is an object with an event.
bool begins_with_values(std::string_view text) {
  if (text.starts_with("{'")) return true;
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos || text.substr(0, end).find("\"event\"") != std::string_view::npos) return false;
  const std::string_view next = trimmed(text.substr(end));
  return trimmed(text.substr(0, end)).ends_with('}') && !next.empty() && next.front() != '{';
}

}  // namespace

bool looks_like_log(std::string_view beginning) {
  const std::string_view text = trimmed(beginning);
  if (looks_like_ras_json(beginning)) return true;
  if (text.empty() || text.front() == '\x80' || (text.front() == '{' && !begins_with_values(text))) return false;
  const auto is_text = [](unsigned char c) {
    return c >= 0x20 || c == '\n' || c == '\r' || c == '\t' || c == 0x1b || c == 0;
  };
  const auto texts = std::count_if(beginning.begin(), beginning.end(), is_text);
  return static_cast<std::size_t>(texts) * 10 >= beginning.size() * 9 && beginning.find('\n') != std::string_view::npos;
}

}  // namespace pdsim::scenarios::logs
