#include "scenarios/reports/html/html_timeline.h"

#include "scenarios/diagnosis/analysis/wait_graph.h"
#include "scenarios/diagnosis/outcome.h"
#include "scenarios/records/log_view.h"
#include "scenarios/records/phase_text.h"
#include "scenarios/records/rank_end.h"
#include "scenarios/reports/html/page.h"
#include "scenarios/reports/message_calls.h"
#include "scenarios/reports/time_scale.h"
#include "scenarios/text/rank_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t most_shown_arrows = 200;  // with more, the messages of the call that is pointed at are shown alone
constexpr double plot_left = 84.0, plot_width = 850.0, waits_width = 320.0;
constexpr double top = 54.0, node_gap = 14.0;
constexpr double arrows_width = 40.0;  // right of the bars, for who waits for whom
constexpr std::size_t most_wait_arrows = 16;

// Two lanes in each rank's row: the program's operations, and the calls that they make. Below them, as far apart, one for each remote call
// that is served beside others.
struct Lanes {
  double row, lane, second;
  double apart() const { return second - first; }
  static constexpr double first = 3.0;
};
constexpr Lanes roomy{50.0, 17.0, 23.0}, compact{30.0, 11.0, 14.0};
constexpr std::size_t most_roomy = 16;
constexpr std::size_t most_served_lanes = 8;  // what is more shares the last
constexpr std::size_t most_arrows = 1'000;  // of messages; the others are counted

// 1, 2 or 5 times a power of ten, so that about ten of them make up `span`.
Time round_step(Time span) {
  constexpr std::int64_t steps[] = {1, 2, 5};
  for (Time decade{1000};; decade = decade * 10)
    for (const std::int64_t s : steps)
      if (span.ps / (decade * s).ps < 12) return decade * s;
}

// The list, where it fits between the margin and the bars; the row's title has it whole.
std::string beside_row(const std::vector<Rank>& ranks) {
  constexpr std::size_t width = 12;
  std::string list = numbers_within(ranks, width);
  return list.size() <= width ? list : fmt::format("from {}", *std::min_element(ranks.begin(), ranks.end()));
}

std::string all_numbers(const std::vector<Rank>& ranks) { return numbers_within(ranks, std::string::npos); }

class Picture {
 public:
  Picture(const Report& report, const std::vector<RankRow>& rows, const TimelineEvents& events, bool fold)
      : report_(report), events_(events), scale_(moments(), plot_left, plot_width, fold) {
    pack_served();
    place(rows);
  }

  TimelinePicture draw() {
    const double height = top + y_end_ + 28.0;
    out_ = fmt::format(
        "<svg class=\"timeline{}\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\">\n"
        "<title>timeline of the ranks: {}</title>\n",
        report_.run.messages.size() > most_shown_arrows ? " crowded" : "", plot_left + plot_width + waits_width, height,
        name_of(report_.outcome));
    axis(height);
    steps(height);
    rows();
    braids();
    bars();
    folds(height);
    arrows();
    flags();
    waits();
    out_ += "</svg>\n";
    return {std::move(out_), !scale_.gaps().empty(), left_out_};
  }

 private:
  std::vector<Time> moments() const {
    std::vector<Time> all{events_.end};
    for (const TimelineEvent& e : events_.events) {
      if (is_around_others(e)) continue;
      all.push_back(e.call->issued);
      all.push_back(e.end);
    }
    // Room after the last event, so that what is blocked can be seen to be.
    if (!all.empty()) {
      const auto [first, last] = std::minmax_element(all.begin(), all.end());
      if (!report_.blocked.empty()) all.push_back(*last + Time{(*last - *first).ps / 8});
    }
    return all;
  }

  int node_of(Rank rank) const { return report_.scenario == nullptr ? 0 : report_.scenario->world.spec.node_of(rank); }

  bool is_culprit(Rank rank) const {
    const Diagnosis* found = report_.diagnosis();
    return found != nullptr && std::find(found->ranks.begin(), found->ranks.end(), rank) != found->ranks.end();
  }

