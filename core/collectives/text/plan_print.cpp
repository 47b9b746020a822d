#include "core/collectives/text/plan_print.h"

#include "core/collectives/plan_room.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace pdsim {
namespace {

std::string text_of(const Slice& s) {
  constexpr std::array<std::string_view, 3> names{"input", "output", "scratch"};
  if (s.count == 0) return "nothing";
  return fmt::format("{}[{}:{}]", names[static_cast<std::size_t>(s.buffer)], s.offset, s.offset + s.count);
}

std::string line_of(const Step& step) {
  switch (step.kind) {
    case Step::Kind::send:
      return fmt::format("send {} -> {}", text_of(step.slice), step.peer);
    case Step::Kind::receive:
      return fmt::format("receive {} <- {}", text_of(step.slice), step.peer);
    case Step::Kind::receive_reduce:
      return fmt::format("receive {} <- {} +", text_of(step.slice), step.peer);
    case Step::Kind::copy:
      return fmt::format("copy {} -> {}", text_of(step.from), text_of(step.slice));
    case Step::Kind::reduce:
      return fmt::format("add {} -> {}", text_of(step.from), text_of(step.slice));
  }
  return {};
}

std::string rounds_of_rank(const Algorithm& algorithm, const PlanArgs& args, std::size_t& steps_left, bool& failed) {
  Plan plan = algorithm.begin(args);
  Collective call;
  call.kind = algorithm.kind;
  call.count = args.count;
  call.root = args.root;
  const PlanRoom room = room_of(call, algorithm, args);
  std::string text;
  while (!failed) {
    const Result<bool> more = next_round(plan, room);
    if (more.ok() && !*more) break;
    failed = !more.ok() || plan.steps().size() > steps_left;
    if (failed) break;
    steps_left -= plan.steps().size();
    if (!plan.steps().empty()) text += "  round:\n";
    for (const Step& step : plan.steps()) text += fmt::format("    {}\n", line_of(step));
  }
  return text;
}

}  // namespace

std::string printed_plan(const Algorithm& algorithm, const PlanCase& at, std::size_t limit) {
  std::string text = fmt::format("plan {} {}\n", name_of(algorithm.kind), algorithm.name), scratch, body;
  std::int64_t most = 0;
  bool failed = false;
  for (Rank r = 0; r < at.size && !failed; ++r) {
    const PlanArgs args{r, at.size, at.count, at.root, nullptr, at.ranks_per_node};
    most = std::max(most, algorithm.scratch_elements(args));
    const std::string rounds = rounds_of_rank(algorithm, args, limit, failed);
    if (!rounds.empty()) body += fmt::format("if r == {}:\n{}", r, rounds);
  }
  if (failed) return {};
  if (most > 0) text += fmt::format("scratch {}\n", most);
  return text + fmt::format("needs p == {} and n == {} and root == {}\n", at.size, at.count, at.root) + body;
}

}  // namespace pdsim
