#include "scenarios/program/session.h"

#include "scenarios/program/operations/asynchronous.h"
#include "scenarios/program/operations/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

namespace pdsim::scenarios {
namespace {

// Where the operations of a launch begin: behind the relaunch that ended the one before.
std::size_t first_operation(const Scenario& scenario, int launch) {
  std::size_t at = 0;
  for (int relaunches = 1; at < scenario.program.size() && relaunches < launch; ++at)
    if (scenario.program[at].name == "relaunch") ++relaunches;
  return at;
}

// Returns everything that the file expects of this variant, here and in real worlds.
std::vector<const Expect*> all_expected(const Scenario& scenario) {
  std::vector<const Expect*> all{&scenario.expect};
  for (const auto& [name, world] : scenario.real)
    if (world.expect) all.push_back(&*world.expect);
  return all;
}

std::vector<const ExpectValue*> expected_values(const Scenario& scenario) {
  std::vector<const ExpectValue*> values;
  for (const Expect* expect : all_expected(scenario))
    for (const ExpectValue& value : expect->values) values.push_back(&value);
  return values;
}

// `layer.weight`, `layer.weight.grad`, a buffer; undefined when there is none.
nn::Tensor tensor_named(nn::Module& module, std::string_view name) {
  constexpr std::string_view gradient = ".grad";
  if (!name.ends_with(gradient)) return module.find(name);
  const nn::Tensor parameter = module.find(name.substr(0, name.size() - gradient.size()));
  return parameter.defined() ? parameter.grad() : nn::Tensor{};
}

// The numbers of one entry of DDP's logging data; of lists by bucket all, in order.
std::vector<double> logged(const DistributedDataParallel& ddp, const std::string& key) {
  const auto entries = ddp.logging().entries();
  std::vector<double> numbers;
  const auto add = [&](const std::vector<std::int64_t>& list) {
    for (const std::int64_t number : list) numbers.push_back(static_cast<double>(number));
  };
  const auto found = entries.find(key);
  if (found == entries.end()) return numbers;
  if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second)) add(*list);
  if (const auto* lists = std::get_if<std::vector<std::vector<std::int64_t>>>(&found->second))
    for (const auto& list : *lists) add(list);
  return numbers;
}

// The state with which a rank ended.
struct Ended {
  nn::Module* module = nullptr;
  const std::vector<double>& loss;
};

void add_value(TensorValues& values, const std::string& key, const Ended& ended, const std::string& name) {
  if (name == "loss") {
    if (!ended.loss.empty()) values[key] = ended.loss;
    return;
  }
  if (ended.module == nullptr) return;
  if (const nn::Tensor tensor = tensor_named(*ended.module, name); tensor.defined()) values[key] = tensor.values();
}

TensorValues values_of(const Session& s) {
  constexpr std::string_view logging = "logging.";
  TensorValues values;
  for (const ExpectValue* expected : expected_values(s.scenario)) {
    const std::string& name = expected->tensor;
    if (name.starts_with(logging) && s.ddp != nullptr) values[name] = logged(*s.ddp, name.substr(logging.size()));
    if (name == "grad_norm" && !s.grad_norm.empty()) values[name] = s.grad_norm;
    if (const auto call = s.results.find(name); call != s.results.end()) values[name] = call->second;
    add_value(values, name, {s.module.get(), s.last_loss}, name);
    if (const auto whole = s.gathered.find(name); whole != s.gathered.end() && values[name].empty())
      values[name] = whole->second;
    for (const auto& [part, other] : s.other_parts) add_value(values, name, {other.module.get(), s.last_loss}, name);
  }
  for (const Expect* expect : all_expected(s.scenario)) {
    if (expect->device_rows && s.data_parallel != nullptr) {
      std::vector<double>& rows = values[std::string(device_rows_value)];
      rows.clear();
      for (const DeviceLoad& load : s.data_parallel->loads()) rows.push_back(static_cast<double>(load.rows));
    }
    if (!expect->buckets || s.ddp == nullptr) continue;
    for (const std::string_view name : {initial_buckets_value, rebuilt_buckets_value})
      values[std::string(name)] = logged(*s.ddp, std::string(name.substr(logging.size())));
  }
  return values;
}

// Notes facts that rules would otherwise have to ask the scenario for.
void note_world(Session& s) {
  if (s.world != WorldKind::simulated) return;
  const sim::WorldSpec& spec = s.scenario.world.spec;
  s.env.recorder.note(notes::BackendUsed{spec.backend, {}});
  if (spec.intra.loss > 0 || spec.inter.loss > 0) s.env.recorder.note(notes::LossyLinks{});
}

