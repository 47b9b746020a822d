#include "scenarios/engine/scenario.h"

#include <algorithm>
#include <charconv>

namespace pdsim::scenarios {

bool When::selects(int rank, int node, int step) const {
  if (any.empty()) return true;
  return std::any_of(any.begin(), any.end(), [&](const Selector& s) {
    const bool in_step = step < 0 ? s.step.is_all() : s.step.contains(step);
    return s.rank.contains(rank) && s.node.contains(node) && in_step;
  });
}

std::string Operation::text(const std::string& option, const std::string& otherwise) const {
  const auto found = args.find(option);
  return found == args.end() ? otherwise : found->second.text.value;
}

std::int64_t Operation::integer(const std::string& option, std::int64_t otherwise) const {
  const std::string value = text(option, "");
  std::int64_t number = otherwise;
  std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

std::vector<std::int64_t> Operation::integers(const std::string& option) const {
  std::vector<std::int64_t> numbers;
  const auto found = args.find(option);
  if (found == args.end()) return numbers;
  for (const Argument& item : found->second.items) {
    const std::string& text = item.text.value;
    numbers.push_back(0);
    std::from_chars(text.data(), text.data() + text.size(), numbers.back());
  }
  return numbers;
}

IntSet Operation::set(const std::string& option) const {
  const auto found = args.find(option);
  if (found == args.end()) return IntSet::of({});
  if (found->second.is_list) return IntSet::of(integers(option));
  const Result<IntSet> parsed = IntSet::parse(found->second.text.value);
  return parsed.ok() ? *parsed : IntSet::of({});
}

bool Operation::flag(const std::string& option, bool otherwise) const {
  return text(option, otherwise ? "true" : "false") == "true";
}

namespace {
const Operation* labelled_in(const std::vector<Operation>& program, std::string_view label) {
  for (const Operation& op : program) {
    if (op.label == label) return &op;
    const auto body = op.args.find("do");
    if (body == op.args.end()) continue;
    if (const Operation* found = labelled_in(body->second.operations, label)) return found;
  }
  return nullptr;
}
}  // namespace

const Operation* Scenario::labelled(std::string_view label) const { return labelled_in(program, label); }

bool ModelPart::has(const std::string& layer) const {
  return std::find(layers.begin(), layers.end(), layer) != layers.end();
}

const ModelPart& Model::part_of(const std::string& path) const {
  for (const nn::PathSpec& known : spec.paths)
    for (const ModelPart& part : parts)
      if (known.name == path && part.has(known.layers.front())) return part;
  return parts.front();
}

nn::ModuleSpec Model::spec_of(int rank, int node) const {
  nn::ModuleSpec built = spec;
  for (const ModelChange& change : differs) {
    if (!change.when.selects(rank, node, -1)) continue;
    for (const nn::LayerSpec& other : change.layers)
      for (nn::LayerSpec& layer : built.layers)
        if (layer.name == other.name) layer = other;
    if (change.order.empty()) continue;
    if (built.paths.empty()) {  // forward runs as before: only the registration changes
      nn::PathSpec full{"full", {}};
      for (const nn::LayerSpec& layer : built.layers) full.layers.push_back(layer.name);
      built.paths.push_back(std::move(full));
    }
    const auto place = [&](const nn::LayerSpec& layer) {
      return std::find(change.order.begin(), change.order.end(), layer.name) - change.order.begin();
    };
    std::stable_sort(built.layers.begin(), built.layers.end(),
                     [&](const nn::LayerSpec& a, const nn::LayerSpec& b) { return place(a) < place(b); });
  }
  return built;
}

}  // namespace pdsim::scenarios
