#include "scenarios/language/build.h"

#include "scenarios/language/document/read.h"
#include "scenarios/language/loader.h"
#include "scenarios/language/tables/bind.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/language/tables/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace pdsim::scenarios::language {
namespace {

Operation build_operation(const Node& item);

template <NamedEnum Enum>
void read_word(const Node& map, std::string_view key, Enum& out) {
  std::string text;
  read(map, key, text);
  out = value_named<Enum>(text).value_or(out);
}

void build_link(const Node& map, sim::Link& link, sim::Sharing& sharing) {
  read(map, "latency", link.latency);
  read(map, "bandwidth", link.bandwidth);
  read(map, "jitter", link.jitter);
  read(map, "loss", link.loss);
  read(map, "header", link.header);
  std::string first_byte;
  read(map, "first_byte", first_byte);
  link.first_byte_free = first_byte == "free";
  read(map, "overhead", link.overhead);
  read(map, "tick", link.tick);
  read_word(map, "sharing", sharing);
}

void build_topology(const Node& map, sim::WorldSpec& spec) {
  using Kind = sim::Topology::Kind;
  const std::pair<const char*, Kind> kinds[] = {
      {"fat_tree", Kind::fat_tree}, {"rail", Kind::rail}, {"torus", Kind::torus}};
  sim::Topology& topology = spec.topology;
  for (const auto& [name, kind] : kinds) {
    if (map.find(name) == nullptr) continue;
    topology.kind = kind;
    spec.sharing = sim::Sharing::links;  // unless the file says otherwise
    const Node& options = section(map, name);
    read(options, "hop", topology.hop);
    read(options, "leaf", topology.leaf);
    read(options, "oversubscription", topology.oversubscription);
    read(options, "x", topology.sides[0]);
    read(options, "y", topology.sides[1]);
    read(options, "z", topology.sides[2]);
  }
}

void build_speeds(const Node& map, std::vector<sim::Speed>& speeds) {
  const Node* list = map.find("speeds");
  if (list == nullptr) return;
  for (const Node& item : list->items) {
    sim::Speed speed;
    read(item, "rank", speed.rank);
    read(item, "work", speed.work);
    read(item, "bandwidth", speed.bandwidth);
    speeds.push_back(speed);
  }
}

void build_world(const Node& document, World& world) {
  const Entry* entry = entry_of(document, "world");
  if (entry == nullptr) return;
  const Node& map = section(document, "world");
  world.mark = entry->mark;
  sim::WorldSpec& spec = world.spec;
  spec.two_level = map.find("nodes") != nullptr;
  build_topology(section(map, "topology"), spec);
  read(map, "cores", spec.cores);
  build_speeds(map, spec.speeds);
  if (spec.two_level) {
    read(map, "nodes", spec.nodes);
    spec.ranks_per_node = 1;
    read(map, "ranks_per_node", spec.ranks_per_node);
    build_link(section(map, "intra"), spec.intra, spec.sharing);
    build_link(section(map, "inter"), spec.inter, spec.sharing);
  } else {
    read(map, "ranks", spec.ranks_per_node);
    build_link(section(map, "link"), spec.intra, spec.sharing);
    spec.inter = spec.intra;
  }
  read(map, "reduce_bandwidth", spec.reduce_bandwidth);
  read(map, "backend", spec.backend);
  read(map, "profile", spec.profile);
  read(map, "timeout", spec.timeout);
  read(map, "streams", spec.streams);
  read(section(map, "nccl"), "blocking_wait", spec.nccl.blocking_wait);
  read(section(map, "nccl"), "async_error_handling", spec.nccl.async_error_handling);
  read_word(map, "buffering", spec.buffering);
  std::string payload = "real";
  read(map, "payload", payload);
  spec.payload = payload == "real";
  std::string debug = "none";
  read(map, "debug", debug);
  world.checked = debug == "detail";
  read(map, "devices", world.devices);
  read(map, "device_speed", world.device_speed);
  read(map, "memory_speed", world.memory_speed);
}

void build_data(const Node& document, Data& data) {
  const Entry* entry = entry_of(document, "data");
  if (entry == nullptr) return;
  data.given = true;
  data.mark = entry->mark;
  const Node& map = entry->value;
  read(map, "samples", data.samples);
  read(map, "sampler", data.sampler);
  data.over = data.samples;
  read(map, "over", data.over);
  read(map, "shuffle", data.shuffle);
  read(map, "drop_last", data.drop_last);
  read(map, "set_epoch", data.set_epoch);
  std::string seeds;
  read(map, "seeds", seeds);
  data.seed_per_rank = seeds == "per_rank";
}

void build_optimizer(const Node& document, Scenario& scenario) {
  const Node* node = document.find("optimizer");
  if (node == nullptr) return;
  nn::OptimizerSpec& spec = scenario.optimizer;
  std::string made;
  read(*node, "made", made);
  scenario.optimizer_before_wrapper = made == "before_wrapper";
  read(*node, "copies", spec.copies);
  read(*node, "compute", scenario.optimizer_time);
  const bool adam = node->text == "adam" || node->find("adam") != nullptr;
  spec.kind = adam ? nn::OptimizerSpec::Kind::adam : nn::OptimizerSpec::Kind::sgd;
  if (adam) spec.lr = 0.001;
  const Node& options = section(*node, adam ? "adam" : "sgd");
  read(options, "lr", spec.lr);
  read(options, "momentum", spec.momentum);
}

// The operations of a step of `train` if the file does not list any.
std::vector<Operation> default_steps(const Mark& mark) {
  std::vector<Operation> steps;
  for (const std::string_view name : {"zero_grad", "forward", "backward", "optimizer_step"}) {
    Node item;
    item.kind = Node::Kind::scalar;
    item.text = name;
    item.mark = mark;
    steps.push_back(build_operation(item));
  }
  return steps;
}

std::string written(const Node& value);

std::string written_list(const std::vector<Node>& items) {
  std::string text;
  for (const Node& item : items) text += (text.empty() ? "" : ", ") + written(item);
  return "[" + text + "]";
}

std::string written(const Node& value) {
  if (value.is_map()) return emit_inline(value);
  return value.is_list() ? written_list(value.items) : value.text;
}

std::string written(const std::vector<Operation>& operations) {
  std::string text;
  for (const Operation& op : operations) text += (text.empty() ? "" : ", ") + operation_text(op);
  return "[" + text + "]";
}

void build_options(const Node& options, const Group& group, Operation& op) {
  for (const Entry& entry : options.entries) {
    const Key* key = find(group.keys, entry.key);
    if (key == nullptr || key->type != Type::operations) continue;
    op.has_body = op.has_body || key->name == "do";
    (key->name == "do" ? op.body : op.messages) = build_program(entry.value);
  }
  for (const Key& key : group.keys) {
    const Node* value = options.find(key.name);
    if (value == nullptr || key.name == "do") continue;
    op.written += fmt::format("{}{}: {}", op.written.empty() ? "" : ", ", key.name,
                              key.type == Type::operations ? written(op.messages) : written(*value));
  }
  if (group.options.make != nullptr) read_bound(options, group.keys, group.options.address(op.options));
}

std::vector<Fault> build_faults(const Node& document) {
  std::vector<Fault> faults;
  const Node* list = document.find("faults");
  if (list == nullptr) return faults;
  for (const Node& item : list->items) {
    Fault fault;
    sim::FaultSpec& spec = fault.spec;
    const auto [entry, row] = chosen(item, fault_kinds());
    const std::string& name = entry != nullptr ? entry->key : item.text;
    spec.kind = value_named<FaultKind>(name).value_or(spec.kind);  // another name is an error already
    fault.mark = entry != nullptr ? entry->mark : item.mark;
    const Node& options = section(item, name);
    read(options, "by", spec.by);
    read(options, "factor", spec.factor);
    read(options, "offset", spec.offset);
    read(options, "drift", spec.drift);
    if (const Node* groups = options.find("groups")) spec.groups = read_rank_groups(*groups).value_or(spec.groups);
    const Node& match = section(item, "match");
    read(match, "rank", spec.match.rank);
    read(match, "from", spec.match.from);
    read(match, "to", spec.match.to);
    read(match, "nth", spec.match.nth);
    read(match, "op", spec.match.op);
    const Node& at = section(item, "at");
    read(at, "step", spec.at.step);
    read(at, "before", spec.at.before);
    read(at, "time", spec.at.time);
    read(at, "launch", spec.at.launch);
    read(item, "for", spec.duration);
    faults.push_back(std::move(fault));
  }
  return faults;
}

void build_pitfall(const Node& document, Pitfall& pitfall) {
  const Entry* entry = entry_of(document, "pitfall");
  if (entry == nullptr) return;
  pitfall.given = true;
  pitfall.mark = entry->mark;
  read(entry->value, "symptom", pitfall.symptom);
  read(entry->value, "cause", pitfall.cause);
  read(entry->value, "cure", pitfall.cure);
  read(entry->value, "elsewhere", pitfall.elsewhere);
  if (const Node* worlds = entry->value.find("worlds"))
    for (const Node& item : worlds->items) pitfall.worlds.push_back(item.text);
  if (const Node* versions = entry->value.find("versions"))
    for (const Node& item : versions->items) pitfall.versions.push_back(item.text);
}

void build_real(const Node& document, std::map<std::string, RealWorld>& real) {
  for (const Entry& entry : section(document, "real").entries) {
    RealWorld& world = real[entry.key];
    if (const Entry* expect = entry_of(entry.value, "expect")) world.expect = build_expect(*expect);
    read(entry.value, "skip", world.skip);
    read(entry.value, "why", world.why);
  }
}

}  // namespace

