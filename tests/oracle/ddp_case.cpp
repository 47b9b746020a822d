#include "tests/oracle/ddp_case.h"

#include "tests/oracle/directory.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace pdsim::oracle {
namespace {

using Json = nlohmann::json;

nn::ModuleSpec module_of(const Json& c) {
  nn::ModuleSpec spec;
  spec.dtype = DType::f64;
  for (const Json& layer : c.at("layers")) {
    const std::string kind = layer.at(1);
    nn::LayerSpec l;
    l.name = layer.at(0);
    l.kind = kind == "linear" ? nn::LayerKind::linear : kind == "relu" ? nn::LayerKind::relu : nn::LayerKind::batchnorm;
    if (layer.size() > 2) l.in = layer.at(2);
    if (layer.size() > 3) l.out = layer.at(3);
    spec.layers.push_back(l);
  }
  for (const auto& [name, layers] : c.at("paths").items()) spec.paths.push_back({name, layers});
  return spec;
}

nn::OptimizerSpec optimizer_of(const Json& o) {
  nn::OptimizerSpec spec;
  spec.kind = o.at("kind") == "adam" ? nn::OptimizerSpec::Kind::adam : nn::OptimizerSpec::Kind::sgd;
  spec.lr = o.at("lr");
  spec.momentum = o.value("momentum", 0.0);
  return spec;
}

Matrix matrix_of(const Json& rows) {
  Matrix m;
  for (const Json& row : rows)
    for (const Json& v : row) m.values.push_back(v);
  m.shape = {static_cast<std::int64_t>(rows.size()), static_cast<std::int64_t>(rows.at(0).size())};
  return m;
}

Step step_of(const Json& c, const Json& record, std::size_t rank, std::size_t index) {
  Step step;
  for (const Json& micro : c.at("inputs").at(index).at(rank)) step.inputs.push_back(matrix_of(micro));
  for (const Json& micro : c.at("targets").at(index).at(rank)) step.targets.push_back(matrix_of(micro));
  step.path = c.at("default_path");
  if (c.contains("takes"))
    step.path = c.at("takes").value(std::to_string(rank) + ":" + std::to_string(index), step.path);
  step.losses = record.value("losses", Values{});
  const Json gradients = record.value("grads", Json::object());
  for (const auto& [name, values] : gradients.items())
    step.gradients[name] = values.is_null() ? std::nullopt : std::optional<Values>(values.get<Values>());
  step.state = record.value("state", NamedValues{});
  if (record.contains("error")) step.error = record.at("error").dump();
  return step;
}

RankRecord rank_of(const Json& c, std::size_t rank) {
  const Json& record = c.at("ranks").at(rank);
  RankRecord r;
  r.before_ddp = record.at("before_ddp").get<NamedValues>();
  r.after_ddp = record.value("after_ddp", NamedValues{});
  for (std::size_t i = 0; i < record.at("steps").size(); ++i)
    r.steps.push_back(step_of(c, record.at("steps").at(i), rank, i));
  const Json logging = record.value("logging", Json::object());
  for (const auto& [key, value] : logging.items())
    r.logging[key] = value.is_string() ? value.get<std::string>() : value.dump();
  return r;
}

DdpCase case_of(const Json& c) {
  DdpCase d;
  d.name = c.at("name");
  d.module = module_of(c);
  d.optimizer = optimizer_of(c.at("optimizer"));
  d.find_unused_parameters = c.value("find_unused_parameters", false);
  d.static_graph = c.value("static_graph", false);
  d.gradient_as_bucket_view = c.value("gradient_as_bucket_view", false);
  d.broadcast_buffers = c.value("broadcast_buffers", true);
  d.no_sync = c.value("no_sync", false);
  d.accumulate = c.value("accumulate", std::size_t{1});
  for (std::size_t r = 0; r < c.at("ranks").size(); ++r) d.ranks.push_back(rank_of(c, r));
  return d;
}

}  // namespace

std::vector<DdpCase> read_ddp_cases(std::size_t world) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory() + "/ddp"))
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<DdpCase> cases;
  for (const auto& file : files) {
    const Json c = Json::parse(std::ifstream(file));
    if (c.at("world") == world) cases.push_back(case_of(c));
  }
  return cases;
}

nn::Tensor tensor_of(const Matrix& m) { return nn::Tensor::from(m.values, m.shape, DType::f64); }

}  // namespace pdsim::oracle
