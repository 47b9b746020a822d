// Moments of a dump in wall-clock time: its run counts from the first entry, whose time since 1970 the record knows.
#pragma once

#include "core/group/rank_program.h"

#include <string>

namespace pdsim::scenarios {

class WallClock {
 public:
  // Uses the record's notes; a record without any has no date, and its moments count from its beginning.
  explicit WallClock(const RunRecord& run);

  bool has_date() const { return epoch_ns_ > 0; }
  // "03:12:05.040"; with the date in front where the record spans several days. Without a date "10ms".
  std::string time(Time at) const;
  // "2026-11-22 03:12:05.040 UTC"; without a date "10ms".
  std::string moment(Time at) const;
  // "2026-11-22T03:12:05.040123456Z"; empty without a date.
  std::string iso(Time at) const;

 private:
  std::int64_t epoch_ns_ = 0;
  bool several_days_ = false;
};

}  // namespace pdsim::scenarios