const Node& section(const Node& map, std::string_view key) {
  static const Node empty = [] {
    Node node;
    node.kind = Node::Kind::map;
    return node;
  }();
  const Node* node = map.find(key);
  return node != nullptr && node->is_map() ? *node : empty;
}

std::pair<const Entry*, const Key*> chosen(const Node& item, std::span<const Key> rows) {
  for (const Entry& entry : item.entries)
    if (const Key* row = find(rows, entry.key)) return {&entry, row};
  return {nullptr, nullptr};
}

When build_when(const Node& node) {
  When when;
  when.mark = node.mark;
  const auto add = [&](const Node& map) {
    Selector s;
    read(map, "rank", s.rank);
    read(map, "node", s.node);
    read(map, "step", s.step);
    when.any.push_back(std::move(s));
  };
  if (node.is_map()) add(node);
  for (const Node& item : node.items) add(item);
  return when;
}

namespace {

Operation build_operation(const Node& item) {
  Operation op;
  const auto [entry, row] = chosen(item, operation_table());
  op.name = entry != nullptr ? entry->key : item.text;
  op.mark = entry != nullptr ? entry->mark : item.mark;
  read(item, "label", op.label);
  if (const Node* when = item.find("when")) op.when = build_when(*when);
  const Key* known = operation_named(op.name);
  if (known != nullptr && known->group->options.make != nullptr) op.options = known->group->options.make();
  if (entry != nullptr && row->group != nullptr) build_options(entry->value, *row->group, op);
  if (op.name == "train" && !op.has_body) op.has_body = true, op.body = default_steps(op.mark);
  return op;
}

}  // namespace

