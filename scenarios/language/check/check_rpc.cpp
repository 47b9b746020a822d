// Remote calls: whether the workers, functions, arguments, futures and references that they name are there.
#include "core/base/quantity.h"
#include "scenarios/language/check/meaning.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/tables/bind.h"
#include "scenarios/language/tables/operations_table.h"
#include "scenarios/language/tables/rpc_functions.h"
#include "scenarios/language/tables/rpc_options.h"

#include <fmt/format.h>

#include <array>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

std::string_view type_text(RpcType type) {
  constexpr std::array<std::string_view, 9> words{"a number", "a whole number",        "a text",
                                                  "a tensor", "a reference",           "a duration such as 5ms",
                                                  "a worker", "a registered function", "a list"};
  return words[static_cast<std::size_t>(type)];
}

bool has_type(const RpcArgument& value, RpcType type) {
  using Kind = RpcArgument::Kind;
  switch (type) {
    case RpcType::number:
      return value.kind == Kind::integer || value.kind == Kind::decimal;
    case RpcType::integer:
      return value.kind == Kind::integer;
    case RpcType::tensor:
      return value.kind == Kind::tensor;
    case RpcType::rref:
      return value.kind == Kind::rref;
    case RpcType::list:
      return value.kind == Kind::list;
    case RpcType::duration:
      return value.kind == Kind::text && parse_time(value.text).ok();
    default:
      return value.kind == Kind::text;
  }
}

class RpcCheck {
 public:
  RpcCheck(const Scenario& scenario, Problems& problems) : s_(scenario), problems_(problems) {}

  void check(const Node& program) {
    join(s_.program);
    list(program);
  }

 private:
  // The names under which ranks join, and what each registers.
  void join(const std::vector<Operation>& program) {
    for (const Operation& op : program) {
      join(op.body);
      const auto* init = op.if_is<InitRpcOptions>();
      if (init == nullptr || problems_.doubts(Fact::ranks)) continue;
      for (Rank rank = 0; rank < s_.world.spec.ranks(); ++rank) {
        if (!op.when.selects(rank, s_.world.spec.node_of(rank), -1)) continue;
        std::string name = init->name;
        if (const std::size_t at = name.find(rank_in_name); at != std::string::npos)
          name.replace(at, rank_in_name.size(), std::to_string(rank));
        workers_.insert(std::move(name));
      }
    }
  }

  void list(const Node& node) {
    for (const Node& item : node.items)
      for (const Entry& entry : item.entries) {
        const Key* row = operation_named(entry.key);
        if (row == nullptr) continue;
        const bool context = row->name == "autograd_context";
        if (context && item.find("label") != nullptr) contexts_.insert(item.find("label")->text);
        contexts_around_ += context ? 1 : 0;
        if (const Node* inner = entry.value.find("do")) list(*inner);
        contexts_around_ -= context ? 1 : 0;
        operation(*row, entry, item.find("label"));
      }
  }

  void operation(const Key& row, const Entry& entry, const Node* label) {
    if (row.name == "rpc_sync" || row.name == "rpc_async" || row.name == "remote")
      call(row, entry, label);
    if (row.name == "wait_all")
      if (const Node* labels = entry.value.find("for"))
        for (const Node& each : labels->items) known(each.text, each.mark, futures_, "rpc_async");
    if (row.name == "distributed_optimizer") {
      if (label != nullptr) optimizers_.insert(label->text);
      if (const Node* of = entry.value.find("of"))
        for (const Node& each : of->items) known(each.text, each.mark, references_, "remote");
    }
    if (row.name == "distributed_step")
      if (const Node* of = entry.value.find("optimizer"))
        known(of->text, of->mark, optimizers_, "distributed_optimizer");
    if (row.name == "distributed_step" || row.name == "dist_backward") in_context(row, entry);
    if (row.name == "to_here" || row.name == "local_value" || row.name == "delete_rref")
      if (const Node* of = entry.value.find("of")) known(of->text, of->mark, references_, "remote");
  }

  void in_context(const Key& row, const Entry& entry) {
    if (const Node* context = entry.value.find("context"))
      known(context->text, context->mark, contexts_, "autograd_context");
    else if (contexts_around_ == 0)
      problems_.error(entry.mark, fmt::format("`{}` outside autograd_context", row.name),
                      "put it into the `do` of one, or write `context: label`");
  }

  void known(const std::string& label, const Mark& mark, const std::set<std::string>& labels,
             std::string_view operation) {
    if (labels.contains(label) || problems_.doubts(Fact::names)) return;
    problems_.error(mark, fmt::format("no earlier `{}` has the label `{}`", operation, label),
                    labels.empty() ? fmt::format("give that `{}` a label", operation)
                                   : suggestion(label, {labels.begin(), labels.end()}, "there are"));
  }

