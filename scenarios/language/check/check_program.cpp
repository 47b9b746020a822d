#include "core/collectives/algorithms.h"
#include "core/collectives/tuning/tuning.h"
#include "core/measure/payload.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/language/check/meaning.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/pipeline_schedule.h"
#include "scenarios/language/plans.h"
#include "scenarios/language/tables/bind.h"
#include "scenarios/language/tables/operations_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

class ProgramCheck {
 public:
  ProgramCheck(const Scenario& scenario, Problems& problems) : s_(scenario), problems_(problems) {
    sizes_["world"] = scenario.world.spec.ranks();
    for (const Mesh::Dimension& dimension : scenario.mesh.dimensions) {
      groups_.push_back(dimension.name);
      sizes_[dimension.name] = dimension.size;
    }
  }

  void list(const Node& node) {
    for (const Node& item : node.items) entry(item);
  }

 private:
  void entry(const Node& item) {
    if (const Entry* label = entry_of(item, "label")) check_label(label->value, item);
    check_when(item.find("when"), s_, problems_);
    const Entry* chosen = nullptr;
    for (const Entry& e : item.entries)
      if (operation_named(e.key) != nullptr) chosen = &e;
    const std::string& name = chosen != nullptr ? chosen->key : item.text;
    const Mark& mark = chosen != nullptr ? chosen->mark : item.mark;
    const Key* row = operation_named(name);
    if (row == nullptr) return;
    if (row->has(needs_model) && !s_.model.given && !problems_.doubts(Fact::model))
      problems_.error(mark, fmt::format("`{}` without a model", name),
                      "add `model: {layers: {head: {linear: [4, 1]}}}`");
    static const Node none{};
    const Node& options = chosen != nullptr ? chosen->value : none;
    if (name == "init_process_group") init(options, mark);
    if (name == "wait") waits(options, "for");
    if (name == "read") reads(options);
    if (name == "write") waits(options, "to");
    if (name == "new_group") new_group(options);
    if (name == "pipeline") pipeline(*row, options, mark);
    if (const Node* messages = options.find("messages")) batch(*messages);
    if (const Node* inner = options.find("do")) list(*inner);
    if (name == "train") train(options);
    group(options);
    for (const std::string_view key : {"src", "dst"}) named_rank(*row, options, key, mark);
    for (const std::string_view key : {"counts", "input_split_sizes", "output_split_sizes"}) counts(options, key);
    algorithm(name, options);
    if (const Node* input = options.find("input"); input != nullptr && find(row->group->keys, "input")->type == Type::rows)
      stated_input(*row, name, options, *input);
    if (name == "forward") path(options);
  }

  void check_label(const Node& label, const Node& item) {
    const auto [where, fresh] = labels_.emplace(label.text, label.mark);
    if (!fresh)
      problems_.error(label.mark, fmt::format("duplicate label `{}`", label.text),
                      fmt::format("first used at line {}, column {}", where->second.line, where->second.column));
    for (const Entry& e : item.entries) {
      const Node* async = e.value.find("async");
      const Key* row = operation_named(e.key);
      if ((async != nullptr && async->text == "true") || (row != nullptr && row->has(asynchronous)))
        async_.push_back(label.text);
    }
  }

  void init(const Node& options, const Mark& mark) {
    const Node* method = options.find("method");
    const std::string_view is = method != nullptr ? std::string_view(method->text) : "tcp";
    const Entry* path = entry_of(options, "path");
    const Entry* address = entry_of(options, "address");
    if (is == "file" && path == nullptr)
      problems_.error(mark, "`init_process_group` by file without a path", "add `path: run/store`");
    if (is != "file" && path != nullptr)
      problems_.error(path->mark, fmt::format("`path` with `method: {}`", is), "only `method: file` has a path");
    if (const Entry* kind = entry_of(options, "file_store"); is != "file" && kind != nullptr)
      problems_.error(kind->mark, fmt::format("`file_store` with `method: {}`", is),
                      "only `method: file` has a file store");
    if (const Entry* unset = entry_of(options, "unset"); is != "env" && unset != nullptr)
      problems_.error(unset->mark, fmt::format("`unset` with `method: {}`", is), "only `method: env` reads variables");
    if (is != "tcp" && address != nullptr)
      problems_.error(address->mark, fmt::format("`address` with `method: {}`", is),
                      "only `method: tcp` has an address");
    if (address != nullptr && address->value.text.substr(0, 6) != "tcp://")
      problems_.error(address->value.mark, fmt::format("`{}` is not an address", address->value.text),
                      "write tcp://host:port");
  }