std::vector<Operation> build_program(const Node& list) {
  std::vector<Operation> program;
  for (const Node& item : list.items) program.push_back(build_operation(item));
  return program;
}

namespace {

std::optional<Expect::TimeRange> build_range(const Entry* time) {
  if (time == nullptr) return std::nullopt;
  Expect::TimeRange range;
  range.mark = span_of(*time);
  read(time->value, "min", range.min);
  read(time->value, "max", range.max);
  read(time->value, "near", range.near);
  read(time->value, "within", range.within);
  return range;
}

std::optional<Expect::Buckets> build_buckets(const Entry* entry) {
  if (entry == nullptr) return std::nullopt;
  Expect::Buckets buckets;
  buckets.mark = span_of(*entry);
  read(entry->value, "count", buckets.count);
  const auto bytes = [&](const char* key, std::vector<std::int64_t>& out) {
    if (const Node* list = entry->value.find(key))
      for (const Node& item : list->items) out.push_back(read_integer(item.text).value_or(0));
  };
  bytes("bytes", buckets.bytes);
  bytes("initial_bytes", buckets.initial_bytes);
  return buckets;
}

Expect::OperationRun build_operation_run(const Node& item) {
  Expect::OperationRun run;
  run.mark = item.mark;
  read(item, "of", run.of);
  read(item, "rank", run.rank);
  run.took = build_range(entry_of(item, "took"));
  if (const Entry* names = entry_of(item, "collectives")) {
    run.collectives = Located<std::vector<std::string>>{{}, span_of(*names)};
    for (const Node& name : names->value.items)
      if (name.text != "none") run.collectives->value.push_back(name.text);
  }
  return run;
}

}  // namespace

