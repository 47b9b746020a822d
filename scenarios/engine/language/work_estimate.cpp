#include "scenarios/engine/language/work_estimate.h"

#include "core/collectives/algorithms.h"
#include "core/semantics/library.h"

#include <algorithm>
#include <vector>

namespace pdsim::scenarios::language {
namespace {

constexpr double reads_an_address = 3;      // of the store: costs what that many messages cost
constexpr double forward_and_backward = 3;  // a backward multiplies twice

class Estimator {
 public:
  explicit Estimator(const Scenario& scenario) : s_(scenario), ranks_(scenario.world.spec.ranks()) {}

  WorkEstimate of(const std::vector<Operation>& program) const {
    WorkEstimate total;
    for (const Operation& op : program) {
      const auto inner = op.args.find("do");
      const auto batch = op.args.find("messages");
      const WorkEstimate once = inner != op.args.end()   ? of(inner->second.operations)
                                : batch != op.args.end() ? of(batch->second.operations)
                                                         : of(op);
      const auto times = static_cast<double>(std::max<std::int64_t>(1, op.integer("steps", 1)));
      total.messages += times * once.messages;
      total.multiplications += times * once.multiplications;
      total.bytes += times * once.bytes;
    }
    return total;
  }

 private:
  WorkEstimate of(const Operation& op) const {
    if (op.name == "init" || op.name == "new_group") return {join_messages(), 0, 0};
    if (op.name == "forward") return {0, pass_multiplications(), 0};
    if (op.name == "backward" && s_.ddp.wrap)  // every layer's gradients in a bucket of their own, at worst
      return {static_cast<double>(s_.model.spec.layers.size()) * messages(CollectiveKind::all_reduce, "auto"), 0, 0};
    const auto row = std::find_if(collective_table.begin(), collective_table.end(),
                                  [&](const CollectiveRow& r) { return r.name == op.name; });
    if (row == collective_table.end()) return {};
    return {row->point_to_point ? ranks_ : messages(row->kind, op.text("algorithm", "auto")), 0, payload(op, *row)};
  }

  double join_messages() const {
    const LibrarySemantics* library = library_named(s_.world.spec.backend);
    const bool mesh = library != nullptr && library->address_exchange == AddressExchange::full_mesh;
    return reads_an_address * ranks_ * (mesh ? ranks_ : 1);
  }

  double messages(CollectiveKind kind, std::string_view algorithm) const {
    const auto found = find_algorithm(kind, algorithm);
    const auto row = found.ok() ? found : find_algorithm(kind, "auto");
    const int ranks = s_.world.spec.ranks();
    return row.ok() ? static_cast<double>((*row)->cost(ranks, ranks).messages) : 1;
  }

  double pass_multiplications() const {
    double widths = 0;
    for (const nn::LayerSpec& layer : s_.model.spec.layers) widths += std::max(nn::products_per_row(layer), 1.0);
    return forward_and_backward * widths * static_cast<double>(s_.batch) * ranks_;
  }

  double payload(const Operation& op, const CollectiveRow& row) const {
    if (!s_.world.spec.payload) return 0;
    const auto dtype = dtype_named(op.text("dtype", "f32"));
    const double parts = row.input_times_size || row.output_times_size ? ranks_ : 1;
    std::int64_t count = op.integer("count", 1);
    for (const std::int64_t part : op.integers("counts")) count = std::max(count, part);
    return static_cast<double>(count) * static_cast<double>(dtype ? size_of(*dtype) : 8) * parts * ranks_;
  }

  const Scenario& s_;
  double ranks_;
};

}  // namespace

WorkEstimate estimate_work(const Scenario& scenario) { return Estimator(scenario).of(scenario.program); }

}  // namespace pdsim::scenarios::language
