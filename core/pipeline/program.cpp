#include "core/pipeline/program.h"

#include "core/base/check.h"
#include "core/pipeline/index.h"
#include "core/pipeline/timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace pdsim {
namespace {

using namespace literals;

class Lowering {
 public:
  Lowering(const PipelineSchedule& schedule, PipelineSends sends)
      : schedule_(schedule), index_(schedule), timing_(times(schedule)) {
    program_.sends = sends;
    program_.steps.resize(schedule.order.size());
  }

  PipelineProgram run() {
    list_messages();
    for (Rank r = 0; r < schedule_.ranks(); ++r) {
      if (program_.sends == PipelineSends::isend)
        in_the_order_of_all(r);
      else
        around_each_action(r);
    }
    return std::move(program_);
  }

 private:
  // Every action takes as long as another: an order that keeps all dependencies, and close to that of any real costs.
  static PipelineTiming times(const PipelineSchedule& schedule) {
    Result<PipelineTiming> timing = time_pipeline(schedule, {{{1_us, 1_us, 1_us}}, {}});
    PDSIM_CHECK(timing.ok(), "a schedule is checked before it is lowered");
    return std::move(*timing);
  }

  Time end_of(const PipelinePlace& place) const {
    return timing_.spans[static_cast<std::size_t>(place.rank)][static_cast<std::size_t>(place.at)].end;
  }

  // In the order of their times, which all ranks keep.
  void list_messages() {
    std::vector<std::tuple<Time, Rank, int, PipelineMessage>> timed;
    for (Rank r = 0; r < schedule_.ranks(); ++r)
      for (const PipelineAction& action : schedule_.order[static_cast<std::size_t>(r)])
        for (const PipelineNeed& need : index_.needs_of(action))
          if (need.place.rank != r)
            timed.emplace_back(end_of(need.place), need.place.rank, need.place.at,
                               PipelineMessage{need.action, action, need.place.rank, r});
    std::sort(timed.begin(), timed.end(), [](const auto& a, const auto& b) {
      return std::tie(std::get<0>(a), std::get<1>(a), std::get<2>(a)) <
             std::tie(std::get<0>(b), std::get<1>(b), std::get<2>(b));
    });
    sent_.resize(schedule_.order.size());
    received_.resize(schedule_.order.size());
    for (std::size_t r = 0; r < schedule_.order.size(); ++r) {
      sent_[r].resize(schedule_.order[r].size());
      received_[r].resize(schedule_.order[r].size());
    }
    by_rank_.resize(schedule_.order.size());
    for (const auto& [time, from, at, message] : timed) {
      const int number = static_cast<int>(program_.messages.size());
      const PipelinePlace needed = index_.place_of(message.needed_by);
      sent_[static_cast<std::size_t>(from)][static_cast<std::size_t>(at)].push_back(number);
      received_[static_cast<std::size_t>(needed.rank)][static_cast<std::size_t>(needed.at)].push_back(number);
      by_rank_[static_cast<std::size_t>(message.from)].push_back(number);
      by_rank_[static_cast<std::size_t>(message.to)].push_back(number);
      program_.messages.push_back(message);
      times_.push_back(time);
    }
  }

  void compute(std::size_t r, std::size_t at, std::vector<int> waits_for) {
    program_.steps[r].push_back({PipelineStep::Kind::compute, schedule_.order[r][at], {}, false, std::move(waits_for)});
  }
  void post(std::size_t r, std::vector<int> messages, bool waits) {
    if (!messages.empty()) program_.steps[r].push_back({PipelineStep::Kind::post, {}, std::move(messages), waits, {}});
  }

  // A message is posted on both ranks after the actions that end no later than the one that makes it.
  void in_the_order_of_all(Rank rank) {
    const auto r = static_cast<std::size_t>(rank);
    std::size_t next = 0;
    const auto post_until = [&](Time end) {
      for (; next < by_rank_[r].size() && times_[static_cast<std::size_t>(by_rank_[r][next])] < end; ++next)
        post(r, {by_rank_[r][next]}, false);
    };
    for (std::size_t i = 0; i < schedule_.order[r].size(); ++i) {
      post_until(timing_.spans[r][i].end);
      compute(r, i, received_[r][i]);
    }
    post_until(Time::max());
  }

