#include "scenarios/records/logs/ras_reader.h"

#include "core/record/record_check.h"
#include "scenarios/records/logs/line_text.h"

#include <array>
#include <utility>

namespace pdsim::scenarios::logs {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  constexpr std::size_t most = 16;
  while (words.size() < most) {
    text = trimmed(text);
    if (text.empty()) break;
    const std::size_t end = std::min(text.find_first_of(" \t"), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return words;
}

bool is_number(std::string_view word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<Rank> rank_in(std::string_view text) {
  const auto number = leading_number(text);
  if (!number || *number < 0 || *number >= most_recorded_ranks) return std::nullopt;
  return static_cast<Rank>(*number);
}

// ... managed by process 483072 on node 172.16.64.210;  Process 483072 on node 172.16.64.210 managing GPU 3
RasMember process_in(std::string_view text) {
  RasMember member;
  member.pid = number_after(text, "rocess ").value_or(-1);
  member.host = clipped(text_after(text, " on node ", " ").value_or(""), 120);
  return member;
}

Seq launched_in(std::string_view text) {
  if (text.find("have not launched any operations") != std::string_view::npos ||
      text.find("has not launched any operations") != std::string_view::npos)
    return 0;
  const Seq launched = number_after(text, "launched up to operation ").value_or(-1);
  return launched < most_recorded_calls ? launched : -1;
}

}  // namespace

void RasReader::read_sizes(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (in_ == In::table && words.size() >= 8 && is_number(words[0]) && is_number(words[4])) {
    constexpr std::size_t most_groups = 4096;
    if (sizes_.size() < most_groups) sizes_[leading_number(words[0]).value_or(-1)] = leading_number(words[4]).value_or(-1);
  } else if (in_ == In::summary && (words.size() == 5 || words.size() == 3) && is_number(words.front()) &&
             is_number(words.back())) {
    gpus_ = leading_number(words.back()).value_or(-1);
  }
}

bool RasReader::read_heading(std::string_view text) {
  constexpr std::array<std::string_view, 3> of_job{"INCOMPLETE", "DEAD", "TIMEOUT"};
  for (const std::string_view word : of_job)
    if (text == word) {
      heading_ = word;
      communicator_.clear();
      size_ = -1;
      return true;
    }
  // #0-0 (27a079b828ff1a75) MISMATCH
  if (!text.starts_with("#")) return false;
  const auto group = leading_number(text.substr(1));
  const auto hash = text_after(text, " (", ")");
  const std::string_view word = text.substr(text.rfind(' ') + 1);
  if (!group || !hash || (word != "MISMATCH" && word != "INCOMPLETE" && word != "ERROR")) return false;
  heading_ = word;
  communicator_ = clipped(*hash, 32);
  const auto known = sizes_.find(*group);
  size_ = known == sizes_.end() ? -1 : known->second;
  return true;
}

std::optional<RasReport> RasReader::begin(RasReport next) {
  next.communicator = communicator_;
  next.size = size_;
  next.is_whole_job = size_ > 0 && size_ == gpus_;
  std::optional<RasReport> ended = finish();
  open_ = std::move(next);
  return ended;
}

void RasReader::add_part(std::int64_t ranks, Seq launched, std::string status) {
  constexpr std::size_t most_parts = 256;
  if (open_ && open_->parts.size() < most_parts) open_->parts.push_back({ranks, launched, std::move(status), {}});
}

void RasReader::add_member(RasMember member) {
  if (open_ && !open_->parts.empty() && open_->parts.back().members.size() < most_members)
    open_->parts.back().members.push_back(std::move(member));
}

void RasReader::read_detail(std::string_view text, std::optional<RasReport>& ended) {
  const auto report = [](RasKind kind, std::string operation) {
    RasReport next;
    next.kind = kind;
    next.operation = std::move(operation);
    return next;
  };
  if (text.starts_with("Communicator ranks have different status")) {
    ended = begin(report(RasKind::status, ""));
  } else if (text.starts_with("Communicator ranks have different ") && text.ends_with(" operation counts")) {
    const std::string_view name = text.substr(34, text.size() - 34 - 17);
    ended = begin(report(RasKind::counts, name == "collective" ? "" : clipped(name, 32)));
  } else if (text.starts_with("Missing communicator data from ")) {
    ended = begin(report(communicator_.empty() ? RasKind::silent_processes : RasKind::no_data, ""));
    add_part(leading_number(text.substr(31)).value_or(-1), -1, "");
  } else if (heading_ == "DEAD" && text.find(" considered dead") != std::string_view::npos) {
    ended = begin(report(RasKind::dead_processes, ""));
    add_part(leading_number(text).value_or(-1), -1, "");
  } else if (text.starts_with("Process ")) {
    add_member(process_in(text));
  } else if (text.starts_with("Rank ")) {
    const std::optional<Rank> rank = rank_in(text.substr(5));
    if (!rank) return;
    RasMember member = process_in(text);
    member.rank = *rank;
    if (const Seq launched = launched_in(text); launched >= 0) {
      add_part(1, launched, "");
    } else if (const auto status = text_after(text, " has status ", " ")) {
      add_part(1, -1, clipped(*status, 32));
    }
    add_member(std::move(member));
  } else if (const auto ranks = leading_number(text); ranks && text.find(" ranks have ") != std::string_view::npos) {
    add_part(*ranks, launched_in(text), clipped(text_after(text, " have status ", " ").value_or(""), 32));
  }
}

std::optional<RasReport> RasReader::read(std::string_view line) {
  const std::string_view text = trimmed(line);
  if (text == "Job summary") in_ = In::summary;
  if (text.starts_with("Communicators...")) in_ = In::table;
  if (text.empty()) {
    if (in_ == In::block) in_ = In::elsewhere;
    return finish();
  }
  if (in_ == In::summary || in_ == In::table) read_sizes(text);
  if (read_heading(text)) {
    in_ = In::block;
    return finish();
  }
  std::optional<RasReport> ended;
  if (in_ == In::block) read_detail(text, ended);
  return ended;
}

std::optional<RasReport> RasReader::finish() {
  std::optional<RasReport> ended = std::exchange(open_, std::nullopt);
  if (ended && ended->parts.empty()) ended.reset();
  return ended;
}

}  // namespace pdsim::scenarios::logs
