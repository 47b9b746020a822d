// The batches of a training: seeded, one per rank, step and name, so that every world and a single process see the same data.
//
//   input   [rows, input width], uniform in [-1, 1); for an embedding, indices of its rows
//   target  the same for mse, [rows, output width]; for cross_entropy a class per row; unused for sum
#pragma once

#include "core/nn/module.h"
#include "scenarios/language/scenario.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::operations {

struct Batch {
  std::vector<double> input, target;
  std::vector<std::int64_t> classes;
  std::int64_t rows = 0;
  void append(const Batch& other);
};

struct Widths {
  std::int64_t input = 1, output = 1;
  std::int64_t indices = 0;  // the input holds whole numbers below this; 0: it does not
};

// The widths of a path; one column where no layer of it has a width.
Widths widths_of(const nn::Module& module, const std::string& path);

// The samples that a rank draws from the data set in the epoch of a step. An epoch has one step for each batch that its indices
// fill.
struct Drawn {
  std::int64_t epoch = 0;
  std::int64_t first_row = 0;  // of the step within the epoch
  std::uint64_t seed = 0;      // of the sampler
  std::vector<std::int64_t> indices;
};
Result<Drawn> draw(const Scenario& scenario, int rank, int step);

// With a data set, its samples, the same for every rank that draws them; otherwise a batch for each rank and step. `rows`
// replaces the file's, but not for samples. Errors: invalid_argument for an index that the data set does not have (facts index,
// samples), and for an epoch without steps.
Result<Batch> next_batch(const Scenario& scenario, const std::string& name, int rank, int step, Widths widths,
                         std::optional<std::int64_t> rows);
nn::Tensor input_tensor(const Scenario& scenario, const Batch& batch, Widths widths);
Result<nn::Tensor> loss_of(const Scenario& scenario, const nn::Tensor& output, const Batch& batch, Widths widths);

// The path that `branches` names for this rank and step, and the entry; null: the default path.
const Branch* branch_for(const Scenario& scenario, int rank, int step);

}  // namespace pdsim::scenarios::operations
