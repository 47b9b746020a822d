#include "scenarios/records/rank_end.h"

#include <fmt/format.h>

namespace pdsim::scenarios {

int signal_of(const Error& error) { return static_cast<int>(fact_number(error.facts, signal_fact).value_or(0)); }

std::optional<int> exit_status_of(const Error& error) {
  const std::optional<std::int64_t> status = fact_number(error.facts, exit_status_fact);
  if (!status) return std::nullopt;
  return static_cast<int>(*status);
}

std::string cause_text(const Error& error) {
  if (const auto status = exit_status_of(error)) return fmt::format("exit status {}", *status);
  const std::string_view exception = fact(error.facts, exception_fact);
  return std::string(error.code != Code::program_raised || exception.empty() ? name_of(error.code) : exception);
}

std::string_view end_word(const RankLog& log) {
  if (log.end == RankEnd::returned) return "finished";
  return log.end == RankEnd::raised && exit_status_of(log.error) ? "exited" : name_of(log.end);
}

std::string ending_text(const RankLog& log) {
  if (log.end == RankEnd::died) {
    const int signal = signal_of(log.error);
    return signal == 0 ? "died" : fmt::format("died by signal {}", signal);
  }
  if (const auto status = exit_status_of(log.error)) return fmt::format("exited with status {}", *status);
  const bool is_own = log.error.code == Code::program_raised && fact(log.error.facts, exception_fact).empty();
  return is_own ? "raised an exception" : "raised " + cause_text(log.error);
}

std::string ending_sentence(const RankLog& log) {
  return exit_status_of(log.error) ? log.error.message : fmt::format("{}: {}", end_word(log), log.error.message);
}

bool is_at_its_end(const RankLog& log) {
  if (log.end == RankEnd::died) return false;
  return !exit_status_of(log.error) || !fact(log.error.facts, exit_function_fact).empty();
}

}  // namespace pdsim::scenarios
