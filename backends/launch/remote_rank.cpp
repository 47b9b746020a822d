#include "backends/launch/remote_rank.h"

#include "backends/launch/packed_ring.h"

#include <fmt/format.h>

#include <cinttypes>
#include <cstdio>

namespace pdsim {
namespace {

// Texts that hold no zero byte themselves, one behind the other.
std::vector<std::string> parts_of(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

}  // namespace

std::string text_of(const AgentStart& start) {
  std::string text = fmt::format("{} {}", start.elapsed.ps, start.goes_on ? 1 : 0) + '\0' + text_of(start.word) + '\0';
  for (const std::string& argument : start.arguments) text += argument + '\0';
  return text;
}

Result<AgentStart> agent_start_of(std::string_view text) {
  std::vector<std::string> parts = parts_of(text);
  AgentStart start;
  int goes_on = 0;
  if (parts.size() < 2 || std::sscanf(parts[0].c_str(), "%" SCNd64 " %d", &start.elapsed.ps, &goes_on) != 2)
    return Error{Code::unavailable, "rank 0's word is not understood", {}};
  Result<RankStart> word = rank_start_of(parts[1]);
  if (!word.ok()) return word.error();
  start.word = std::move(*word);
  start.goes_on = goes_on != 0;
  start.arguments.assign(parts.begin() + 2, parts.end());
  return start;
}

std::string text_of(const AgentEnded& e) {
  return fmt::format("{} {} {} {}", e.how.exit_status, e.how.signal, e.by_agent ? 1 : 0, e.output);
}

AgentEnded agent_ended_of(std::string_view text) {
  AgentEnded ended;
  const std::string copy(text);
  int by_agent = 0, used = 0;
  if (std::sscanf(copy.c_str(), "%d %d %d%n", &ended.how.exit_status, &ended.how.signal, &by_agent, &used) == 3)
    ended.output = copy.substr(std::min(static_cast<std::size_t>(used) + 1, copy.size()));
  ended.by_agent = by_agent != 0;
  return ended;
}

RemoteRank::RemoteRank(GatheredJob::Agent& agent, const AgentStart& start, bool once) : agent_(agent), once_(once) {
  outcome_.launch = start.word.launch;
  if (agent_.link.closed || !write_frame(agent_.link.fd.get(), FrameKind::start, text_of(start))) lose();
}

void RemoteRank::add_to(std::vector<pollfd>& waiting) const {
  if (!gone_) waiting.push_back({agent_.link.fd.get(), POLLIN, 0});
}

bool RemoteRank::service() {
  if (gone_) return false;
  bool news = false;
  const bool closed = agent_.link.reader.fill(agent_.link.fd.get()) == FrameReader::State::closed;
  while (const auto frame = agent_.link.reader.next()) {
    if (frame->kind == FrameKind::ask) {
      outcome_.stopped = true;
    } else if (frame->kind == FrameKind::ring) {
      Result<RingRecord> ring = ring_of_packed(frame->payload);
      if (ring.ok()) outcome_.ring = std::move(*ring);
    } else if (frame->kind == FrameKind::ended) {
      AgentEnded ended = agent_ended_of(frame->payload);
      if (!ended.by_agent) outcome_.ended = ended.how;
      outcome_.output = std::move(ended.output);
      agent_.spent = agent_.spent || once_;
      gone_ = true;
      return true;
    } else {
      news = take(*frame) || news;
    }
    if (once_ && outcome_.finished) {
      agent_.spent = agent_.spent || outcome_.failed || outcome_.relaunch != Relaunch::none;
      gone_ = true;
      return true;
    }
  }
  if (closed) lose();
  return news || closed;
}

void RemoteRank::lose() {
  agent_.link.closed = true;
  outcome_.ended = Ended{1, 0};
  outcome_.output = "the process that was started for this rank is gone";
  gone_ = true;
}

void RemoteRank::ask() {
  if (gone_ || outcome_.finished) return;
  outcome_.answered = false;
  write_frame(agent_.link.fd.get(), FrameKind::ask, {});
}

// The process of a library that begins once stays until the job ends: its end would end the job of an mpirun.
void RemoteRank::end() {
  if (gone_) return;
  if (once_) {
    agent_.spent = gone_ = true;
    return;
  }
  write_frame(agent_.link.fd.get(), FrameKind::end, {});
  constexpr int tries = 40, pause_ms = 50;
  for (int i = 0; i < tries && !gone_; ++i) {
    pollfd waiting{agent_.link.fd.get(), POLLIN, 0};
    poll(&waiting, 1, pause_ms);
    service();
  }
  if (!gone_) lose();
}

}  // namespace pdsim