  void waits(const Node& options, std::string_view key) {
    const Node* label = options.find(key);
    if (label == nullptr || problems_.doubts(Fact::names) ||
        std::find(async_.begin(), async_.end(), label->text) != async_.end())
      return;
    problems_.error(label->mark, fmt::format("no earlier operation with `async: true` has the label `{}`", label->text),
                    async_.empty() ? "give the operation to wait for `async: true` and a label"
                                   : suggestion(label->text, {async_.begin(), async_.end()}, "there are"));
  }

  void reads(const Node& options) {
    const Node* label = options.find("of");
    if (label == nullptr || labels_.count(label->text) != 0 || problems_.doubts(Fact::names)) return;
    std::vector<std::string_view> names;
    for (const auto& [name, mark] : labels_) names.push_back(name);
    problems_.error(
        label->mark, fmt::format("no earlier operation has the label `{}`", label->text),
        names.empty() ? "give the operation to read a label" : suggestion(label->text, names, "there are"));
  }

  void new_group(const Node& options) {
    const Node* name = options.find("name");
    const Node* ranks = options.find("ranks");
    if (name != nullptr && name->text == "world")
      problems_.error(name->mark, "`world` is the group of all ranks", "give the new group another name");
    if (name != nullptr && s_.mesh.named(name->text) != nullptr)
      problems_.error(name->mark, fmt::format("`{}` is a dimension of the mesh", name->text),
                      "give the new group another name");
    if (name != nullptr) groups_.push_back(name->text);
    const auto set = ranks != nullptr ? read_int_set(*ranks) : std::nullopt;
    if (!set || problems_.doubts(Fact::ranks)) return;
    const Rank size = s_.world.spec.ranks();
    for (const std::int64_t rank : set->named())
      if (rank >= size)
        return problems_.error(ranks->mark, fmt::format("rank {} in a world of {}", rank, size), ranks_label(s_));
    Rank members = 0;
    for (Rank rank = 0; rank < size; ++rank) members += set->contains(rank) ? 1 : 0;
    if (members == 0) return problems_.error(ranks->mark, "a group of no ranks", ranks_label(s_));
    if (name != nullptr) sizes_[name->text] = members;
  }

  void pipeline(const Key& row, const Node& node, const Mark& mark) {
    PipelineOptions options;
    read_bound(node, row.group->keys, &options);
    const auto size = sizes_.find(options.group);
    if (size == sizes_.end() || problems_.doubts(Fact::ranks)) return;
    const Node* order = node.find("order");
    if (order != nullptr)
      for (const std::string_view key : {"schedule", "microbatches", "stages_per_rank"})
        if (const Entry* beside = entry_of(node, key))
          problems_.error(beside->mark, fmt::format("`{}` beside `order`", key), "the order already defines all of this");
    const Result<PipelineSchedule> schedule = pipeline_schedule(options, size->second);
    if (schedule.ok()) return;
    const Facts& facts = schedule.error().facts;
    const std::string_view line = fact(facts, "line");
    const std::string& message = schedule.error().message;
    if (order == nullptr) return problems_.error(mark, message, "change the pipeline, or the number of ranks");
    problems_.error(
        order->mark,
        line.empty() ? message : fmt::format("line {}, column {} of `order`: {}", line, fact(facts, "column"), message),
        "give a line for each rank, such as 0F0,0F1,0B0,0B1; see docs/pipelines.md");
  }

  // Options beside the messages hold for all of them.
  void batch(const Node& messages) {
    for (const Node& item : messages.items)
      for (const Entry& message : item.entries)
        if (const Entry* option = entry_of(message.value, "group"))
          problems_.error(option->mark, "`group` for one message of a batch",
                          "put `group` beside `messages`: a batch has one group");
    list(messages);
  }

  // In the world; how many ranks another group has depends on who made it.
  void counts(const Node& options, std::string_view key) {
    const Node* node = options.find(key);
    const Node* group = options.find("group");
    const auto size = static_cast<std::size_t>(s_.world.spec.ranks());
    if (node == nullptr || problems_.doubts(Fact::ranks)) return;
    if ((group != nullptr && group->text != "world") || node->items.size() == size) return;
    problems_.error(node->mark, fmt::format("{} counts in a world of {} ranks", node->items.size(), size),
                    "give one count for each rank");
  }

