#include "tests/unit/conformance/collective_case.h"

#include "tests/oracle/directory.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>

namespace pdsim::oracle {
namespace {

using Json = nlohmann::json;

Bytes bytes_of(const Json& tensor) {
  const std::string hex = tensor.at("hex");
  Bytes bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::vector<Bytes> tensors_of(const Json& rank, const char* key) {
  std::vector<Bytes> tensors;
  if (!rank.contains(key) || rank.at(key).is_null()) return tensors;
  if (!rank.at(key).is_array()) return {bytes_of(rank.at(key))};
  for (const Json& tensor : rank.at(key)) tensors.push_back(bytes_of(tensor));
  return tensors;
}

CollectiveCase case_of(const Json& line) {
  CollectiveCase c;
  c.id = line.at("id");
  c.collective = line.at("collective");
  c.dtype = dtype_named(line.at("dtype").get<std::string>()).value();
  if (line.contains("op")) c.op = reduce_op_named(line.at("op").get<std::string>()).value();
  c.root = line.at("root");
  if (line.contains("members")) c.members = line.at("members").get<std::vector<Rank>>();
  for (const Json& rank : line.at("ranks")) {
    CaseRank r{tensors_of(rank, "input"), tensors_of(rank, "output"), {}};
    if (rank.contains("error")) r.error = rank.at("error").at("message");
    c.ranks.push_back(std::move(r));
  }
  return c;
}

}  // namespace

std::vector<CaseFile> read_collective_cases() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(directory() + "/collectives"))
    if (entry.path().extension() == ".jsonl") paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<CaseFile> files;
  for (const auto& path : paths) {
    CaseFile file{path.filename(), {}};
    std::ifstream in(path);
    for (std::string line; std::getline(in, line);)
      if (!line.empty()) file.cases.push_back(case_of(Json::parse(line)));
    files.push_back(std::move(file));
  }
  return files;
}

}  // namespace pdsim::oracle
