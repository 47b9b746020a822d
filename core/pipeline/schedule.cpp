#include "core/pipeline/schedule.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace pdsim {
namespace {

constexpr std::size_t csv_ranks = 4096, csv_actions = most_pipeline_actions;
constexpr int csv_numbers = 1'000'000;  // of stages and of micro-batches

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || number < 0 || number >= csv_numbers)
    return std::nullopt;
  return number;
}

std::optional<PipelineAction> action_of(std::string_view cell) {
  const std::size_t at = cell.find_first_not_of("0123456789");
  if (at == std::string_view::npos) return std::nullopt;
  for (const PipelineActionRow& known : pipeline_actions) {
    if (cell[at] != known.letter) continue;
    const auto stage = whole_number(cell.substr(0, at)), microbatch = whole_number(cell.substr(at + 1));
    if (stage && microbatch) return PipelineAction{known.kind, *stage, *microbatch};
  }
  return std::nullopt;
}

std::string_view trimmed_cell(std::string_view cell) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '"'; };
  while (!cell.empty() && blank(cell.front())) cell.remove_prefix(1);
  while (!cell.empty() && blank(cell.back())) cell.remove_suffix(1);
  return cell;
}

Error csv_error(std::string message, std::size_t line, std::size_t column) {
  return {
      Code::invalid_argument, std::move(message), {{"line", std::to_string(line)}, {"column", std::to_string(column)}}};
}

std::string problem_of_cell(std::string_view cell) {
  for (const std::string_view message : {"SEND_", "RECV_", "UNSHARD", "RESHARD"})
    if (cell.find(message) != std::string_view::npos)
      return fmt::format("`{}`: give the compute actions alone; the messages between ranks follow from them", cell);
  return fmt::format(
      "`{}` is not an action: write the stage, one of F, B, I and W, and the micro-batch, for example 1F0",
      cell.substr(0, 40));
}

}  // namespace

std::string to_string(const PipelineAction& action) {
  return fmt::format("{}{}{}", action.stage, row(action.kind).letter, action.microbatch);
}

std::vector<Rank> ranks_of_stages(const PipelineSchedule& schedule) {
  std::vector<Rank> ranks(static_cast<std::size_t>(schedule.stages), no_rank);
  for (Rank r = 0; r < schedule.ranks(); ++r)
    for (const PipelineAction& action : schedule.order[static_cast<std::size_t>(r)]) {
      Rank& rank = ranks[static_cast<std::size_t>(action.stage)];
      if (rank == no_rank) rank = r;
    }
  return ranks;
}

std::string to_csv(const PipelineSchedule& schedule) {
  std::string text;
  for (const auto& actions : schedule.order) {
    for (std::size_t i = 0; i < actions.size(); ++i) text += (i == 0 ? "" : ",") + to_string(actions[i]);
    text += "\n";
  }
  return text;
}

Result<PipelineSchedule> pipeline_from_csv(std::string_view text, std::string name) {
  PipelineSchedule schedule;
  schedule.name = std::move(name);
  std::size_t actions = 0;
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view rest = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (trimmed_cell(rest).empty() && text.empty()) break;
    if (schedule.order.size() == csv_ranks)
      return csv_error(fmt::format("more than {} ranks (one line each)", csv_ranks), line, 1);
    std::vector<PipelineAction>& order = schedule.order.emplace_back();
    for (std::size_t column = 1; !rest.empty();) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      const std::string_view cell = trimmed_cell(rest.substr(0, comma));
      if (!cell.empty()) {
        const auto action = action_of(cell);
        if (!action) return csv_error(problem_of_cell(cell), line, column);
        if (++actions > csv_actions) return csv_error(fmt::format("more than {} actions", csv_actions), line, column);
        order.push_back(*action);
        schedule.stages = std::max(schedule.stages, action->stage + 1);
        schedule.microbatches = std::max(schedule.microbatches, action->microbatch + 1);
      }
      column += comma + 1;
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
  }
  const Wide forwards = Wide{static_cast<unsigned>(schedule.stages)} * static_cast<unsigned>(schedule.microbatches);
  if (forwards > Wide{csv_actions})
    return csv_error(
        fmt::format("{} stages of {} micro-batches (by the highest numbers found) are more than {} forwards",
                    schedule.stages, schedule.microbatches, csv_actions),
        1, 1);
  if (actions == 0) return csv_error("no action: write one line a rank, for example 0F0,0F1,0B0,0B1", 1, 1);
  return schedule;
}

}  // namespace pdsim
