// Backend and Communicator: the interface to a communication library, real or simulated.
//
//   Backend   one per rank and library; join() is the library's part of init_process_group / new_group (addresses go
//             through the store; may block; rendezvous_timeout, connection_refused, store_timeout ...)
//   Communicator    this rank in one group. start() never blocks on peers; the member completes the Work, also on timeout, on
//             a dead peer and on abort, by the rules of the library. After the first failure it may refuse further work.
//   threads   from the rank's own fiber or thread
#pragma once

#include "core/base/quantity.h"
#include "core/collectives/collective.h"
#include "core/group/rank_list.h"
#include "core/group/raw_caller.h"
#include "core/group/work.h"
#include "core/store/store.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

struct Availability {
  bool yes = false;
  std::string version;  // of the library, when there is one
  std::string reason;   // why not, and what to install
};

struct JoinOptions {
  std::string group = "world";
  Rank rank = 0;  // group rank
  int size = 1;
  Time timeout{};
  std::vector<Rank> global_ranks{};  // of the members, by group rank; empty: group ranks equal global ranks
  std::string name{};                // as messages show it; empty: `group`, which distinguishes groups
  std::string library{};             // the library whose semantics a simulated group has; empty: the world's

  RankList members() const { return global_ranks.empty() ? RankList::of_world(size) : RankList(global_ranks); }
};

class Communicator {
 public:
  virtual ~Communicator() = default;
  virtual Result<WorkPtr> start(const Collective& call) = 0;
  // Whether the library supports this operation for the call's dtype and op; asked first, on the calling rank.
  virtual Status check_supported(const Collective&) const { return {}; }
  // Ends every running Work with `reason`; the communicator is unusable afterwards.
  virtual void abort(const Error& reason) = 0;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string_view name() const = 0;
  virtual Time default_timeout() const = 0;
  // Whether the views of a call may lack memory, so that only their sizes count.
  virtual bool takes_sizes_alone() const { return false; }
  // Returns invalid_argument, before anything reaches the store or the library, where check_rank refuses the options.
  Result<std::unique_ptr<Communicator>> join(Store& store, const JoinOptions& options);
  // Joins the library itself, in a group of its own. unsupported where this backend has no library.
  Result<std::unique_ptr<RawCaller>> join_raw(Store& store, const JoinOptions& options);

 private:
  virtual Result<std::unique_ptr<Communicator>> join_group(Store& store, const JoinOptions& options) = 0;
  virtual Result<std::unique_ptr<RawCaller>> join_raw_group(Store& store, const JoinOptions& options);
};

// Error: invalid_argument, where a group of `size` ranks has no rank of this number.
Status check_rank(Rank rank, int size);

}  // namespace pdsim