Expect build_expect(const Entry& entry) {
  const Node& map = entry.value;
  Expect expect;
  expect.mark = entry.mark;
  if (const Entry* outcome = entry_of(map, "outcome"))
    expect.outcome = {value_named<Outcome>(outcome->value.text).value_or(Outcome::ok), outcome->value.mark};
  if (const Node* stated = map.find("stated_for"))
    expect.stated_for = {stated->text != stated_for_order, stated->text != stated_for_seed};
  read(map, "rank", expect.rank);
  read(map, "step", expect.step);
  read(map, "in", expect.in);
  read(map, "error", expect.error);
  read(map, "message", expect.message);
  read(map, "diagnosis", expect.diagnosis);
  read(map, "culprits", expect.culprits);
  read(map, "says", expect.says);
  read(map, "watchdog", expect.watchdog);
  read(map, "warning", expect.warning);
  if (const Node* blocked = map.find("blocked")) {
    for (const Node& item : blocked->items) {
      ExpectBlocked b;
      b.mark = item.mark;
      read(item, "rank", b.rank);
      read(item, "in", b.in);
      read(item, "site", b.site);
      read(item, "step", b.step);
      expect.blocked.push_back(std::move(b));
    }
  }
  if (const Node* values = map.find("values")) {
    for (const Node& item : values->items) {
      ExpectValue v;
      v.mark = item.mark;
      read(item, "tensor", v.tensor);
      read(item, "across_ranks", v.across_ranks);
      read(item, "rank", v.rank);
      read(item, "near", v.near);
      if (const Node* numbers = item.find("holds")) v.holds = read_numbers(*numbers);
      read(item, "tolerance", v.tolerance);
      read(item, "equals", v.equals);
      expect.values.push_back(std::move(v));
    }
  }
  if (const Node* operations = map.find("operations"))
    for (const Node& item : operations->items) expect.operations.push_back(build_operation_run(item));
  expect.time = build_range(entry_of(map, "time"));
  expect.step_time = build_range(entry_of(map, "step_time"));
  read(section(map, "step_time"), "step", expect.timed_step);
  expect.buckets = build_buckets(entry_of(map, "buckets"));
  if (const Entry* rows = entry_of(map, "device_rows")) {
    expect.device_rows = Located<std::vector<std::int64_t>>{{}, span_of(*rows)};
    for (const Node& item : rows->value.items) expect.device_rows->value.push_back(read_integer(item.text).value_or(0));
  }
  return expect;
}

namespace {

void build_data_parallel(const Node& document, Scenario& s) {
  const Entry* entry = entry_of(document, "data_parallel");
  if (entry == nullptr) return;
  Scenario::DataParallel spec;
  spec.mark = span_of(*entry);
  read(entry->value, "devices", spec.devices);
  read(entry->value, "output_device", spec.output_device);
  if (spec.devices > 0) s.ddp.wrap = false;
  s.data_parallel = spec;
}

}  // namespace

Scenario build_scenario(const Node& document) {
  Scenario s;
  read(document, "name", s.name);
  read(document, "summary", s.summary);
  build_pitfall(document, s.pitfall);
  std::int64_t seed = 0;
  read(document, "seed", seed);
  s.seed = s.stated_seed = static_cast<std::uint64_t>(seed);
  build_world(document, s.world);
  s.world.spec.seed = s.seed;
  build_ddp(document, s.ddp);
  build_data_parallel(document, s);
  build_sharding(document, s);
  build_optimizer(document, s);
  build_data(document, s.data);
  read(document, "batch", s.batch);
  build_model(document, s.model);
  set_layer_times(document, s);
  read(document, "loss", s.loss);
  if (const Node* program = document.find("program")) s.program = build_program(*program);
  s.faults = build_faults(document);
  for (const Fault& fault : s.faults) s.world.spec.faults.push_back(fault.spec);
  if (const Entry* expect = entry_of(document, "expect")) s.expect = build_expect(*expect);
  build_real(document, s.real);
  return s;
}

}  // namespace pdsim::scenarios::language