  void call(const Key& row, const Entry& entry, const Node* label) {
    RpcCallOptions options;
    read_bound(entry.value, row.group->keys, &options);
    const Entry* to = entry_of(entry.value, "to");
    const Entry* rref = entry_of(entry.value, "rref");
    if (to != nullptr && rref != nullptr)
      problems_.error(rref->mark, "`rref` beside `to`",
                      "keep one of the two: a worker's function, or a method of a reference's object");
    else if (to == nullptr && rref == nullptr)
      problems_.error(entry.mark, fmt::format("`to` is missing in {}", row.name),
                      "write `to: worker1`, or `rref: label`");
    if (to != nullptr) worker(to->value.text, to->value.mark);
    if (rref != nullptr) known(rref->value.text, rref->value.mark, references_, "remote");
    if (const Node* function = entry.value.find("function"))
      arguments(function_row(function->text, function->mark, rref != nullptr), options.args,
                entry_of(entry.value, "args"), function->mark);
    if (label == nullptr && row.name != "rpc_sync")
      problems_.error(entry.mark, fmt::format("`{}` without a label", row.name),
                      "write `label: name` beside it, so that other operations can wait for it or use it");
    if (label != nullptr && row.name == "rpc_async") futures_.insert(label->text);
    if (label != nullptr && row.name == "remote") references_.insert(label->text);
  }

  void worker(const std::string& name, const Mark& mark) {
    if (workers_.empty() || workers_.contains(name) || problems_.doubts(Fact::ranks)) return;
    problems_.error(mark, fmt::format("no worker is named `{}`", name),
                    suggestion(name, {workers_.begin(), workers_.end()}, "there are"));
  }

  const RpcFunctionRow* function_row(const std::string& name, const Mark& mark, bool is_method) {
    std::vector<std::string_view> names;
    for (const RpcFunctionRow& row : rpc_functions) {
      const std::size_t dot = row.name.find('.');
      if ((dot != std::string_view::npos) != is_method) continue;
      names.push_back(is_method ? row.name.substr(dot + 1) : row.name);
      if (names.back() == name) return &row;
    }
    problems_.error(mark, fmt::format("no worker registers a {} `{}`", is_method ? "method" : "function", name),
                    suggestion(name, names, "there are"));
    return nullptr;
  }

  void arguments(const RpcFunctionRow* row, const std::vector<RpcArgument>& given, const Entry* args,
                 const Mark& mark) {
    if (row == nullptr) return;
    const Mark& where = args != nullptr ? args->value.mark : mark;
    if (given.size() != row->count)
      return problems_.error(where,
                             fmt::format("{} argument{} for `{}`, which takes {}", given.size(),
                                         given.size() == 1 ? "" : "s", row->name, row->count),
                             fmt::format("{}: {}", row->signature, row->help));
    for (std::size_t i = 0; i < given.size(); ++i) {
      const RpcParameterRow& parameter = row->parameters[i];
      if (!has_type(given[i], parameter.type))
        problems_.error(given[i].mark,
                        fmt::format("`{}` of `{}` is not {}", parameter.name, row->name, type_text(parameter.type)),
                        fmt::format("{}: {}", row->signature, row->help));
      else if (parameter.type == RpcType::worker)
        worker(given[i].text, given[i].mark);
    }
    references(given);
    if (row->name == "call" && given[1].kind == RpcArgument::Kind::text && given[2].kind == RpcArgument::Kind::list)
      nested(given[1], given[2]);
  }

  void nested(const RpcArgument& function, const RpcArgument& list) {
    const RpcFunctionRow* row = function_row(function.text, function.mark, false);
    arguments(row, list.items, nullptr, list.mark);
  }

  void references(const std::vector<RpcArgument>& values) {
    for (const RpcArgument& value : values) {
      if (value.kind == RpcArgument::Kind::rref) known(value.text, value.mark, references_, "remote");
      if (value.kind == RpcArgument::Kind::list) references(value.items);
    }
  }

  const Scenario& s_;
  Problems& problems_;
  std::set<std::string> workers_, futures_, references_, contexts_, optimizers_;
  int contexts_around_ = 0;
};

}  // namespace

void check_rpc(const Node& document, const Scenario& scenario, Problems& problems) {
  if (const Node* program = document.find("program")) RpcCheck(scenario, problems).check(*program);
}

}  // namespace pdsim::scenarios::language