  void around_each_action(Rank rank) {
    const auto r = static_cast<std::size_t>(rank);
    const bool together = program_.sends == PipelineSends::batch;
    for (std::size_t i = 0; i <= schedule_.order[r].size(); ++i) {
      std::vector<int> messages = i == 0 ? std::vector<int>{} : sent_[r][i - 1];
      if (i < schedule_.order[r].size())
        messages.insert(messages.end(), received_[r][i].begin(), received_[r][i].end());
      if (together) {
        post(r, messages, true);
      } else {
        for (const int message : messages) post(r, {message}, true);
      }
      if (i < schedule_.order[r].size()) compute(r, i, {});
    }
  }

  const PipelineSchedule& schedule_;
  const PipelineIndex index_;
  const PipelineTiming timing_;
  PipelineProgram program_;
  std::vector<Time> times_;                                     // of messages
  std::vector<std::vector<std::vector<int>>> sent_, received_;  // by rank and place
  std::vector<std::vector<int>> by_rank_;                       // all messages of a rank
};

// Steps ranks through a program until nobody can go on.
class ProgramRun {
 public:
  ProgramRun(const PipelineProgram& program, PipelineBuffering buffering)
      : program_(program),
        buffering_(buffering),
        at_(program.steps.size(), 0),
        posted_(program.steps.size(), 0),
        ends_(program.messages.size()) {}

  std::vector<PipelineStuck> stuck() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < at_.size(); ++r)
        while (at_[r] < program_.steps[r].size() && advance(r)) moved = true;
    }
    std::vector<PipelineStuck> found;
    for (std::size_t r = 0; r < at_.size(); ++r)
      if (at_[r] < program_.steps[r].size()) found.push_back(reason(r));
    return found;
  }

 private:
  struct Ends {
    bool sent = false, received = false;  // posted
  };
  using Pair = std::pair<Rank, Rank>;
  // The messages that a rank posted to one other, in order, grouped as they were posted together.
  struct Stream {
    std::vector<std::vector<int>> groups;
    std::size_t head = 0;
  };

  const PipelineMessage& message(int number) const { return program_.messages[static_cast<std::size_t>(number)]; }
  Rank other_end(std::size_t r, int number) const {
    return message(number).from == static_cast<Rank>(r) ? message(number).to : message(number).from;
  }

  void post(std::size_t r, const PipelineStep& step) {
    std::map<Rank, std::vector<int>> by_peer;
    for (const int number : step.messages) {
      Ends& ends = ends_[static_cast<std::size_t>(number)];
      (message(number).from == static_cast<Rank>(r) ? ends.sent : ends.received) = true;
      by_peer[other_end(r, number)].push_back(number);
    }
    for (auto& [peer, numbers] : by_peer) streams_[{static_cast<Rank>(r), peer}].groups.push_back(std::move(numbers));
  }

  // True if both ends have reached the message in the streams of their pair.
  bool at_head(int number) {
    const PipelineMessage& m = message(number);
    return in_head(streams_[{m.from, m.to}], number) && in_head(streams_[{m.to, m.from}], number);
  }
  static bool in_head(const Stream& stream, int number) {
    if (stream.head >= stream.groups.size()) return false;
    const auto& group = stream.groups[stream.head];
    return std::find(group.begin(), group.end(), number) != group.end();
  }

  // Completes what both ends have come to, of this rank and one other, until nothing more does.
  void drain(Rank rank, Rank peer) {
    Stream &mine = streams_[{rank, peer}], &theirs = streams_[{peer, rank}];
    for (bool moved = true; moved;) {
      moved = false;
      for (Stream* stream : {&mine, &theirs})
        while (stream->head < stream->groups.size() && all_done(stream->groups[stream->head])) {
          ++stream->head;
          moved = true;
        }
    }
  }
  bool all_done(const std::vector<int>& group) {
    for (const int number : group) {
      if (!done_on_stream_.contains(number) && at_head(number)) done_on_stream_.insert(number);
      if (!done_on_stream_.contains(number)) return false;
    }
    return true;
  }

  bool is_complete(std::size_t r, int number) {
    const Ends& ends = ends_[static_cast<std::size_t>(number)];
    const bool sender = message(number).from == static_cast<Rank>(r);
    switch (buffering_) {
      case PipelineBuffering::unbounded:
        return sender ? ends.sent : ends.sent && ends.received;
      case PipelineBuffering::none:
        return ends.sent && ends.received;
      case PipelineBuffering::pair_streams:
        break;
    }
    drain(message(number).from, message(number).to);
    return done_on_stream_.contains(number);
  }

  int incomplete(std::size_t r, const std::vector<int>& messages) {
    for (const int number : messages)
      if (!is_complete(r, number)) return number;
    return -1;
  }

  int awaited(std::size_t r) {
    const PipelineStep& step = program_.steps[r][at_[r]];
    if (step.kind == PipelineStep::Kind::compute) return incomplete(r, step.waits_for);
    return step.waits ? incomplete(r, step.messages) : -1;
  }

  bool advance(std::size_t r) {
    const PipelineStep& step = program_.steps[r][at_[r]];
    if (step.kind == PipelineStep::Kind::post && posted_[r] == at_[r]) {
      post(r, step);
      ++posted_[r];
    }
    if (awaited(r) >= 0) return false;
    posted_[r] = ++at_[r];
    return true;
  }

  PipelineStuck reason(std::size_t r) {
    const int number = awaited(r);
    const PipelineMessage& m = message(number);
    return {static_cast<Rank>(r), static_cast<int>(at_[r]), m, other_end(r, number), m.from == static_cast<Rank>(r)};
  }

  const PipelineProgram& program_;
  const PipelineBuffering buffering_;
  std::vector<std::size_t> at_, posted_;
  std::vector<Ends> ends_;
  std::map<Pair, Stream> streams_;
  std::set<int> done_on_stream_;
};

}  // namespace