  // The lane of each call that a rank serves, the first that is free when it arrives, and of the calls that are made inside of it.
  void pack_served() {
    std::map<Rank, std::vector<Time>> busy_until;  // by lane
    for (const TimelineEvent& e : events_.events) {
      if (e.call->layer != Layer::rpc) continue;
      if (const auto around = served_lane_.find({e.rank, e.call->parent}); around != served_lane_.end()) {
        served_lane_[{e.rank, e.call->id}] = around->second;
        continue;
      }
      if (e.call->details->rpc.side != RpcSide::callee) continue;
      std::vector<Time>& lanes = busy_until[e.rank];
      auto lane = std::find_if(lanes.begin(), lanes.end(), [&](Time until) { return until <= e.call->issued; });
      if (lane == lanes.end() && lanes.size() < most_served_lanes) lane = lanes.insert(lane, Time{});
      if (lane == lanes.end()) --lane;
      *lane = std::max(*lane, e.end);
      served_lane_[{e.rank, e.call->id}] = static_cast<int>(lane - lanes.begin());
    }
    for (const auto& [rank, lanes] : busy_until) served_lanes_[rank] = static_cast<int>(lanes.size());
  }
  double row_height(Rank rank) const {
    const auto served = served_lanes_.find(rank);
    return lanes_.row + (served == served_lanes_.end() ? 0 : served->second) * lanes_.apart();
  }

  // Chooses the rows, and where each of their ranks lies.
  void place(const std::vector<RankRow>& rows) {
    if (rows.size() > most_roomy) lanes_ = compact;
    for (const RankRow& row : rows)
      if (rows_.size() < most_rows / 2 && is_culprit(row.shown)) rows_.push_back(row);
    const std::size_t culprits = rows_.size();
    for (const RankRow& row : rows) {
      const bool is_there = std::any_of(rows_.begin(), rows_.begin() + static_cast<std::ptrdiff_t>(culprits),
                                        [&](const RankRow& r) { return r.shown == row.shown; });
      if (rows_.size() < most_rows && !is_there) rows_.push_back(row);
      else if (!is_there) left_out_ += row.ranks.size();
    }
    std::sort(rows_.begin(), rows_.end(), [](const RankRow& a, const RankRow& b) { return a.shown < b.shown; });
    shares_rows_ = std::any_of(rows_.begin(), rows_.end(), [](const RankRow& r) { return r.ranks.size() > 1; });
    int node = -1;
    for (const RankRow& row : rows_) {
      if (node >= 0 && node_of(row.shown) != node && !shares_rows_) y_end_ += node_gap;
      node = node_of(row.shown);
      for (const Rank rank : row.ranks) y_of_[rank] = top + y_end_;
      y_end_ += row_height(row.shown);
    }
  }
  bool is_shown(Rank rank) const {
    return std::any_of(rows_.begin(), rows_.end(), [rank](const RankRow& row) { return row.shown == rank; });
  }

  void axis(double height) {
    const double bottom = height - 20.0;
    const Time span = scale_.end() - scale_.begin();
    std::vector<double> used;
    const auto label = [&](Time at) {
      const double x = scale_.x(at);
      if (std::any_of(used.begin(), used.end(), [x](double u) { return std::abs(u - x) < 62.0; })) return;
      used.push_back(x);
      out_ += fmt::format(
          "<line class=\"tick\" x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\"/><text class=\"axis\" "
          "x=\"{0:.1f}\" y=\"{3:.1f}\">{4}</text>\n",
          x, top - 4.0, bottom, bottom + 12.0, to_string(at));
    };
    label(scale_.begin());
    if (report_.first_divergence()) label(report_.first_divergence()->at);
    label(events_.end);
    for (const TimeScale::Gap& gap : scale_.gaps()) used.push_back(gap.x + TimeScale::gap_width / 2);
    const Time step = round_step(span);
    for (Time at{(scale_.begin().ps / step.ps + 1) * step.ps}; at < scale_.end(); at += step) label(at);
  }

  // Above the bars: what is folded is folded out of them.
  void folds(double height) {
    const double bottom = height - 20.0;
    for (const TimeScale::Gap& gap : scale_.gaps()) {
      const double x = gap.x + TimeScale::gap_width / 2;
      std::string zigzag;
      for (double y = top - 4.0, side = -3.0; y < bottom; y += 6.0, side = -side)
        zigzag += fmt::format("{:.1f},{:.1f} ", x + side, y);
      out_ += fmt::format(
          "<polyline class=\"fold\" points=\"{}\"><title>{} without any event</title></polyline><text class=\"axis\" "
          "x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
          zigzag, to_string(gap.to - gap.from), x, top - 10.0, to_string(gap.to - gap.from));
    }
  }