// The time of the step that expectations ask for; zero where it did not end.
Time step_time_of(const Session& s) {
  for (const Expect* expect : all_expected(s.scenario)) {
    const auto took = s.step_times.find(expect->timed_step.value_or(s.steps_trained - 1));
    if (expect->step_time && took != s.step_times.end()) return took->second;
  }
  return {};
}

Status run_launch(Session& s) {
  note_world(s);
  const auto& program = s.scenario.program;
  for (std::size_t i = first_operation(s.scenario, s.env.launch); i < program.size() && !s.relaunch; ++i)
    PDSIM_TRY(s.run(program[i]));
  PDSIM_TRY(operations::synchronize(s));  // a process that ends, or destroys its communicators, waits for its device
  if (s.wrong.ok()) return {};
  s.env.recorder.set_site(s.wrong_site);
  return s.wrong;
}

}  // namespace

Site site_of(const Operation& op, const std::string& name, int step) {
  Site site{name, step, op.mark.line, op.mark.column, operations::phase_of(op.name), {}};
  if (!op.label.empty()) site.origin = CallOrigin{{}, op.label, {}};
  return site;
}

Status Session::run(const Operation& op) {
  if (!op.when.selects(env.rank, env.node, step)) return {};
  FlightRecorder& recorder = env.recorder;
  recorder.set_site(site_of(op, loop != nullptr ? loop->name : op.name, step));
  if (env.reach) env.reach(step, op.name);
  const OperationFunction function = operations::function_of(op.name);
  PDSIM_CHECK(function != nullptr, "the loader let an operation through that has no row");
  const std::int64_t id = recorder.enter(op.name);
  Status status = function(*this, op);
  recorder.leave(id, status.ok() ? wrong_now : status);
  wrong_now = {};
  return status;
}

Result<ProcessGroup*> Session::group_for(const Operation& op) {
  const std::string& name = op.group();
  if (group != nullptr && name == "world") return group.get();
  if (const auto found = groups.find(name); found != groups.end()) return found->second.get();
  if (group != nullptr)
    return Error{Code::invalid_argument,
                 fmt::format("{}: rank {} has not called a new_group named `{}`", op.name, env.rank, name),
                 {{"in", op.name}, {"group", name}, {"rank", std::to_string(env.rank)}}};
  return Error{
      Code::not_initialized,
      fmt::format("{} needs a process group, and this rank has called no init_process_group before it", op.name),
      {{"in", op.name}}};
}

void Session::work_on(const std::string& the_part) {
  if (the_part == part) return;
  TrainedPart& mine = other_parts[part];
  mine = {std::move(module), std::move(ddp), std::move(optimizer)};
  TrainedPart& theirs = other_parts[the_part];
  module = std::move(theirs.module);
  ddp = std::move(theirs.ddp);
  optimizer = std::move(theirs.optimizer);
  other_parts.erase(the_part);
  if (part.empty()) other_parts.erase(part);
  part = the_part;
}

void Session::work_on_part_of(const std::optional<Located<std::string>>& named) {
  if (!scenario.model.parts.empty() && named) work_on(**named);
}

Status Session::for_each_part(const std::function<Status()>& what) {
  if (scenario.model.parts.empty()) return what();
  for (const ModelPart& each : scenario.model.parts) {
    work_on(each.name);
    PDSIM_TRY(what());
  }
  return {};
}

void Session::end(bool orderly) {
  rpc.reset();
  losses.clear();
  for (auto& [name, other] : other_parts) other.ddp.reset();
  optimizer.reset();
  data_parallel.reset();
  sharded.reset();
  ddp.reset();
  groups.clear();
  maker.reset();
  more_contexts.clear();
  group.reset();
  pending.clear();
  on_stream.clear();
  let_go_of_the_store(orderly);
}

void Session::use_store(std::unique_ptr<Store> newly_opened, bool of_a_file) {
  let_go_of_the_store(true);
  opened = std::move(newly_opened);
  ++inits;
  store = opened.get();
  if (inits == 1 || of_a_file) return;
  init_keys = std::make_unique<PrefixStore>(fmt::format("init_{}", inits), *opened);
  store = init_keys.get();
}

// A store that does not close in order is told by the launch that finds its file, not by the one that leaves.
void Session::let_go_of_the_store(bool orderly) {
  store = nullptr;
  init_keys.reset();
  if (orderly && opened != nullptr) (void)opened->close();
  opened.reset();
}

RankProgram rank_program(const Scenario& scenario, WorldKind world) {
  return [&scenario, world](RankEnvironment& env) {
    Session session(scenario, env, world);
    ProgramResult result;
    result.status = run_launch(session);
    result.values = values_of(session);
    result.step_time = step_time_of(session);
    result.relaunch = session.relaunch;
    result.clean = session.clean;
    session.end(result.status.ok() && (!session.relaunch || session.clean));
    return result;
  };
}

}  // namespace pdsim::scenarios