PipelineProgram lower_pipeline(const PipelineSchedule& schedule, PipelineSends sends) {
  return Lowering(schedule, sends).run();
}

std::string to_string(const PipelineStuck& stuck) {
  const std::string what = fmt::format("{} of {}", stuck.message.activation() ? "the activation" : "the gradient",
                                       to_string(stuck.message.produced_by));
  return stuck.sends ? fmt::format("rank {} waits in the send of {} to rank {}", stuck.rank, what, stuck.waits_for)
                     : fmt::format("rank {} waits for {} from rank {}", stuck.rank, what, stuck.waits_for);
}

std::vector<PipelineStuck> find_stuck(const PipelineProgram& program, PipelineBuffering buffering) {
  return ProgramRun(program, buffering).stuck();
}

std::vector<PipelineStuck> circle_of(const std::vector<PipelineStuck>& stuck) {
  std::map<Rank, const PipelineStuck*> by_rank;
  for (const PipelineStuck& one : stuck) by_rank[one.rank] = &one;
  std::vector<PipelineStuck> path;
  for (auto at = by_rank.begin(); at != by_rank.end(); at = by_rank.find(path.back().waits_for)) {
    const auto seen =
        std::find_if(path.begin(), path.end(), [&](const PipelineStuck& one) { return one.rank == at->first; });
    if (seen != path.end()) {
      path.erase(path.begin(), seen);
      const auto lowest =
          std::min_element(path.begin(), path.end(), [](const auto& a, const auto& b) { return a.rank < b.rank; });
      std::rotate(path.begin(), lowest, path.end());
      return path;
    }
    path.push_back(*at->second);
  }
  return {};
}

}  // namespace pdsim
