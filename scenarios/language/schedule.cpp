#include "scenarios/language/schedule.h"

#include "scenarios/language/tables/operations_table.h"

#include <algorithm>
#include <map>
#include <utility>

namespace pdsim::scenarios {
namespace {

bool names(const When& when, IntSet Selector::*of) {
  return std::any_of(when.any.begin(), when.any.end(), [of](const Selector& s) { return !(s.*of).is_all(); });
}

// Signs everything that decides which operations a rank runs, in any step.
void sign(const std::vector<Operation>& program, Rank rank, int node, std::string& signature) {
  for (const Operation& op : program) {
    for (const Selector& s : op.when.any) signature += s.rank.contains(rank) && s.node.contains(node) ? '1' : '0';
    sign(op.body, rank, node, signature);
  }
}

class Maker {
 public:
  explicit Maker(const Scenario& scenario) : s_(scenario) {
    const auto& layers = s_.model.spec.layers;
    for (const nn::LayerSpec& layer : layers) {
      has_buffers_ = has_buffers_ || nn::has_buffers(layer.kind);
      gathers_statistics_ = gathers_statistics_ || layer.kind == nn::LayerKind::sync_batchnorm;
    }
  }

  Schedule make(int launch) {
    std::vector<const Operation*> program;
    int at = 1;
    for (const Operation& op : s_.program) {
      if (at == launch) program.push_back(&op);
      at += op.name == "relaunch" ? 1 : 0;
    }
    note_groups(s_.program);
    note_mesh();
    std::map<std::string, std::size_t> known;
    for (Rank rank = 0; rank < s_.world.spec.ranks(); ++rank) {
      const int node = s_.world.spec.node_of(rank);
      std::string signature(1, s_.ddp.wraps(rank) ? 'w' : '-');
      for (const auto& [name, ranks] : groups_) signature += ranks.contains(rank) ? '1' : '0';
      sign(s_.program, rank, node, signature);
      const auto [found, is_new] = known.try_emplace(std::move(signature), made_.classes.size());
      if (is_new) {
        made_.classes.emplace_back();
        rank_ = rank;
        node_ = node;
        for (const Operation* op : program) run(*op, {});
      }
      made_.classes[found->second].ranks.push_back(rank);
    }
    return std::move(made_);
  }

 private:
  struct Around {
    int step = -1;
    int loop = -1;
    std::int64_t round = 0;  // of the loop
    bool trains = false, synchronises = true, names_steps = false, names_ranks = false;
  };

  void note_groups(const std::vector<Operation>& program) {
    for (const Operation& op : program)
      if (const auto* made = op.if_is<NewGroupOptions>()) groups_.try_emplace(made->name, made->ranks);
  }

  void note_mesh() {
    for (const Mesh::Dimension& dimension : s_.mesh.dimensions) {
      std::size_t number = 0;
      for (std::vector<Rank>& ranks : s_.mesh.groups(dimension.name, s_.world.spec.ranks()))
        made_.mesh_groups.push_back({dimension.name, Mesh::group_name(dimension.name, number++), std::move(ranks)});
    }
  }

  bool is_full() const { return made_.classes.back().calls.size() >= most_scheduled; }

  void run(const Operation& op, Around around) {
    if (!op.when.selects(rank_, node_, around.step) || op.name == "join") return;
    if (is_full()) {
      made_.whole = false;
      return;
    }
    around.names_steps = around.names_steps || names(op.when, &Selector::step);
    around.names_ranks = around.names_ranks || names(op.when, &Selector::rank) || names(op.when, &Selector::node);
    if (op.name == "no_sync") around.synchronises = false;
    if (!op.has_body) note_round(around);
    if (!op.has_body) return call(op, around);
    const bool is_loop = op.name == "train" || op.name == "repeat";
    if (is_loop) around.loop = loop_of(op);
    const bool counts = op.name == "train" || (op.name == "repeat" && !around.trains);
    around.trains = around.trains || op.name == "train";
    const std::int64_t rounds = is_loop ? op.rounds() : 1;
    for (std::int64_t round = 0; round < rounds && made_.whole; ++round) {
      if (is_loop) around.round = round;
      if (counts) around.step = static_cast<int>(round);
      for (const Operation& inner : op.body) run(inner, around);
    }
  }

