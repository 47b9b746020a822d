#include "core/collectives/text/plan_text.h"

#include <fmt/format.h>

#include <stdexcept>
#include <utility>

namespace pdsim {

PlanText::PlanText(std::string file, std::string text, plan_syntax::Syntax syntax)
    : file_(std::move(file)), text_(std::move(text)), syntax_(std::move(syntax)) {
  algorithm_ = {syntax_.kind, syntax_.name, nullptr};
  algorithm_.rounds = this;
}

std::variant<std::shared_ptr<const PlanText>, PlanProblem> PlanText::parse(std::string file, std::string text) {
  auto syntax = parse_plan(text);
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&syntax)) return *problem;
  return std::shared_ptr<const PlanText>(
      new PlanText(std::move(file), std::move(text), std::move(std::get<plan_syntax::Syntax>(syntax))));
}

ExpandedPlan PlanText::expanded(const PlanArgs& args) const {
  const std::lock_guard lock(guard_);
  if (kept_ && kept_->size == args.size && kept_->count == args.count && kept_->root == args.root) return kept_->plan;
  kept_.reset();  // its memory first
  kept_ = Kept{args.size, args.count, args.root, expand(syntax_, args)};
  return kept_->plan;
}

bool PlanText::is_for(const PlanArgs& args) const {
  const auto fits = pdsim::is_for(syntax_, args);
  const bool* yes = std::get_if<bool>(&fits);
  return yes == nullptr || *yes;  // a problem is found when it is expanded
}

std::optional<PlanProblem> PlanText::problem(const PlanArgs& args) const {
  const auto fits = pdsim::is_for(syntax_, args);
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&fits)) return *problem;
  if (!std::get<bool>(fits))
    return PlanProblem{
        syntax_.header,
        fmt::format("{} is not for {} ranks, {} elements and root {}", syntax_.name, args.size, args.count, args.root),
        "its `needs` says so"};
  const ExpandedPlan plan = expanded(args);
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&plan)) return *problem;
  const auto scratch = scratch_of(syntax_, args);
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&scratch)) return *problem;
  return std::nullopt;
}

PlanMark PlanText::mark(const PlanArgs& args, int round) const {
  const ExpandedPlan plan = expanded(args);
  const auto* rounds = std::get_if<std::shared_ptr<const PlanExpansion>>(&plan);
  if (rounds == nullptr) return std::get<PlanProblem>(plan).at;
  const auto of_rank = (*rounds)->rounds_of(args.rank);
  const bool known = round > 0 && static_cast<std::size_t>(round) <= of_rank.size();
  return known ? of_rank[static_cast<std::size_t>(round) - 1].at : of_rank.empty() ? syntax_.header : of_rank.back().at;
}

Plan PlanText::begin(const PlanArgs& args) const {
  if (const auto problem = this->problem(args)) return plan_of(sentence_of(file_, *problem));
  return plan_of(std::get<std::shared_ptr<const PlanExpansion>>(expanded(args)), args.rank);
}

std::int64_t PlanText::scratch(const PlanArgs& args) const {
  const auto elements = scratch_of(syntax_, args);
  if (const std::int64_t* many = std::get_if<std::int64_t>(&elements)) return *many;
  return 0;  // the plan itself throws the problem
}

std::string PlanText::place(const PlanArgs& args, int round) const {
  const PlanMark at = mark(args, round);
  return fmt::format("{}:{}:{}", file_, at.line, at.column);
}

Plan plan_of(std::shared_ptr<const PlanExpansion> rounds, Rank rank) {
  for (const PlanExpansion::Extent& round : rounds->rounds_of(rank)) co_yield rounds->steps_of(round);
}

Plan plan_of(std::string problem) {
  throw std::runtime_error(problem);
  co_return;
}

std::string sentence_of(const std::string& file, const PlanProblem& problem) {
  return fmt::format("{}:{}:{}: {}", file, problem.at.line, problem.at.column, problem.what);
}

}  // namespace pdsim
