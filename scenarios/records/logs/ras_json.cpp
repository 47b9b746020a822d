#include "scenarios/records/logs/ras_json.h"

#include "core/record/record_check.h"
#include "scenarios/records/logs/line_text.h"
#include "scenarios/records/logs/ras_reader.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace pdsim::scenarios::logs {
namespace {

using RasJson = nlohmann::json;

std::int64_t ras_number(const RasJson& of, const char* name, std::int64_t otherwise = -1) {
  const auto found = of.find(name);
  return found == of.end() || !found->is_number_integer() ? otherwise : found->get<std::int64_t>();
}

std::string ras_word(const RasJson& of, const char* name, std::size_t most) {
  const auto found = of.find(name);
  return found == of.end() || !found->is_string() ? std::string() : clipped(found->get_ref<const std::string&>(), most);
}

bool ras_flag(const RasJson& of, const char* name) {
  const auto found = of.find(name);
  return found != of.end() && found->is_boolean() && found->get<bool>();
}

const RasJson& ras_part(const RasJson& of, const char* name) {
  static const RasJson none = RasJson::object();
  const auto found = of.is_object() ? of.find(name) : of.end();
  return found == of.end() || (!found->is_object() && !found->is_array()) ? none : *found;
}

RasMember member_of(const RasJson& rank) {
  RasMember member;
  const std::int64_t number = ras_number(rank, "rank");
  member.rank = number >= 0 && number < most_recorded_ranks ? static_cast<Rank>(number) : no_rank;
  member.pid = ras_number(rank, "pid");
  member.host = ras_word(rank, "host", 120);
  return member;
}

// "RUNNING", or what keeps the rank from it.
std::string state_of(const RasJson& rank) {
  const RasJson& status = ras_part(rank, "status");
  constexpr std::int64_t done = 0, in_progress = 7;
  if (ras_flag(status, "abort_flag")) return "ABORT";
  if (const std::int64_t error = ras_number(status, "async_error", done); error != done && error != in_progress)
    return fmt::format("ERROR {}", error);
  const std::int64_t init = ras_number(status, "init_state", done);
  if (init == in_progress) return "INIT";
  if (init != done) return fmt::format("INIT ERROR {}", init);
  return ras_flag(status, "finalize_called") || ras_flag(status, "destroy_flag") ? "FINALIZE" : "RUNNING";
}

void add_to(RasPart& part, RasMember member) {
  ++part.ranks;
  if (part.members.size() < RasReader::most_members) part.members.push_back(std::move(member));
}

// Most ranks first.
template <class Key>
std::vector<RasPart> parts_of(std::map<Key, RasPart> by_key) {
  std::vector<RasPart> parts;
  for (auto& [key, part] : by_key) parts.push_back(std::move(part));
  std::stable_sort(parts.begin(), parts.end(), [](const RasPart& a, const RasPart& b) { return a.ranks > b.ranks; });
  return parts;
}

using Device = std::tuple<std::string, std::int64_t, std::int64_t>;  // host, process, device

void add_devices(const RasJson& ranks, std::set<Device>& devices) {
  for (const RasJson& rank : ranks)
    if (rank.is_object()) devices.insert({ras_word(rank, "host", 120), ras_number(rank, "pid"), ras_number(rank, "nvml_dev")});
}

class CommunicatorReader {
 public:
  CommunicatorReader(const RasJson& communicator, std::int64_t devices) : communicator_(communicator) {
    like_.communicator = ras_word(communicator, "hash", 32);
    if (like_.communicator.starts_with("0x")) like_.communicator.erase(0, 2);
    like_.size = ras_number(communicator, "size");
    like_.is_whole_job = like_.size > 0 && like_.size == devices;
  }

  std::vector<RasReport> read() {
    add_missing();
    add_states();
    add_counts();
    return std::move(reports_);
  }

 private:
  void add(RasKind kind, std::string operation, std::vector<RasPart> parts) {
    RasReport report = like_;
    report.kind = kind;
    report.operation = std::move(operation);
    report.parts = std::move(parts);
    reports_.push_back(std::move(report));
  }

  void add_missing() {
    RasPart all, silent, dead;
    for (const RasJson& rank : ras_part(communicator_, "missing_ranks")) {
      if (!rank.is_object()) continue;
      const RasJson& status = ras_part(rank, "status");
      add_to(all, member_of(rank));
      if (ras_flag(status, "considered_dead"))
        add_to(dead, member_of(rank));
      else if (ras_flag(status, "unresponsive"))
        add_to(silent, member_of(rank));
    }
    if (dead.ranks > 0) add(RasKind::dead_processes, "", {dead});
    if (silent.ranks > 0) add(RasKind::silent_processes, "", {silent});
    if (all.ranks > 0) add(RasKind::no_data, "", {all});
  }

  void add_states() {
    std::map<std::string, RasPart> by_state;
    for (const RasJson& rank : ras_part(communicator_, "ranks")) {
      if (!rank.is_object()) continue;
      RasPart& part = by_state[state_of(rank)];
      part.status = state_of(rank);
      add_to(part, member_of(rank));
    }
    if (by_state.size() > 1) add(RasKind::status, "", parts_of(std::move(by_state)));
  }

  void add_counts() {
    std::map<std::string, std::map<Seq, RasPart>> operations;
    for (const RasJson& rank : ras_part(communicator_, "ranks")) {
      if (!rank.is_object()) continue;
      for (const auto& [name, count] : ras_part(rank, "collective_counts").items()) {
        if (!count.is_number_integer() || operations.size() > most_operations) continue;
        const auto launched = count.get<std::int64_t>();
        if (launched < 0 || launched >= most_recorded_calls) continue;
        RasPart& part = operations[clipped(name, 32)][launched];
        part.launched = launched;
        add_to(part, member_of(rank));
      }
    }
    for (auto& [name, by_count] : operations)
      if (by_count.size() > 1) add(RasKind::counts, name, parts_of(std::move(by_count)));
  }

  static constexpr std::size_t most_operations = 64;
  const RasJson& communicator_;
  RasReport like_;
  std::vector<RasReport> reports_;
};

}  // namespace

bool looks_like_ras_json(std::string_view beginning) {
  const std::string_view text = trimmed(beginning);
  return text.starts_with("{") && text.find("\"nccl_version\"") != std::string_view::npos &&
         text.find("\"communicators") != std::string_view::npos;
}

std::optional<std::vector<RasReport>> read_ras_json(std::string_view text, std::string& problem) {
  if (text.size() > most_ras_json) {
    problem = fmt::format("it is larger than {}MiB, so it is not an answer of NCCL's RAS service", most_ras_json >> 20);
    return std::nullopt;
  }
  const RasJson root = RasJson::parse(text, nullptr, false);
  if (!root.is_object() || !ras_part(root, "communicators").is_array()) {
    problem = "it is not the complete JSON of `ncclras -f json`: an object with a list of communicators";
    return std::nullopt;
  }
  std::set<Device> devices;
  for (const RasJson& communicator : ras_part(root, "communicators"))
    for (const char* name : {"ranks", "missing_ranks"}) add_devices(ras_part(communicator, name), devices);
  std::vector<RasReport> reports;
  for (const RasJson& communicator : ras_part(root, "communicators")) {
    if (!communicator.is_object()) continue;
    std::vector<RasReport> found = CommunicatorReader(communicator, static_cast<std::int64_t>(devices.size())).read();
    std::move(found.begin(), found.end(), std::back_inserter(reports));
  }
  return reports;
}

}  // namespace pdsim::scenarios::logs