  // Whether the wrapper exchanges something in it.
  bool by_wrapper(const Operation& op, const Around& around) const {
    if (s_.fully_shard)
      return op.name == "forward" || op.name == "eval" || op.name == "checkpoint" || op.name == "load_checkpoint" ||
             (op.name == "backward" && around.synchronises) ||
             (op.name == "clip_grad_norm" && op.as<ClipOptions>().of == ClippedNorm::model);
    if (!s_.ddp.wraps(rank_)) return false;
    const bool exchanges = (has_buffers_ && s_.ddp.options.broadcast_buffers) || gathers_statistics_;
    if (op.name == "backward") return around.synchronises;
    if (const auto* forward = op.if_is<ForwardOptions>())
      return exchanges && around.synchronises && forward->through == ThroughWrapper::ddp;
    if (const auto* eval = op.if_is<EvalOptions>())
      return exchanges && around.synchronises && eval->through == ThroughWrapper::ddp;
    return false;
  }

  // Whether the parts of split layers are added up in it.
  bool adds_parts(const Operation& op) const {
    if (!s_.tensor_parallel) return false;
    if (op.name == "backward") return !s_.tensor_parallel->colwise.empty();
    return (op.name == "forward" || op.name == "eval") && !s_.tensor_parallel->rowwise.empty();
  }

  void call(const Operation& op, const Around& around) {
    const language::Key* row = language::operation_named(op.name);
    if (row != nullptr && row->has(language::collective) && op.name != "new_group") call_in(op.group(), op, around, false);
    if (adds_parts(op)) call_in(s_.tensor_parallel->group, op, around, true);
    const std::string& of_model = s_.fully_shard ? s_.fully_shard->group : s_.ddp.group;
    if (by_wrapper(op, around)) return call_in(of_model, op, around, true);
    Around outside = around;
    outside.synchronises = true;
    if (by_wrapper(op, outside)) made_.classes.back().held_back.push_back({site_of(of_model, op, around, true), around.step});
  }

  void call_in(const std::string& group, const Operation& op, const Around& around, bool of_wrapper) {
    const auto members = groups_.find(group);
    if (members != groups_.end() && !members->second.contains(rank_)) return;
    made_.classes.back().calls.push_back({site_of(group, op, around, of_wrapper), around.step});
  }

  int site_of(const std::string& group, const Operation& op, const Around& around, bool of_wrapper) {
    const auto [found, is_new] = sites_.try_emplace({&op, group}, static_cast<int>(made_.sites.size()));
    if (is_new) {
      const auto* options = op.if_is<CollectiveOptions>();
      made_.sites.push_back({op.name, op.label, options != nullptr ? options->tensor : std::string(), op.written, group,
                             op.mark, around.loop, around.names_steps, around.names_ranks, of_wrapper});
    }
    return found->second;
  }

  void note_round(const Around& around) {
    if (around.loop < 0) return;
    auto& rounds = made_.classes.back().rounds;
    const auto loop = static_cast<std::size_t>(around.loop);
    if (rounds.size() <= loop) rounds.resize(loop + 1);
    rounds[loop] = std::max(rounds[loop], around.round + 1);
  }

  static bool has_messages(const Operation& op) {
    const language::Key* row = language::operation_named(op.name);
    const bool has_peer = row != nullptr && (row->has(language::point_to_point) || op.name == "pipeline");
    return has_peer || std::any_of(op.body.begin(), op.body.end(), has_messages);
  }

  int loop_of(const Operation& op) {
    const auto [found, is_new] = loops_.try_emplace(&op, static_cast<int>(made_.loops.size()));
    if (!is_new) return found->second;
    ScheduledLoop loop{op.name, op.label, {}, op.mark, has_messages(op)};
    for (const Operation& inner : op.body) loop.body += inner.name + " ";
    made_.loops.push_back(std::move(loop));
    return found->second;
  }

  const Scenario& s_;
  bool has_buffers_ = false, gathers_statistics_ = false;
  Schedule made_;
  std::map<const Operation*, int> loops_;  // looked up, never walked through
  std::map<std::pair<const Operation*, std::string>, int> sites_;  // by group; looked up as well
  std::map<std::string, IntSet> groups_;
  Rank rank_ = 0;
  int node_ = 0;
};

}  // namespace

const ScheduleClass* class_of(const Schedule& schedule, Rank rank) {
  const auto of = std::find_if(schedule.classes.begin(), schedule.classes.end(),
                               [rank](const ScheduleClass& c) { return std::binary_search(c.ranks.begin(), c.ranks.end(), rank); });
  return of == schedule.classes.end() ? nullptr : &*of;
}

Schedule schedule_of(const Scenario& scenario, int launch) { return Maker(scenario).make(launch); }

}  // namespace pdsim::scenarios