  // A call on the world needs, of each rank, exactly the numbers that it passes.
  void stated_input(const Key& row, const std::string& name, const Node& options, const Node& input) {
    CollectiveOptions call;
    read_bound(options, row.group->keys, &call);
    if (call.input.kind == CallInput::Kind::pattern || problems_.doubts(Fact::ranks)) return;
    if (!s_.world.spec.payload && !problems_.doubts(Fact::world))
      problems_.error(input.mark, fmt::format("`{}` passes numbers with `payload: none`", name),
                      "leave out `payload: none`, or `input`");
    const int size = s_.world.spec.ranks();
    Payload payload;
    payload.kind = *collective_of(name);
    payload.count = call.count;
    payload.size = size;
    const std::int64_t in_group = call.group_src + call.group_dst;  // a call has one of the two
    payload.root = static_cast<Rank>(call.src ? call.src->number : call.dst ? call.dst->number : in_group);
    if (payload.layout().input_elements(payload.root) > limits::stated_numbers / size / size)  // each rank knows what all pass
      return problems_.error(input.mark, fmt::format("{} numbers for each of {} ranks are too many to state", call.count, size),
                             "leave out `input`, or pass fewer elements");
    if (call.input.kind != CallInput::Kind::rows || call.group != world_group) return;
    if (call.input.rows.size() != static_cast<std::size_t>(size))
      return problems_.error(input.mark, fmt::format("{} lists in a world of {} ranks", call.input.rows.size(), size),
                             "give one list for each rank, [] for a rank that passes nothing");
    for (payload.rank = 0; payload.rank < size; ++payload.rank) {
      const auto given = static_cast<std::int64_t>(call.input.rows[static_cast<std::size_t>(payload.rank)].size());
      if (given == payload.input_count()) continue;
      return problems_.error(
          input.items[static_cast<std::size_t>(payload.rank)].mark,
          fmt::format("{} number{} for rank {}, which passes {}", given, given == 1 ? "" : "s", payload.rank, payload.input_count()),
          payload.input_count() == 0 ? "write [] for a rank that passes nothing" : "give one number for each element "
                                                                                   "of its tensor");
    }
  }

  void group(const Node& options) {
    const Node* node = options.find("group");
    if (node == nullptr || node->text == "world" || problems_.doubts(Fact::names)) return;
    if (std::find(groups_.begin(), groups_.end(), node->text) != groups_.end()) return;
    std::vector<std::string_view> names{"world"};
    names.insert(names.end(), groups_.begin(), groups_.end());
    problems_.error(node->mark, fmt::format("no earlier `new_group` creates `{}`", node->text),
                    suggestion(node->text, names, "there are"));
  }

  void train(const Node& options) {
    if (problems_.doubts(Fact::names)) return;
    std::vector<std::string_view> outputs;
    if (const Node* inner = options.find("do")) losses_of_step(*inner, outputs);
  }

  // Collects the outputs of the step's forwards, in no_sync or not, and the inputs of its backwards.
  void losses_of_step(const Node& body, std::vector<std::string_view>& outputs) {
    for (const Node& item : body.items) {
      for (const std::string_view around : {"no_sync", "repeat"})
        if (const Node* context = item.find(around))
          if (const Node* inner = context->find("do")) losses_of_step(*inner, outputs);
      if (item.text == "forward") outputs.push_back("loss");
      if (const Node* forward = item.find("forward")) {
        const Node* output = forward->find("output");
        outputs.push_back(output != nullptr ? std::string_view(output->text) : "loss");
      }
      const Node* backward = item.find("backward");
      const Node* losses = backward != nullptr ? backward->find("losses") : nullptr;
      if (item.text == "backward" || (backward != nullptr && losses == nullptr)) {
        if (std::find(outputs.begin(), outputs.end(), "loss") == outputs.end())
          problems_.error(backward != nullptr ? entry_of(item, "backward")->mark : item.mark,
                          "backward of `loss`, which no earlier forward outputs",
                          outputs.empty()
                              ? "put a forward before it"
                              : fmt::format("write `backward: {{losses: [{}]}}`", fmt::join(outputs, ", ")));
      }
      if (losses == nullptr) continue;
      for (const Node& loss : losses->items)
        if (std::find(outputs.begin(), outputs.end(), loss.text) == outputs.end())
          problems_.error(loss.mark, fmt::format("no earlier forward outputs `{}`", loss.text),
                          suggestion(loss.text, outputs, "there are"));
    }
  }

