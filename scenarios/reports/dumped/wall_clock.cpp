#include "scenarios/reports/dumped/wall_clock.h"

#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <chrono>

namespace pdsim::scenarios {
namespace {

constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t day_s = 86'400;

struct Civil {
  std::string date, time;  // to the second
  std::int64_t ns = 0;
};

Civil civil_of(std::int64_t since_1970_ns) {
  const std::int64_t seconds = since_1970_ns / second_ns, days = seconds / day_s, of_day = seconds % day_s;
  const std::chrono::year_month_day date{std::chrono::sys_days{std::chrono::days{days}}};
  return {fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                      static_cast<unsigned>(date.day())),
          fmt::format("{:02}:{:02}:{:02}", of_day / 3600, of_day / 60 % 60, of_day % 60), since_1970_ns % second_ns};
}

constexpr std::int64_t year_2000_ns = 946'684'800 * second_ns;  // what our own runs write counts from 1970
constexpr std::int64_t in_ms = second_ns / 1000;

}  // namespace

WallClock::WallClock(const RunRecord& run) {
  for (const RankResult& result : run.ranks)
    if (const Note* note = first_note<notes::Dumped>(result.log); note != nullptr && epoch_ns_ == 0)
      epoch_ns_ = note->as<notes::Dumped>().epoch_ns;
  if (epoch_ns_ < year_2000_ns) epoch_ns_ = 0;
  const std::int64_t day_ns = day_s * second_ns;
  several_days_ = epoch_ns_ / day_ns != (epoch_ns_ + run.elapsed.ns()) / day_ns;
}

std::string WallClock::time(Time at) const {
  if (!has_date()) return to_string(at);
  const Civil civil = civil_of(epoch_ns_ + at.ns());
  return fmt::format("{}{}{}.{:03}", several_days_ ? civil.date : "", several_days_ ? " " : "", civil.time,
                     civil.ns / in_ms);
}

std::string WallClock::moment(Time at) const {
  if (!has_date()) return to_string(at);
  const Civil civil = civil_of(epoch_ns_ + at.ns());
  return fmt::format("{} {}.{:03} UTC", civil.date, civil.time, civil.ns / in_ms);
}

std::string WallClock::iso(Time at) const {
  if (!has_date()) return {};
  const Civil civil = civil_of(epoch_ns_ + at.ns());
  return fmt::format("{}T{}.{:09}Z", civil.date, civil.time, civil.ns);
}

}  // namespace pdsim::scenarios
