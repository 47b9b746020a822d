// One recorded case of tests/oracle/ddp, read: what to run, and what PyTorch saw.
#pragma once

#include "core/nn/module.h"
#include "core/nn/optimizer.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::oracle {

using Values = std::vector<double>;
using NamedValues = std::map<std::string, Values>;

struct Matrix {
  Values values;  // row by row
  nn::Shape shape;
};

struct Step {
  std::vector<Matrix> inputs, targets;  // one per micro-batch
  std::string path;
  Values losses;                                           // one per micro-batch
  std::map<std::string, std::optional<Values>> gradients;  // after backward; none where .grad was None
  NamedValues state;                                       // after the optimizer's step
  std::optional<std::string> error;                        // the step raised this; nothing was recorded after it
};

struct RankRecord {
  NamedValues before_ddp, after_ddp;
  std::vector<Step> steps;
  std::map<std::string, std::string> logging;
};

struct DdpCase {
  std::string name;
  nn::ModuleSpec module;  // f64
  nn::OptimizerSpec optimizer;
  bool find_unused_parameters = false;
  bool static_graph = false;
  bool gradient_as_bucket_view = false;
  bool broadcast_buffers = true;
  bool no_sync = false;
  std::size_t accumulate = 1;
  std::vector<RankRecord> ranks;
};

// Every case of directory() whose world has `world` ranks, by file name.
std::vector<DdpCase> read_ddp_cases(std::size_t world);

nn::Tensor tensor_of(const Matrix& m);

}  // namespace pdsim::oracle
