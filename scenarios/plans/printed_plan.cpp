#include "scenarios/plans/printed_plan.h"

#include "backends/os/posix.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <utility>

namespace pdsim::scenarios {
namespace {

constexpr std::size_t most_printed = 1 << 20, cases_kept = 4096;
constexpr std::chrono::seconds patience{10};

struct Answer {
  std::string text, problem;
};

// Returns the program's output, or a problem if the program does not end well.
Answer output_of(const std::vector<std::string>& command) {
  using Clock = std::chrono::steady_clock;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) < 0) return {{}, "no pipe is available"};
  Descriptor reading(ends[0]), writing(ends[1]);
  sigset_t mask;
  sigemptyset(&mask);
  const Child::Inherited output[]{{writing.get(), STDOUT_FILENO}};
  Result<Child> child = Child::start(command, output, mask);
  if (!child.ok()) return {{}, child.error().message};
  writing.reset();
  Answer answer;
  const auto until = Clock::now() + patience;
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd one{reading.get(), POLLIN, 0};
    const int ready = left <= 0 ? 0 : poll(&one, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return {{}, "it did not end within 10s"};
    char buffer[4096];
    const ssize_t many = read(reading.get(), buffer, sizeof buffer);
    if (many < 0 && errno == EINTR) continue;
    if (many <= 0) break;
    answer.text.append(buffer, static_cast<std::size_t>(many));
    if (answer.text.size() > most_printed) return {{}, "it printed more than 1 MiB"};
  }
  while (!child->poll()) {
    if (Clock::now() > until) return {{}, "it did not end within 10s"};
    (void)::poll(nullptr, 0, 1);
  }
  const Ended ended = *child->poll();
  if (ended.signal != 0) answer.problem = fmt::format("it was ended by signal {}", ended.signal);
  if (ended.exit_status != 0) answer.problem = fmt::format("it ended with status {}", ended.exit_status);
  return answer;
}

}  // namespace

std::variant<std::shared_ptr<const PrintedPlan>, PrintedProblem> PrintedPlan::start(std::string file) {
  auto plan = std::shared_ptr<PrintedPlan>(new PrintedPlan(std::move(file)));
  const auto first = plan->printed({0, 1, 0, 0});
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&first->syntax)) return PrintedProblem{*problem, first->text};
  const auto& syntax = std::get<plan_syntax::Syntax>(first->syntax);
  plan->name_ = syntax.name;
  plan->algorithm_ = {syntax.kind, plan->name_, nullptr};
  plan->algorithm_.rounds = plan.get();
  return std::shared_ptr<const PrintedPlan>(plan);
}

std::shared_ptr<const PrintedPlan::Printed> PrintedPlan::printed(const PlanArgs& args) const {
  const Case key{args.size, args.rank, args.count, args.root};
  const std::lock_guard lock(guard_);
  if (const auto known = kept_.find(key); known != kept_.end()) return known->second;
  std::vector<std::string> command{file_};
  for (const std::int64_t number : key) command.push_back(std::to_string(number));
  Answer answer = output_of(command);
  auto printed = std::make_shared<Printed>();
  printed->text = std::move(answer.text);
  if (answer.problem.empty())
    printed->syntax = parse_plan(printed->text);
  else
    printed->syntax =
        PlanProblem{{0, 0, 1},
                    fmt::format("`{} {} {} {} {}`: {}", file_, key[0], key[1], key[2], key[3], answer.problem),
                    "it is called with p, r, n and the root, and must print the rounds of rank r"};
  if (kept_.size() >= cases_kept) kept_.clear();
  kept_[key] = printed;
  return printed;
}

std::string PrintedPlan::text(const PlanArgs& args) const { return printed(args)->text; }

std::optional<PlanProblem> PrintedPlan::problem(const PlanArgs& args) const {
  const auto print = printed(args);
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&print->syntax)) return *problem;
  const auto& syntax = std::get<plan_syntax::Syntax>(print->syntax);
  if (syntax.kind != algorithm_.kind)
    return PlanProblem{syntax.header,
                       fmt::format("this is a plan of {}, but for one rank it was one of {}", name_of(syntax.kind),
                                   name_of(algorithm_.kind)),
                       "a program must print plans of one collective"};
  const ExpandedPlan plan = expand(syntax, args, true);
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&plan)) return *problem;
  return std::nullopt;
}

PlanMark PrintedPlan::mark(const PlanArgs& args, int round) const {
  const auto print = printed(args);
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&print->syntax)) return problem->at;
  const auto& syntax = std::get<plan_syntax::Syntax>(print->syntax);
  const ExpandedPlan plan = expand(syntax, args, true);
  if (const PlanProblem* problem = std::get_if<PlanProblem>(&plan)) return problem->at;
  const auto rounds = std::get<std::shared_ptr<const PlanExpansion>>(plan)->rounds_of(args.rank);
  const bool known = round > 0 && static_cast<std::size_t>(round) <= rounds.size();
  return known ? rounds[static_cast<std::size_t>(round) - 1].at : rounds.empty() ? syntax.header : rounds.back().at;
}

Plan PrintedPlan::begin(const PlanArgs& args) const {
  if (const auto problem = this->problem(args)) return plan_of(sentence_of(file_, *problem));
  const auto print = printed(args);
  const ExpandedPlan plan = expand(std::get<plan_syntax::Syntax>(print->syntax), args, true);
  return plan_of(std::get<std::shared_ptr<const PlanExpansion>>(plan), args.rank);
}

std::int64_t PrintedPlan::scratch(const PlanArgs& args) const {
  const auto print = printed(args);
  const auto* syntax = std::get_if<plan_syntax::Syntax>(&print->syntax);
  if (syntax == nullptr) return 0;
  const auto elements = scratch_of(*syntax, args);
  const std::int64_t* many = std::get_if<std::int64_t>(&elements);
  return many == nullptr ? 0 : *many;
}

bool PrintedPlan::is_for(const PlanArgs& args) const {
  const auto print = printed(args);
  const auto* syntax = std::get_if<plan_syntax::Syntax>(&print->syntax);
  if (syntax == nullptr) return true;
  const auto fits = pdsim::is_for(*syntax, args);
  const bool* yes = std::get_if<bool>(&fits);
  return yes == nullptr || *yes;
}

std::string PrintedPlan::place(const PlanArgs& args, int round) const {
  const PlanMark at = mark(args, round);
  return fmt::format("what {} prints for {} {} {} {}, {}:{}", file_, args.size, args.rank, args.count, args.root,
                     at.line, at.column);
}

}  // namespace pdsim::scenarios
