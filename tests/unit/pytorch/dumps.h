// Dumps written by hand, one rank at a time: what PyTorch would have left.
#pragma once

#include "scenarios/diagnosis/report.h"
#include "scenarios/records/pytorch/dump.h"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pdsim::scenarios::pytorch {

constexpr std::int64_t began_ns = 1'700'000'000'000'000'000;

// The rank's record: a call each millisecond, of the group of all `ranks` where nothing else is said.
class DumpScript {
 public:
  DumpScript(Rank rank, int ranks);
  DumpScript& group(std::string name, std::string desc, std::vector<std::int64_t> members);
  // The next calls are of this group, and its sequence numbers go on.
  DumpScript& in(std::string name, std::string desc);
  DumpScript& calls(int count, const std::string& name = "nccl:all_reduce");
  DumpScript& call(const std::string& name, EntryState state = EntryState::completed,
                   std::vector<std::int64_t> shape = {3, 4}, const std::string& dtype = "Float");
  DumpScript& message(const std::string& name, EntryState state = EntryState::completed,
                      std::vector<std::int64_t> shape = {8});
  // Calls of one batch, and the entry that ends it; `ops` are names of messages or collectives.
  DumpScript& batch(const std::vector<std::string>& ops, EntryState state = EntryState::completed,
                    std::vector<std::int64_t> shape = {8});
  DumpScript& forget(std::size_t oldest);  // the ring overwrote them
  DumpScript& only_active(std::int64_t enqueued,
                          std::int64_t completed);  // leaves out what is done; its account of group 0
  DumpScript& retire();  // all are Gloo's: scheduled for good, and retired
  Entry& last() { return dump_.entries.back(); }
  const Dump& dump() const { return dump_; }

 private:
  Entry& add(const std::string& name, EntryState state);
  Dump dump_;
  std::string group_ = "0", desc_ = "default_pg";
  std::map<std::string, std::int64_t> seqs_;
  std::int64_t& seq();
  std::int64_t p2p_seq_ = 0;
};

// The report of these dumps, as `pdsim diagnose` makes it.
struct Diagnosed {
  Scenario scenario;
  Report report;
  std::string id() const { return report.diagnosis() ? report.diagnosis()->id : ""; }
  std::string headline() const { return report.diagnosis() ? report.diagnosis()->headline : ""; }
};
// `unreadable`: ranks whose file is damaged.
std::unique_ptr<Diagnosed> diagnosed(const std::vector<DumpScript>& ranks,
                                     std::optional<std::int64_t> written_ns = std::nullopt,
                                     const std::vector<Rank>& unreadable = {});

}  // namespace pdsim::scenarios::pytorch
