// Flight records written by hand, one rank at a time: what a world would have recorded.
#pragma once

#include "scenarios/diagnosis/report.h"

#include <string>
#include <vector>

namespace pdsim::scenarios {

// One rank's record. Time passes by `cost` with every call.
class RankScript {
 public:
  explicit RankScript(Rank rank) { result_.log.rank = rank; }

  RankScript& site(std::string op, int step = -1, int line = 0, int column = 0);
  RankScript& wait(Time t);
  RankScript& enter(const std::string& name);  // a program call
  RankScript& leave();
  // A collective of group `world` with the next sequence number; `hangs` leaves it open.
  RankScript& collective(const std::string& name, const std::string& purpose = "", bool hangs = false);
  RankScript& message(const std::string& name, Rank peer, bool hangs = false);
  RankScript& store(const std::string& key, bool hangs = false);
  RankScript& note(NoteBody body);
  RankScript& fails(Code code, const std::string& message = "");  // the newest call, and every open program call
  RankScript& raises(Code code, const std::string& message = "", Facts facts = {});
  RankScript& dies();
  RankScript& returns();

  Call& last() { return result_.log.calls.back(); }
  RankScript& value(const std::string& name, std::vector<double> values);
  const RankResult& result() const { return result_; }
  Time now() const { return now_; }

 private:
  Call& begin(Layer layer, const std::string& name);
  RankResult result_;
  Time now_{};
  Seq seq_ = 1;
  Site site_;
  std::vector<std::int64_t> open_;
};

// A run of these ranks; deadlocked if some rank neither returned nor ended.
RunRecord run_of(const std::vector<RankScript>& ranks);

// A DDP training of `steps` steps: per rank, whether it leaves `missing` out in step `bad`.
struct Training {
  int ranks = 2;
  std::vector<Rank> skip{1};
  int bad = 2;
  int steps = 3;
  int buckets = 1;
  int bad_bucket = 0;
  std::vector<std::string> missing{"aux.weight", "aux.bias"};
  bool find_unused = false;
  bool path_note = true;
};
std::vector<RankScript> train(const Training& t);

Scenario scenario_of(int ranks);

// Of the report's diagnosis; "none" without one.
std::string id_of(const Report& report);

}  // namespace pdsim::scenarios
