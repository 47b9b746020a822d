#include "scenarios/plans/own_plan.h"

#include "scenarios/text/shell_word.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <unistd.h>

namespace pdsim::scenarios {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_bytes = (64 << 10) + 1;

Diagnostic diagnostic_of(const PlanMark& at, std::string what, std::string label) {
  return {false, std::move(what), {at.line, at.column, at.width}, std::move(label), "plan"};
}

std::string report(const std::string& file, const std::string& text, const PlanMark& at, std::string what,
                   std::string label) {
  return render(file, text, diagnostic_of(at, std::move(what), std::move(label)));
}

LoadedPlan failed_program(const std::string& path, const PrintedProblem& printed) {
  const auto& [at, what, label] = printed.problem;
  return {nullptr, report("what " + path + " prints", printed.text, at, what, label), sentence_of(path, printed.problem),
          diagnostic_of(at, what, label), printed.text};
}

LoadedPlan failed(std::string sentence) {
  return {nullptr, fmt::format("error[plan]: {}\n", sentence), sentence, {false, sentence, {}, {}, "plan"}};
}

// Indented by two, as the lines below a caret are.
std::string indented(const std::string& lines) {
  std::string text;
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    text += "  " + lines.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return text;
}

}  // namespace

struct OwnPlanLoader {
  static LoadedPlan of_text(std::string file, std::string text) {
    auto parsed = PlanText::parse(file, text);
    if (const PlanProblem* problem = std::get_if<PlanProblem>(&parsed))
      return {nullptr, report(file, text, problem->at, problem->what, problem->label), sentence_of(file, *problem),
              diagnostic_of(problem->at, problem->what, problem->label), text};
    auto plan = std::make_shared<OwnPlan>();
    plan->text_ = std::get<std::shared_ptr<const PlanText>>(parsed);
    return {plan, {}, {}, {}};
  }
  static LoadedPlan of_program(const std::string& path) {
    auto started = PrintedPlan::start(path.find('/') == std::string::npos ? "./" + path : path);
    if (const PrintedProblem* problem = std::get_if<PrintedProblem>(&started))
      return failed_program(path, *problem);
    auto plan = std::make_shared<OwnPlan>();
    plan->printed_ = std::get<std::shared_ptr<const PrintedPlan>>(started);
    return {plan, {}, {}, {}};
  }
};

bool names_plan_file(std::string_view name) {
  if (name.ends_with(".plan")) return true;
  if (name.find('/') == std::string_view::npos) return false;
  if (is_plan_program(std::string(name))) return true;
  const bool is_path = name.starts_with("./") || name.starts_with("../") || name.starts_with("/");
  return is_path && name.find(' ') == std::string_view::npos;
}

LoadedPlan plan_of_text(std::string file, std::string text) {
  return OwnPlanLoader::of_text(std::move(file), std::move(text));
}

bool is_plan_program(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored) || access(path.c_str(), X_OK) != 0) return false;
  if (!path.ends_with(".plan")) return true;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (stream == nullptr) return true;  // executable, and not to be read
  std::string head(256, '\0');
  head.resize(std::fread(head.data(), 1, head.size(), stream.get()));
  return head.starts_with("#!") || head.find('\0') != std::string::npos;
}

LoadedPlan load_plan(const std::string& path, PlanFiles which) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) return failed(fmt::format("cannot read {}: it is a folder", path));
  if (which == PlanFiles::texts_and_programs && is_plan_program(path)) return OwnPlanLoader::of_program(path);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (stream == nullptr) return failed(fmt::format("cannot read {}: {}", path, std::strerror(errno)));
  std::string text(most_bytes, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), stream.get()));
  return plan_of_text(path, std::move(text));
}

PlanFlaw OwnPlan::flaw(const PlanProof& proof) const {
  const PlanArgs args{proof.rank, proof.at.size, proof.at.count, proof.at.root, nullptr, proof.at.ranks_per_node};
  PlanFlaw flaw{file(), text_ ? text_->text() : printed_->text(args), {}, text_ || printed_->is_plan(args)};
  if (printed_) flaw.file = fmt::format("what {} {} {} {} {} prints", file(), args.size, args.rank, args.count, args.root);
  if (const std::optional<PlanProblem> problem = text_ ? text_->problem(args) : printed_->problem(args)) {
    flaw.diagnostic = diagnostic_of(problem->at, problem->what, problem->label);
    return flaw;
  }
  const PlanMark mark = text_ ? text_->mark(args, proof.round) : printed_->mark(args, proof.round);
  flaw.diagnostic = diagnostic_of(mark, proof.problem,
                                  proof.round > 0 ? fmt::format("round {} of rank {}", proof.round, proof.rank) : std::string());
  return flaw;
}

std::string OwnPlan::refusal(const PlanProof& proof) const {
  const PlanCase& at = proof.at;
  const PlanFlaw flaw = this->flaw(proof);
  std::string out = render(flaw.file, flaw.text, flaw.diagnostic);
  if (!proof.drawn.empty() && proof.round > 0) out += "\n" + indented(proof.drawn);
  out += fmt::format("\nwith {} rank{}, {} element{}", at.size, at.size == 1 ? "" : "s", at.count,
                     at.count == 1 ? "" : "s");
  if (row(algorithm().kind).rooted) out += fmt::format(", root {}", at.root);
  out += fmt::format("{}: the smallest case that fails\nreplay   {}\n", at.in_place ? ", in place" : "", replay(proof));
  return out;
}

std::string OwnPlan::replay(const PlanProof& proof) const {
  return fmt::format("pdsim prove {} --ranks {}..{} --count {}", shell_word(file()), proof.at.size, proof.at.size,
                     proof.at.count);
}

}  // namespace pdsim::scenarios