  // `src` or `dst`, or the same with `group_` before it.
  void named_rank(const Key& operation, const Node& options, std::string_view key, const Mark& mark) {
    const std::string in_group = fmt::format("group_{}", key);
    if (operation.group == nullptr || find(operation.group->keys, in_group) == nullptr) return;
    const Entry* global = entry_of(options, key);
    const Entry* local = entry_of(options, in_group);
    if (global == nullptr && local == nullptr && operation.has(point_to_point))
      problems_.error(mark, fmt::format("`{}` is missing in {}", key, operation.name),
                      fmt::format("{}: {}", key, find(operation.group->keys, key)->help));
    if (global != nullptr && local != nullptr)
      problems_.error(local->mark, fmt::format("`{}` beside `{}`", in_group, key), "keep one of the two");
    if (global != nullptr) rank_option(global->value, key, "the world", s_.world.spec.ranks());
    const Node* group = options.find("group");
    const std::string of = group != nullptr ? group->text : "world";
    if (local != nullptr && sizes_.count(of) > 0) rank_option(local->value, in_group, "group `" + of + "`", sizes_[of]);
  }

  void rank_option(const Node& node, std::string_view key, const std::string& of, Rank size) {
    const auto value = read_integer(node.text);
    if (!value || problems_.doubts(Fact::ranks) || *value < size) return;
    const bool world = of == "the world";
    problems_.error(node.mark,
                    world ? fmt::format("`{}` is rank {} in a world of {}", key, *value, size)
                          : fmt::format("`{}` is rank {} in {}, which has {}", key, *value, of, size),
                    world ? ranks_label(s_) : fmt::format("its ranks are 0..{}", size - 1));
  }

  // A plan that is not proven is not run, so it is an error of the file that names it.
  void own_plan(const std::string& name, const Node& node, const LoadedPlan& loaded) {
    const auto kind = collective_of(name);
    if (!kind)
      return problems_.error(node.mark, fmt::format("`{}` does not accept a plan", name), "leave out `algorithm`");
    PlanFault fault = plan_fault(loaded, plan_path(s_, node.text), *kind,
                                       problems_.doubts(Fact::ranks) ? 1 : s_.world.spec.ranks());
    if (!fault.what.empty()) problems_.add({false, fault.what, node.mark, fault.next, "scenario", std::move(fault.cause)});
  }

  void algorithm(const std::string& name, const Node& options) {
    const Node* node = options.find("algorithm");
    if (node == nullptr || node->text == "auto" || node->text == "native") return;
    if (const auto own = s_.plans.find(node->text); own != s_.plans.end()) return own_plan(name, *node, *own->second);
    std::vector<std::string_view> names{"auto", "native"};
    for (const Tuning& tuning : tunings()) names.push_back(tuning.algorithm);
    for (const Algorithm& row : algorithms())
      if (row.kind == collective_of(name) || row.kind == collective_of(name, true)) names.push_back(row.name);
    if (std::find(names.begin(), names.end(), node->text) == names.end())
      problems_.error(node->mark, fmt::format("`{}` has no algorithm `{}`", name, node->text),
                      suggestion(node->text, names, "there are"));
  }

  void path(const Node& options) {
    const Node* node = options.find("path");
    if (node == nullptr || !s_.model.given || problems_.doubts(Fact::model)) return;
    std::vector<std::string_view> names;
    for (const nn::PathSpec& p : s_.model.spec.paths) names.push_back(p.name);
    if (names.empty()) names.push_back("full");
    if (std::find(names.begin(), names.end(), node->text) == names.end())
      problems_.error(node->mark, fmt::format("unknown path `{}`", node->text),
                      suggestion(node->text, names, "paths are"));
  }

  const Scenario& s_;
  Problems& problems_;
  std::map<std::string, Mark> labels_;
  std::vector<std::string> async_;
  std::vector<std::string> groups_;
  std::map<std::string, Rank> sizes_;  // of groups
};

}  // namespace

void check_program(const Node& document, const Scenario& s, Problems& problems) {
  const Node* program = document.find("program");
  if (program == nullptr) return;
  if (program->items.empty() && !problems.doubts(Fact::calls))
    problems.error(entry_of(document, "program")->mark, "the program is empty", "begin with `- init_process_group`");
  ProgramCheck(s, problems).list(*program);
}

}  // namespace pdsim::scenarios::language