  void steps(double height) {
    constexpr double apart = 6.0, a_letter = 6.5;  // lines of a thousand steps would cover the picture
    int last = -1;
    double line_from = 0.0, label_from = 0.0;
    if (rows_.empty()) return;
    for (const TimelineEvent& e : events_.events) {
      if (e.rank != rows_.front().shown || e.call->site.step < 0 || e.call->site.step == last) continue;
      last = e.call->site.step;
      const double x = scale_.x(e.call->issued);
      if (x < line_from) continue;
      line_from = x + apart;
      out_ += fmt::format("<line class=\"step\" x1=\"{0:.1f}\" y1=\"22\" x2=\"{0:.1f}\" y2=\"{1:.1f}\"/>", x,
                          height - 20.0);
      if (x < label_from) continue;
      const std::string label = fmt::format("step {}", last);
      label_from = x + a_letter * static_cast<double>(label.size() + 1);
      out_ += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"28\">{}</text>\n", x + 4.0, label);
    }
  }

  void rows() {
    int node = -1;
    const bool many = !shares_rows_ && report_.scenario != nullptr && report_.scenario->world.spec.nodes > 1;
    for (const RankRow& row : rows_) {
      const double y = y_of_.at(row.shown);
      const bool culprit = is_culprit(row.shown);
      const bool alone = row.ranks.size() == 1;
      out_ += fmt::format(
          "<rect class=\"row{}\" data-ranks=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
          culprit ? " culprit" : "", all_numbers(row.ranks), plot_left, y, plot_width, row_height(row.shown) - 6.0);
      out_ += fmt::format("<text class=\"rank\" x=\"8\" y=\"{:.1f}\">{}{}<title>{}</title></text>\n",
                          y + (alone ? lanes_.row / 2 - 3.0 : lanes_.row / 2 - 9.0),
                          alone ? fmt::format("rank {}", row.shown) : fmt::format("{} ranks", row.ranks.size()),
                          culprit ? " \u25c6" : "", ranks_text(row.ranks));
      if (!alone)
        out_ += fmt::format("<text class=\"axis start\" x=\"8\" y=\"{:.1f}\">{}</text>\n", y + lanes_.row / 2 + 4.0, beside_row(row.ranks));
      if (many && node_of(row.shown) != node)
        out_ += fmt::format("<text class=\"axis start\" x=\"8\" y=\"{:.1f}\">node {}</text>\n",
                            y - (lanes_.lane < roomy.lane ? 7.0 : -2.0), node_of(row.shown));
      node = node_of(row.shown);
    }
  }

  double lane_of(Rank rank, const Call& call) const {
    const auto served = served_lane_.find({rank, call.id});
    if (served != served_lane_.end()) return lanes_.second + (served->second + 1) * lanes_.apart();
    return call.layer == Layer::program ? Lanes::first : lanes_.second;
  }
  // Operations around others would hide them.
  bool is_around_others(const TimelineEvent& e) const {
    if (e.call->layer != Layer::program) return false;
    const Call* inner = call_by_id(log_of(report_.run, e.rank), e.call->id + 1);
    const bool around = inner != nullptr && inner->parent == e.call->id && inner->layer == Layer::program;
    return around || e.call->name == "train";
  }
  bool is_drawn(const TimelineEvent& e) const { return is_shown(e.rank) && !is_around_others(e); }

  void bars() {
    std::string labels;  // above all bars
    for (const TimelineEvent& e : events_.events) {
      if (!is_drawn(e)) continue;
      const Call& call = *e.call;
      const double x = scale_.x(call.issued);
      const double end = e.blocked ? scale_.x(scale_.end()) : scale_.x(e.end);
      const BlockedRank* b = blocked_entry(report_, e.rank, call.id);
      const bool failed = call.state == CallState::failed || call.state == CallState::timed_out;
      std::string title = fmt::format("rank {}: {}, ", e.rank, title_of(call));
      title += e.blocked ? fmt::format("from {} on", to_string(call.issued))
                         : fmt::format("{} to {}", to_string(call.issued), to_string(e.end));
      if (b != nullptr && !b->awaits_nobody())
        title += fmt::format("; waits for {} {}", (b->any ? "one of " : "") + awaited_text(*b), b->why);
      for (const std::string& part : {place_text(call.site), std::string(phase_text(call.site.phase))})
        if (!part.empty()) title += "; " + part;
      if (failed && !e.blocked) title += fmt::format("; {}", name_of(call.error));
      const bool open_program = e.blocked && call.layer == Layer::program && b == nullptr;
      const std::string key = call.layer == Layer::program ? "" : fmt::format(" data-key=\"{}\"", escaped(key_of(e.rank, call)));
      out_ += fmt::format(
          "<rect class=\"{}{}\" tabindex=\"-1\" data-rank=\"{}\"{} x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
          "height=\"{:.1f}\"><title>{}</title></rect>",
          e.blocked && !open_program ? "hang" : kind_of(call),
          failed && !e.blocked ? " failed"
          : open_program       ? " open"
                               : "",
          e.rank, key, x, y_of_.at(e.rank) + lane_of(e.rank, call), std::max(end - x, 1.5), lanes_.lane, escaped(title));
      std::string name = call.seq >= 0 ? fmt::format("{} #{}", call.name, call.seq) : call.name;
      const double room = end - x - 6.0;
      const bool hidden = lanes_.lane < roomy.lane || (e.blocked && call.layer != Layer::program && b == nullptr);
      if (!hidden && room > 6.5 * static_cast<double>(name.size()))
        labels += fmt::format("<text class=\"in{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                              e.blocked && !open_program ? " on-hang" : "", x + 4.0,
                              y_of_.at(e.rank) + lane_of(e.rank, call) + lanes_.lane / 2 + 0.5, escaped(name));
    }
    out_ += labels;
  }

  // The key that a bar, its strands and its messages share: one for a collective on all of its ranks, one for any other
  // call on its rank.
  static std::string key_of(Rank rank, const Call& call) {
    return call.seq >= 0 ? fmt::format("{}#{}", call.group, call.seq) : fmt::format("rank {} call {}", rank, call.id);
  }

  // The same call on neighbouring ranks, joined: where a strand is missing, a rank did not come.
  void braids() {
    std::map<std::tuple<std::string, Seq, std::string>, std::vector<std::pair<Rank, double>>> strands;
    for (const TimelineEvent& e : events_.events)
      if (is_drawn(e) && e.call->layer == Layer::collective && e.call->seq >= 0)
        strands[{e.call->group, e.call->seq, e.call->name}].emplace_back(e.rank, scale_.x(e.call->issued));
    for (const auto& [key, points] : strands) {
      const auto& [group, seq, name] = key;
      for (std::size_t i = 1; i < points.size(); ++i)
        out_ += fmt::format(
            "<line class=\"braid\" data-key=\"{}#{}\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
            escaped(group), seq, points[i - 1].second, y_of_.at(points[i - 1].first) + lanes_.second + lanes_.lane,
            points[i].second, y_of_.at(points[i].first) + lanes_.second);
    }
  }

  void arrows() {
    const auto& all = report_.run.messages;
    const std::size_t first = all.size() > most_arrows ? all.size() - most_arrows : 0;
    const MessageCalls calls(report_.run);
    for (std::size_t i = first; i < all.size(); ++i) {
      const MessageRecord& m = all[i];
      if (!is_shown(m.from) || !is_shown(m.to) || m.sent < scale_.begin()) continue;
      const double x2 = scale_.x(m.dropped ? m.sent + Time{1} : m.arrived);
      out_ += fmt::format(
          "<line class=\"message{}\"{} x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"><title>rank {} to rank {}, {}, "
          "sent {}, {}</title></line>\n",
          m.dropped ? " lost" : "", keys_of(calls, m), scale_.x(m.sent), y_of_.at(m.from) + lanes_.second + lanes_.lane / 2,
          x2, y_of_.at(m.to) + lanes_.second + lanes_.lane / 2, m.from, m.to, to_string(Bytes{m.bytes}), to_string(m.sent),
          m.dropped ? "lost" : "arrived " + to_string(m.arrived));
    }
    if (first > 0)
      out_ += fmt::format("<text class=\"label\" x=\"{:.1f}\" y=\"{:.1f}\">the newest {} of {} messages are drawn</text>\n", plot_left,
                          top + y_end_ + 8.0, most_arrows, all.size());
  }

  // Returns the keys of the call that sent the message and of the one that received it.
  static std::string keys_of(const MessageCalls& calls, const MessageRecord& m) {
    const Call* sent = calls.sent_by(m);
    const Call* received = m.dropped ? nullptr : calls.received_by(m);
    if (sent == nullptr) return "";
    std::string keys = fmt::format(" data-key=\"{}\"", escaped(key_of(m.from, *sent)));
    if (received != nullptr && key_of(m.to, *received) != key_of(m.from, *sent))
      keys += fmt::format(" data-to-key=\"{}\"", escaped(key_of(m.to, *received)));
    return keys;
  }

  void flags() {
    for (const RankResult& result : report_.run.ranks) {
      if (!is_shown(result.log.rank)) continue;
      for (const Note* note : notes_of<notes::Fault>(result.log)) {
        const double x = scale_.x(note->at), y = y_of_.at(result.log.rank);
        out_ += fmt::format(
            "<path class=\"flag\" d=\"M{0:.1f} {1:.1f} v-14 l10 4 l-10 4\"><title>fault: {2}</title></path>\n", x,
            y + 10.0, name_of(note->as<notes::Fault>().fault));
      }
      if (result.log.end == RankEnd::raised || result.log.end == RankEnd::died) {
        const double x = scale_.x(result.log.ended), y = y_of_.at(result.log.rank);
        out_ += fmt::format(
            "<path class=\"end\" d=\"M{0:.1f} {1:.1f} l10 10 m0 -10 l-10 10\"><title>rank {2} "
            "{3}</title></path>\n",
            x - 5.0, y + 6.0, result.log.rank, escaped(ending_sentence(result.log)));
      }
    }
    if (report_.first_divergence()) {
      const double x = scale_.x(report_.first_divergence()->at);
      out_ += fmt::format(
          "<line class=\"divergence\" x1=\"{0:.1f}\" y1=\"16\" x2=\"{0:.1f}\" y2=\"{1:.1f}\"/><text class=\"label "
          "strong\" x=\"{2:.1f}\" "
          "y=\"12\">first divergence: #{3}</text>\n",
          x, top + y_end_, x > plot_left + plot_width - 140.0 ? x - 134.0 : x + 4.0, report_.first_divergence()->seq);
    }
  }

  double middle(Rank rank) const { return y_of_.at(rank) + lanes_.row / 2 - 3.0; }

  // From who waits to whom it waits for, around the right edge of the bars.
  void wait_arrow(Rank from, Rank to) {
    const double x = plot_left + plot_width + 4.0, y1 = middle(from) - 4.0, y2 = middle(to) + 4.0;
    const double bulge = std::min(12.0 + std::abs(y2 - y1) / 6.0, arrows_width - 8.0);
    out_ += fmt::format(
        "<path class=\"waits-for\" d=\"M{0:.1f} {1:.1f} C{2:.1f} {1:.1f} {2:.1f} {3:.1f} {4:.1f} {3:.1f}\"><title>rank "
        "{5} "
        "waits for rank {6}</title></path><path class=\"head\" d=\"M{0:.1f} {3:.1f} l7 -4 v8 z\"/>\n",
        x, y1, x + bulge * 1.33, y2, x + 6.0, from, to);
  }

  void waits() {
    const double x = plot_left + plot_width + arrows_width;
    if (!report_.blocked.empty())
      out_ += fmt::format("<text class=\"label strong\" x=\"{:.1f}\" y=\"28\">who waits for whom</text>\n", x);
    std::size_t drawn = 0;
    for (const BlockedRank& b : report_.blocked) {
      if (!is_shown(b.rank)) continue;
      const auto y = y_of_.find(b.rank);
      if (!b.any)
        for (const Rank to : *b.waits_for)
          if (to != b.rank && y_of_.count(to) != 0 && drawn++ < most_wait_arrows) wait_arrow(b.rank, to);
      const std::string what = b.seq >= 0 ? fmt::format("{} #{}", b.in, b.seq) : b.in;
      constexpr std::size_t list_width = 26;
      const std::string target =
          b.awaits_nobody() ? "nobody" : (b.any ? "one of " : "") + ranks_within(awaited_ranks(b, awaited_count(b)), list_width);
      const bool one_line = lanes_.lane < roomy.lane;
      out_ += fmt::format("<text class=\"wait\" x=\"{:.1f}\" y=\"{:.1f}\">{} \u2192 {}</text>", x,
                          y->second + (one_line ? lanes_.row / 2 - 3.0 : 14.0), escaped(what), escaped(target));
      if (!one_line)
        out_ += fmt::format("<text class=\"axis start\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", x, y->second + 31.0,
                            escaped(b.why));
      out_ += "\n";
    }
    for (const RankError& e : report_.errors)
      if (const auto y = y_of_.find(e.rank); is_shown(e.rank))
        out_ += fmt::format("<text class=\"wait\" x=\"{:.1f}\" y=\"{:.1f}\">\u2717 {}</text>\n", x, y->second + 14.0,
                            escaped(cause_text(log_of(report_.run, e.rank).error)));
  }

  const Report& report_;
  const TimelineEvents& events_;
  TimeScale scale_;
  std::vector<RankRow> rows_;
  bool shares_rows_ = false;
  std::size_t left_out_ = 0;      // ranks in no row
  std::map<Rank, double> y_of_;  // of every rank of a row
  std::map<std::pair<Rank, std::int64_t>, int> served_lane_;  // of served calls by rank and number, and what is inside of them
  std::map<Rank, int> served_lanes_;                          // how many
  double y_end_ = 0.0;
  Lanes lanes_ = roomy;
  std::string out_;
};

}  // namespace

TimelinePicture timeline_svg(const Report& report, const std::vector<RankRow>& rows, const TimelineEvents& events,
                             bool fold) {
  return Picture(report, rows, events, fold).draw();
}

}  // namespace pdsim::scenarios
