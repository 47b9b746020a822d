#include "scenarios/language/work_estimate.h"

#include "core/collectives/algorithms.h"
#include "core/semantics/library.h"
#include "scenarios/language/pipeline_schedule.h"
#include "scenarios/language/tables/operations_table.h"

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
      const WorkEstimate once = op.has_body ? of(op.body) : op.messages.empty() ? of(op) : of(op.messages);
      const auto times = static_cast<double>(std::max<std::int64_t>(1, op.rounds()));
      total.messages += times * once.messages;
      total.multiplications += times * once.multiplications;
      total.bytes += times * once.bytes;
    }
    return total;
  }

 private:
  WorkEstimate of(const Operation& op) const {
    if (op.name == "init_process_group" || op.name == "new_group") return {join_messages(), 0, 0};
    if (op.name == "forward") return {0, pass_multiplications(), 0};
    if (op.name == "backward" &&
        s_.fully_shard)  // two gathers and a reduction of each unit, as two all_reduces at most
      return {2.0 * static_cast<double>(s_.fully_shard->options.units.size() + 1) *
                  messages(CollectiveKind::all_reduce, "auto"),
              0, 0};
    if (op.name == "backward" && s_.ddp.wrap)  // every layer's gradients in a bucket of their own, at worst
      return {static_cast<double>(s_.model.spec.layers.size()) * messages(CollectiveKind::all_reduce, "auto"), 0, 0};
    if (const auto* options = op.if_is<PipelineOptions>()) return pipeline(*options);
    const auto* call = op.if_is<CollectiveOptions>();
    if (call == nullptr) return {};
    WorkEstimate objects{};
    for (const CollectiveKind kind : collectives_of_objects(op.name)) {
      objects.messages += messages(kind, "auto");
      if (s_.world.spec.payload) objects.bytes += static_cast<double>(call->size.count) * ranks_ * ranks_;
    }
    if (objects.messages > 0) return objects;
    const auto kind = collective_of(op.name);
    if (!kind) return {};
    const CollectiveRow& row = pdsim::row(*kind);
    return {row.point_to_point ? ranks_ : messages(row.kind, call->algorithm), 0, payload(*call, row)};
  }

  WorkEstimate pipeline(const PipelineOptions& options) const {
    const Result<PipelineSchedule> schedule = pipeline_schedule(options, s_.world.spec.ranks());
    if (!schedule.ok()) return {};  // of another group, which is smaller, or told already
    const double messages = 2.0 * schedule->stages * schedule->microbatches;
    const double bytes = static_cast<double>(options.count) * static_cast<double>(size_of(options.dtype));
    return {messages, 0, s_.world.spec.payload ? messages * bytes : 0};
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

  double payload(const CollectiveOptions& call, const CollectiveRow& row) const {
    if (!s_.world.spec.payload) return 0;
    const double parts = row.in_parts ? ranks_ : 1;
    std::int64_t count = call.count;
    for (const auto* of_ranks : {&call.counts, &call.input_split_sizes, &call.output_split_sizes})
      for (const std::int64_t part : *of_ranks) count = std::max(count, part);
    return static_cast<double>(count) * static_cast<double>(size_of(call.dtype)) * parts * ranks_;
  }

  const Scenario& s_;
  double ranks_;
};

}  // namespace

WorkEstimate estimate_work(const Scenario& scenario) { return Estimator(scenario).of(scenario.program); }

}  // namespace pdsim::scenarios::language
