#include "tests/property/worlds/communicator_world.h"

#include <fmt/format.h>

#include <numeric>
#include <utility>

namespace pdsim::property {
namespace {

using namespace literals;

// "1" or "0" for the input, the output's bytes; or "!" and why it failed.
std::string text_of(const RankOutcome& outcome) {
  if (!outcome.status.ok()) return "!" + outcome.status.error().message;
  std::string text(1, outcome.input_untouched ? '1' : '0');
  for (const std::byte b : outcome.output) text += static_cast<char>(b);
  return text;
}

RankOutcome outcome_of(std::string_view text) {
  RankOutcome outcome;
  outcome.ended = true;
  outcome.input_untouched = !text.starts_with('0');
  const std::string_view rest = text.substr(1);
  if (text.front() == '!')
    outcome.status = Error{Code::internal, std::string(rest), {}};
  else
    for (const char c : rest) outcome.output.push_back(static_cast<std::byte>(c));
  return outcome;
}

}  // namespace

std::string CommunicatorWorld::refuses(const CollectiveCase& c) const {
  if (c.nodes != 1 || c.ranks > env_.world_size) return fmt::format("one node of {} ranks", env_.world_size);
  return c.victim == no_rank ? "" : "processes are not killed one by one";
}

Result<ProcessGroup*> CommunicatorWorld::group_of(int size) {
  std::unique_ptr<ProcessGroup>& group = groups_[size];
  if (group) return group.get();
  std::vector<Rank> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::string name = fmt::format("first {}", size);
  auto communicator = env_.backend.join(store_, {name, env_.rank, size, 20_s, ranks});
  if (!communicator.ok()) return communicator.error();
  group = std::make_unique<ProcessGroup>(name, std::move(ranks), env_.rank, 20_s, std::move(*communicator), env_.recorder);
  return group.get();
}

WorldOutcome CommunicatorWorld::run(std::span<const CollectiveCase> steps, const RankBuffers& inputs) {
  WorldOutcome outcome;
  outcome.ranks.resize(inputs.size());
  if (env_.rank < steps.front().ranks) {
    RankOutcome& mine = outcome.ranks[static_cast<std::size_t>(env_.rank)];
    const Result<ProcessGroup*> group = group_of(steps.front().ranks);
    if (group.ok())
      mine = run_steps(**group, steps, inputs);
    else
      mine.status = group.error();
  }
  const Status exchanged = exchange(outcome);
  if (!exchanged.ok()) outcome.ranks.front().status = exchanged;
  return outcome;
}

Status CommunicatorWorld::exchange(WorldOutcome& outcome) {
  const int run = runs_++;
  const auto mine = static_cast<std::size_t>(env_.rank);
  const auto key = [run](std::size_t rank) { return fmt::format("outcome/{}/{}", run, rank); };
  if (mine < outcome.ranks.size()) PDSIM_TRY(store_.set(key(mine), text_of(outcome.ranks[mine])));
  for (std::size_t r = 0; r < outcome.ranks.size(); ++r) {
    const Result<std::string> text = store_.get(key(r));
    if (!text.ok()) return text.error();
    outcome.ranks[r] = outcome_of(*text);
  }
  return {};
}

}  // namespace pdsim::property
