// new_group: sub-groups of the world, by c10d's rules.
//
//   callers  every rank of the world, members or not, in the same order: the n-th calls of all ranks create one group
//   ranks    global ranks in any order; the group sorts them, so [3, 1] makes global rank 1 its rank 0
//   result   members get the joined group; the others a handle whose is_member() is false (see ProcessGroup)
//   records  a note of every call before it joins, which says which group the rank means
//   errors   invalid_argument (no ranks, a rank outside the world, or one named twice), before the call is counted; otherwise
//            those of the backend's join
//   threads  from the rank's own fiber or thread
#pragma once

#include "core/group/process_group.h"

#include <memory>
#include <string>
#include <vector>

namespace pdsim {

class GroupMaker {
 public:
  // All must outlive the maker; the backend and the recorder also its groups.
  GroupMaker(Backend& backend, Store& store, Rank rank, int world_size, FlightRecorder& recorder)
      : backend_(backend), store_(store), rank_(rank), world_size_(world_size), recorder_(recorder) {}

  // `name` is for reports; empty: "group N", counted from 1. `timeout` max: the backend's.
  Result<std::unique_ptr<ProcessGroup>> new_group(std::vector<Rank> ranks, std::string name = {},
                                                  Time timeout = Time::max());

  int made() const { return made_; }  // calls of new_group on this rank whose ranks were accepted

 private:
  Backend& backend_;
  Store& store_;
  Rank rank_;
  int world_size_;
  FlightRecorder& recorder_;
  int made_ = 0;
};

}  // namespace pdsim
