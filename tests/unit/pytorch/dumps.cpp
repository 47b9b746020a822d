#include "tests/unit/pytorch/dumps.h"

#include "scenarios/records/pytorch/job.h"
#include "scenarios/run/analyse.h"

#include <algorithm>
#include <numeric>

namespace pdsim::scenarios::pytorch {

DumpScript::DumpScript(Rank rank, int ranks) {
  dump_.rank = rank;
  dump_.version = "2.9";
  std::vector<std::int64_t> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  group("0", "default_pg", std::move(all));
}

DumpScript& DumpScript::group(std::string name, std::string desc, std::vector<std::int64_t> members) {
  dump_.groups.push_back({std::move(name), std::move(desc), std::move(members)});
  return *this;
}

DumpScript& DumpScript::in(std::string name, std::string desc) {
  group_ = std::move(name);
  desc_ = std::move(desc);
  return *this;
}

std::int64_t& DumpScript::seq() { return seqs_[group_]; }

Entry& DumpScript::add(const std::string& name, EntryState state) {
  Entry entry;
  entry.record_id = dump_.entries.empty() ? 0 : dump_.entries.back().record_id + 1;
  entry.group = group_;
  entry.group_desc = desc_;
  entry.collective_seq = seq();
  entry.p2p_seq = p2p_seq_;
  entry.op_id = entry.record_id + 1;
  entry.name = name;
  entry.created_ns = began_ns + 1'000'000 * entry.record_id;
  entry.state = state;
  if (state == EntryState::completed) entry.completed_ns = entry.created_ns + 500'000;
  entry.timeout_ms = 600'000;
  entry.frames = std::vector<Frame>{{"all_reduce", "/opt/lib/torch/distributed/distributed_c10d.py", 2696},
                                    {"train_step", "train.py", static_cast<std::int64_t>(10 + entry.record_id)}};
  return dump_.entries.emplace_back(std::move(entry));
}

DumpScript& DumpScript::calls(int count, const std::string& name) {
  for (int i = 0; i < count; ++i) call(name);
  return *this;
}

DumpScript& DumpScript::call(const std::string& name, EntryState state, std::vector<std::int64_t> shape,
                             const std::string& dtype) {
  ++seq();
  Entry& entry = add(name, state);
  entry.input_sizes = entry.output_sizes = {std::move(shape)};
  entry.input_dtypes = entry.output_dtypes = std::vector<std::string>{dtype};
  return *this;
}

DumpScript& DumpScript::message(const std::string& name, EntryState state, std::vector<std::int64_t> shape) {
  ++p2p_seq_;
  Entry& entry = add(name, state);
  entry.is_p2p = true;
  entry.input_sizes = entry.output_sizes = {std::move(shape)};
  entry.input_dtypes = entry.output_dtypes = std::vector<std::string>{"Float"};
  return *this;
}

DumpScript& DumpScript::batch(const std::vector<std::string>& ops, EntryState state, std::vector<std::int64_t> shape) {
  const bool messages = ops.front().find(' ') != std::string::npos;
  ++(messages ? p2p_seq_ : seq());
  for (const std::string& op : ops) {
    Entry& entry = add(op, EntryState::scheduled);  // they have no events of their own
    entry.is_p2p = messages;
    entry.input_sizes = entry.output_sizes = {shape};
    entry.input_dtypes = entry.output_dtypes = std::vector<std::string>{"Float"};
  }
  add("nccl:coalesced", state).is_p2p = messages;
  return *this;
}

DumpScript& DumpScript::forget(std::size_t oldest) {
  dump_.entries.erase(dump_.entries.begin(), dump_.entries.begin() + static_cast<std::ptrdiff_t>(oldest));
  return *this;
}

DumpScript& DumpScript::only_active(std::int64_t enqueued, std::int64_t completed) {
  std::erase_if(dump_.entries, [](const Entry& e) { return e.state == EntryState::completed; });
  dump_.status.push_back({"0", enqueued, -1, completed});
  return *this;
}

DumpScript& DumpScript::retire() {
  for (Entry& entry : dump_.entries) {
    entry.state = EntryState::scheduled;
    entry.retired = true;
  }
  return *this;
}

std::unique_ptr<Diagnosed> diagnosed(const std::vector<DumpScript>& ranks, std::optional<std::int64_t> written_ns,
                                     const std::vector<Rank>& unreadable) {
  std::vector<Dump> dumps;
  for (const DumpScript& rank : ranks) {
    dumps.push_back(rank.dump());
    dumps.back().written_ns = written_ns;
  }
  auto result = std::make_unique<Diagnosed>();
  Result<RunRecord> run = run_of(dumps, unreadable);
  PDSIM_CHECK(run.ok(), "dumps written by hand are well formed");
  result->report = analyse(result->scenario, std::move(*run), RunWorld(pytorch_world));
  return result;
}

}  // namespace pdsim::scenarios::pytorch
