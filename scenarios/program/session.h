// The rank program of a scenario: the operations of one launch, and one rank's state while it runs them.
//
//   records  every operation is a program call; the collectives it makes are its children. Inside train and eval the site
//            names the loop, with its step; everywhere the line and column of the operation
//   faults   RankEnvironment::reach is called before each operation
//   values   the tensors that expectations name, when the rank is done, also after an error
//   threads  the rank's own
#pragma once

#include "core/group/checked_communicator.h"
#include "core/group/new_group.h"
#include "core/group/rank_program.h"
#include "core/nn/module.h"
#include "core/nn/optimizer.h"
#include "core/parallel/data_parallel.h"
#include "core/parallel/ddp.h"
#include "core/sharded/fully_sharded.h"
#include "core/store/prefix_store.h"
#include "scenarios/language/run_world.h"
#include "scenarios/language/scenario.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace pdsim::scenarios {

namespace operations {
struct JoinedBatches;
struct RpcSession;
}

// The origin of an operation's calls and notes; `name` is that of the loop around it, or its own.
Site site_of(const Operation& op, const std::string& name, int step);

// `scenario` must outlive the program.
RankProgram rank_program(const Scenario& scenario, WorldKind world);

// A started operation and the memory it works on.
struct Pending {
  std::vector<std::byte> input, output;
  WorkPtr work;
  std::function<Status()> check;  // checks `output` afterwards
  bool synchronised = false;      // the device was synchronised since it was started
  bool blocks_host = false;       // also where only the stream would wait: a barrier
  std::function<std::vector<double>()> result;  // the numbers of `output`, for a call whose input the file states; else empty
  std::string label;                            // of that call
};

// The objects created for each part of a model.
struct TrainedPart {
  std::unique_ptr<nn::Module> module;
  std::unique_ptr<DistributedDataParallel> ddp;
  std::unique_ptr<nn::Optimizer> optimizer;
};

struct Session {
  Session(const Scenario& the_scenario, RankEnvironment& environment, WorldKind kind)
      : scenario(the_scenario), env(environment), world(kind), checked(environment.backend, environment.runtime) {}

  const Scenario& scenario;
  RankEnvironment& env;
  WorldKind world;

  std::unique_ptr<Store> opened;           // by init
  std::unique_ptr<PrefixStore> init_keys;  // for an init that is not the first
  Store* store = nullptr;                  // the process group's view: one of these
  int inits = 0;
  std::map<std::string, std::unique_ptr<Pending>> pending;  // by label; their memory outlives the group
  std::unique_ptr<nn::Module> module;
  CheckedBackend checked;
  std::unique_ptr<GroupMaker> maker;                         // made with the group, for new_group
  std::vector<std::unique_ptr<Communicator>> more_contexts;  // of init's further interfaces
  std::unique_ptr<ProcessGroup> group;
  std::map<std::string, std::unique_ptr<ProcessGroup>> groups;  // created by new_group, by name
  std::set<std::string> waited;                                 // labels of finished calls
  std::vector<std::pair<std::string, std::unique_ptr<Pending>>>
      on_stream;                           // with labels: only the stream waited for them
  std::set<std::string> outside;           // and of those on groups to which this rank does not belong
  int device = 0;                          // the GPU that set_device chose
  std::set<std::pair<std::string, int>> devices_compared;  // group and device: a communicator of NCCL's
  bool group_destroyed = false;
  std::unique_ptr<DistributedDataParallel> ddp;
  std::unique_ptr<DataParallel> data_parallel;
  std::shared_ptr<FullyShardedDataParallel> sharded;
  std::map<std::string, std::vector<double>> gathered;  // parameters of a sharded model, when it was last whole
  Time computing{};                                     // of the last step, by the layers' times
  std::int64_t rows = 0;                                // of the last batch
  std::unique_ptr<nn::Optimizer> optimizer;
  std::map<std::string, nn::Tensor> losses;        // by output name
  std::string part;                                // the owner of the module, ddp and optimizer above; empty: no parts
  std::map<std::string, TrainedPart> other_parts;  // the same for the other parts
  std::map<std::string, std::string> part_of_loss;
  std::vector<double> last_loss;
  std::map<std::string, std::vector<double>> results;  // of calls whose inputs the file states, by label
  std::shared_ptr<operations::JoinedBatches> joined;    // in a process that runs one backward for several batches
  std::vector<double> grad_norm;                        // of the last clip_grad_norm
  std::set<std::string> parts_begun;                 // whose first forward in training has begun
  std::map<std::string, std::size_t> replica_steps;  // of each part, whose parameters were noted
  Status wrong,
      wrong_now;    // the first wrong result of a call, and that of the current operation
  Site wrong_site;  // where the first was found

  std::shared_ptr<operations::RpcSession> rpc;  // null: before init_rpc, and after shutdown

  const Operation* loop = nullptr;  // the train or eval around the current operation
  int step = -1;
  std::int64_t steps_trained = 0;           // by the last train
  std::map<std::int64_t, Time> step_times;  // of its steps, where expectations ask for them
  bool relaunch = false;
  bool clean = false;

  // Selects this part's module, ddp and optimizer.
  void work_on(const std::string& the_part);
  // Selects the part of an operation, which names none in a file without parts.
  void work_on_part_of(const std::optional<Located<std::string>>& named);
  // Runs it for every part of the model, or once where it has none.
  Status for_each_part(const std::function<Status()>& what);
  bool moves_data() const { return world == WorldKind::real || scenario.world.spec.payload; }
  // Runs one operation if its `when` selects this rank and step.
  Status run(const Operation& op);
  // The number of ranks in the world's group; before init, the launcher's.
  int world_size() const { return group != nullptr ? group->size() : env.world_size; }
  // The backend that joins groups: the world's, or the checked one around it.
  Backend& backend() { return scenario.world.checked ? static_cast<Backend&>(checked) : env.backend; }
  // The group that the operation names. Errors: not_initialized before init; invalid_argument before its new_group.
  Result<ProcessGroup*> group_for(const Operation& op);
  // After the first init, the keys of the previous one are hidden; a file that is used again is left to the user.
  void use_store(std::unique_ptr<Store> newly_opened, bool of_a_file);
  void let_go_of_the_store(bool orderly);
  // Ends groups before the store, and the store in order when `orderly`.
  void end(bool orderly);
};

using OperationFunction = Status (*)(Session&, const Operation&);

}  // namespace pdsim::scenarios
