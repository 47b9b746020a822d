#include "tests/unit/conformance/extra_calls.h"

#include "core/collectives/element.h"
#include "tests/unit/conformance/sha256.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <optional>

namespace pdsim::oracle {
namespace {

using Json = nlohmann::json;
using Memory = std::vector<std::byte>;

Memory bytes_of_hex(const std::string& hex) {
  Memory bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

std::string hex_of(const Memory& bytes) {
  std::string hex;
  for (const std::byte b : bytes) hex += fmt::format("{:02x}", static_cast<unsigned>(b));
  return hex;
}

// One rank's side of one case.
struct ExtraCall {
  const Json& recorded;
  ProcessGroup& group;
  const Json& mine;  // its record
  DType dtype;       // complex numbers are pairs of f32

  std::int64_t elements(const Memory& m) const { return static_cast<std::int64_t>(m.size() / size_of(dtype)); }
  MutableView view(Memory& m) const { return {m.data(), dtype, elements(m)}; }
  ReduceOp op() const { return reduce_op_named(recorded.value("op", "sum")).value(); }
  Rank root() const { return group.group_rank(recorded.at("root")).value(); }
  std::vector<Memory> inputs() const {
    std::vector<Memory> tensors;
    const Json& input = mine.at("input");
    if (input.is_array())
      for (const Json& t : input) tensors.push_back(bytes_of_hex(t.at("hex")));
    else if (input.is_object())
      tensors.push_back(bytes_of_hex(input.at("hex")));
    return tensors;
  }
};

ExtraOutcome over(const Status& status, const std::vector<Memory>& tensors, bool compared = true) {
  ExtraOutcome outcome{status, {}, compared};
  for (const Memory& t : tensors) outcome.output.push_back(hex_of(t));
  return outcome;
}

std::vector<Memory> cut(const Memory& all, std::size_t parts) {
  std::vector<Memory> out;
  const auto each = static_cast<std::ptrdiff_t>(all.size() / parts);
  for (std::size_t i = 0; i < parts; ++i) {
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(i) * each;
    out.emplace_back(first, first + each);
  }
  return out;
}

Memory joined_memory(const std::vector<Memory>& tensors) {
  Memory all;
  for (const Memory& t : tensors) all.insert(all.end(), t.begin(), t.end());
  return all;
}

ExtraOutcome reducing(const ExtraCall& c) {
  Memory data = c.inputs().at(0);
  const Status status = wait(c.group.all_reduce(c.view(data), c.op()));
  return over(status, {data});
}

ExtraOutcome reducing_to_one(const ExtraCall& c) {
  Memory data = c.inputs().at(0);
  const Status status = wait(c.group.reduce(c.view(data), c.view(data), c.op(), c.root()));
  return over(status, {data});
}

ExtraOutcome broadcasting(const ExtraCall& c) {
  Memory data = c.inputs().at(0);
  const Status status = wait(c.group.broadcast(c.view(data), c.root()));
  return over(status, {data});
}

ExtraOutcome gathering_all(const ExtraCall& c) {
  Memory in = c.inputs().at(0);
  const auto ranks = static_cast<std::size_t>(c.group.size());
  Memory out(in.size() * ranks);
  const Status status = wait(c.group.all_gather(c.view(in), c.view(out)));
  return over(status, cut(out, ranks), c.group.is_member());
}

ExtraOutcome gathering_to_one(const ExtraCall& c) {
  Memory in = c.inputs().at(0);
  const bool root = c.group.is_member() && c.group.rank() == c.root();
  const auto ranks = static_cast<std::size_t>(c.group.size());
  Memory out(root ? in.size() * ranks : 0);
  const Status status = wait(c.group.gather(c.view(in), c.view(out), c.root()));
  return over(status, root ? cut(out, ranks) : std::vector<Memory>{});
}

ExtraOutcome scattering_to_all(const ExtraCall& c) {
  Memory in = joined_memory(c.inputs());
  Memory out(bytes_of_hex(c.mine.at("output").at("hex")).size());
  const Status status = wait(c.group.scatter(c.view(in), c.view(out), c.root()));
  return over(status, {out});
}

ExtraOutcome exchanging_all(const ExtraCall& c) {
  Memory in = c.inputs().at(0), out(in.size());
  if (!c.group.is_member()) return over(wait(c.group.barrier()), {}, false);
  const Status status = wait(c.group.all_to_all(c.view(in), c.view(out)));
  return over(status, {out});
}

// Rows of splits[i][j] from rank i to rank j.
ExtraOutcome exchanging_unevenly(const ExtraCall& c) {
  Memory in = c.inputs().at(0);
  std::int64_t row = 1;
  for (const Json& d : c.recorded.at("shape")) row *= d.get<std::int64_t>();
  std::vector<std::int64_t> sends, receives;
  std::int64_t room = 0;
  const auto me = static_cast<std::size_t>(c.group.rank());
  for (std::size_t peer = 0; peer < static_cast<std::size_t>(c.group.size()); ++peer) {
    sends.push_back(c.recorded.at("splits").at(me).at(peer).get<std::int64_t>() * row);
    receives.push_back(c.recorded.at("splits").at(peer).at(me).get<std::int64_t>() * row);
    room += receives.back();
  }
  Memory out(static_cast<std::size_t>(room) * size_of(c.dtype));
  const Status status = wait(c.group.all_to_all_v(c.view(in), c.view(out), sends, receives));
  return over(status, {out});
}

ExtraOutcome starting_first(const ExtraCall& c) {
  Memory data = c.inputs().at(0);
  CallOptions later;
  later.async = true;
  const bool sums = c.recorded.at("kind") == "async_all_reduce";
  const auto work =
      sums ? c.group.all_reduce(c.view(data), c.op(), later) : c.group.broadcast(c.view(data), c.root(), later);
  const Status status = wait(work);
  return over(status, {data});
}

// Two calls under way at once, the second waited for first.
ExtraOutcome starting_two(const ExtraCall& c) {
  std::vector<Memory> data = c.inputs();
  const auto first = c.group.all_reduce(c.view(data[0]), ReduceOp::sum);
  const auto second = c.group.broadcast(c.view(data[1]), c.root());
  const Status of_second = wait(second), of_first = wait(first);
  return over(of_first.ok() ? of_second : of_first, data);
}

// One call over all tensors, laid end to end.
ExtraOutcome coalescing(const ExtraCall& c) {
  const std::vector<Memory> tensors = c.inputs();
  Memory flat = joined_memory(tensors), gathered;
  const bool gathers = c.recorded.at("kind") == "all_gather_coalesced";
  gathered.resize(gathers ? flat.size() * static_cast<std::size_t>(c.group.size()) : 0);
  const Status status =
      wait(gathers ? c.group.all_gather(c.view(flat), c.view(gathered)) : c.group.all_reduce(c.view(flat), c.op()));
  std::vector<Memory> out;
  const Memory& all = gathers ? gathered : flat;
  for (std::size_t at = 0; at < all.size() || (all.empty() && out.size() < tensors.size());)
    for (const Memory& t : tensors) {
      const auto first = all.begin() + static_cast<std::ptrdiff_t>(at);
      out.emplace_back(first, first + static_cast<std::ptrdiff_t>(t.size()));
      at += t.size();
    }
  return over(status, out);
}

ExtraOutcome receiving_from_any(const ExtraCall& c) {
  Memory in = c.inputs().at(0);
  if (c.group.rank() != c.root()) return over(wait(c.group.send(c.view(in), c.root(), 0)), {});
  std::map<Rank, Memory> by_source;
  for (int i = 1; i < c.group.size(); ++i) {
    Memory out(in.size());
    const auto work = c.group.recv(c.view(out), any_source, 0);
    const Status status = wait(work);
    if (!status.ok()) return over(status, {});
    by_source[(*work)->source()] = out;
  }
  std::vector<Memory> out;
  for (const auto& [source, data] : by_source) out.push_back(data);
  return over({}, out);
}

// Two messages to the next rank, received in the other order.
ExtraOutcome sending_tagged(const ExtraCall& c) {
  std::vector<Memory> in = c.inputs(), out{Memory(in[0].size()), Memory(in[1].size())};
  const int size = c.group.size();
  if (size == 1) return over({}, out);  // the recorded program sends nothing there
  const Rank next = (c.group.rank() + 1) % size, before = (c.group.rank() + size - 1) % size;
  std::vector<Result<WorkPtr>> works;
  for (const std::size_t i : {0U, 1U}) works.push_back(c.group.send(c.view(in[i]), next, static_cast<Tag>(i)));
  for (const std::size_t i : {1U, 0U}) works.push_back(c.group.recv(c.view(out[i]), before, static_cast<Tag>(i)));
  Status first;
  for (const Result<WorkPtr>& work : works)
    if (const Status status = wait(work); first.ok()) first = status;
  return over(first, out);
}

// A view of every second column. Gloo takes the first elements in memory for the tensor.
ExtraOutcome reducing_a_view(const ExtraCall& c) {
  const Memory packed = c.inputs().at(0);
  const Json& shape = c.recorded.at("shape");
  const std::size_t size = size_of(c.dtype), count = packed.size() / size, columns = shape.back();
  const std::size_t width =
      2 * columns - columns % 2;  // of the memory; of an odd number the last column has nothing behind it
  const auto place = [&](std::size_t i) { return (i / columns * width + 2 * (i % columns)) * size; };
  Memory memory(place(count) + size * 2), out(packed.size());
  for (std::size_t i = 0; i < count; ++i) std::copy_n(packed.data() + i * size, size, memory.data() + place(i));
  const Status status = wait(c.group.all_reduce({memory.data(), c.dtype, static_cast<std::int64_t>(count)}, c.op()));
  for (std::size_t i = 0; i < count; ++i) std::copy_n(memory.data() + place(i), size, out.data() + i * size);
  return over(status, {out});
}

// Element i of rank r: see tests/oracle/README.md.
Memory by_formula(DType dtype, Rank rank, std::int64_t count) {
  const bool floating = dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16;
  Memory data(static_cast<std::size_t>(count) * size_of(dtype));
  for (std::int64_t i = 0; i < count; ++i) {
    const auto mixed = static_cast<std::uint32_t>(2654435761U * static_cast<std::uint32_t>(rank) +
                                                  2246822519U * static_cast<std::uint32_t>(i) + 3266489917U);
    const int top = static_cast<int>(mixed >> 16U) - 32768;
    write_element(data.data() + static_cast<std::size_t>(i) * size_of(dtype), dtype, floating ? top / 4096.0 : top & 7);
  }
  return data;
}

ExtraOutcome reducing_a_large_one(const ExtraCall& c) {
  Memory data = by_formula(c.dtype, c.group.rank(), c.mine.at("input").at("shape").at(0));
  if (sha256(data) != c.mine.at("input").at("sha256"))
    return {Error{Code::internal, "the input is not what was recorded", {}}, {}, true};
  const bool to_one = c.recorded.at("kind") == "large_reduce";
  const Status status = wait(to_one ? c.group.reduce(c.view(data), c.view(data), c.op(), c.root())
                                    : c.group.all_reduce(c.view(data), c.op()));
  return {status, {sha256(data)}, true};
}

// Objects travel as text: their lengths first, then the text itself, as torch.distributed pickles them.
Memory text_of(const Json& object) {
  const std::string text = object.dump();
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

Result<std::vector<std::int64_t>> lengths_of_all(ProcessGroup& group, std::int64_t mine) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(group.size()));
  const ConstView in{reinterpret_cast<const std::byte*>(&mine), DType::i64, 1};
  const MutableView out{reinterpret_cast<std::byte*>(all.data()), DType::i64, group.size()};
  PDSIM_TRY(wait(group.all_gather(in, out)));
  return all;
}

std::string object_in(const std::byte* at, std::int64_t length) {
  return Json::parse(std::string(reinterpret_cast<const char*>(at), static_cast<std::size_t>(length))).dump();
}

ExtraOutcome gathering_objects(const ExtraCall& c) {
  Memory in = text_of(c.mine.at("input"));
  const auto lengths = lengths_of_all(c.group, static_cast<std::int64_t>(in.size()));
  if (!lengths.ok()) return {lengths.error(), {}, true};
  std::int64_t total = 0;
  for (const std::int64_t n : *lengths) total += n;
  Memory out(static_cast<std::size_t>(total));
  const Status status = wait(c.group.all_gather_v({in.data(), DType::u8, static_cast<std::int64_t>(in.size())},
                                                  {out.data(), DType::u8, total}, *lengths));
  ExtraOutcome outcome{status, {}, true};
  if (c.recorded.at("kind") == "gather_object" && c.group.rank() != c.root()) return outcome;
  std::int64_t at = 0;
  for (const std::int64_t n : *lengths) {
    outcome.output.push_back(object_in(out.data() + at, n));
    at += n;
  }
  return outcome;
}

// The root's list is sent whole; of a scatter each rank keeps its own.
ExtraOutcome spreading_objects(const ExtraCall& c) {
  const auto root = static_cast<std::size_t>(c.root());
  Json list = Json::array();
  const bool scatters = c.recorded.at("kind") == "scatter_object_list";
  for (std::size_t r = 0; scatters && r < c.recorded.at("ranks").size(); ++r)
    list.push_back(c.recorded.at("ranks").at(r).at("output").at(0));
  if (!scatters) list = c.recorded.at("ranks").at(root).at("output");
  Memory text = text_of(list);
  const auto lengths = lengths_of_all(c.group, static_cast<std::int64_t>(text.size()));
  if (!lengths.ok()) return {lengths.error(), {}, true};
  if (static_cast<std::size_t>(c.group.rank()) != root)
    text.assign((*lengths)[root] > 0 ? static_cast<std::size_t>((*lengths)[root]) : 0, std::byte{});
  const Status status =
      wait(c.group.broadcast({text.data(), DType::u8, static_cast<std::int64_t>(text.size())}, c.root()));
  ExtraOutcome outcome{status, {}, true};
  const Json received = Json::parse(object_in(text.data(), static_cast<std::int64_t>(text.size())));
  for (std::size_t i = 0; i < received.size(); ++i)
    if (!scatters || i == static_cast<std::size_t>(c.group.rank())) outcome.output.push_back(received[i].dump());
  return outcome;
}

struct ExtraRow {
  std::string_view kind;
  ExtraOutcome (*run)(const ExtraCall&);
};
constexpr std::array extra_rows{
    ExtraRow{"group_all_reduce", reducing},
    ExtraRow{"group_reduce", reducing_to_one},
    ExtraRow{"group_broadcast", broadcasting},
    ExtraRow{"group_all_gather", gathering_all},
    ExtraRow{"group_gather", gathering_to_one},
    ExtraRow{"group_scatter", scattering_to_all},
    ExtraRow{"group_all_to_all_single", exchanging_all},
    ExtraRow{"special_all_reduce", reducing},
    ExtraRow{"special_reduce", reducing_to_one},
    ExtraRow{"async_all_reduce", starting_first},
    ExtraRow{"async_broadcast", starting_first},
    ExtraRow{"async_two", starting_two},
    ExtraRow{"all_reduce_coalesced", coalescing},
    ExtraRow{"all_gather_coalesced", coalescing},
    ExtraRow{"all_to_all_uneven", exchanging_unevenly},
    ExtraRow{"all_gather_object", gathering_objects},
    ExtraRow{"gather_object", gathering_objects},
    ExtraRow{"scatter_object_list", spreading_objects},
    ExtraRow{"broadcast_object_list", spreading_objects},
    ExtraRow{"recv_any", receiving_from_any},
    ExtraRow{"complex_all_reduce", reducing},
    ExtraRow{"scalar_all_reduce", reducing},
    ExtraRow{"dense_view", reducing},
    ExtraRow{"strided_view", reducing_a_view},
    ExtraRow{"tags", sending_tagged},
    ExtraRow{"large_all_reduce", reducing_a_large_one},
    ExtraRow{"large_reduce", reducing_a_large_one},
};

std::vector<std::string> tensors_in(const Json& output) {
  if (output.is_null()) return {};
  if (output.is_object() && output.contains("hex")) return {output["hex"]};
  if (output.is_object() && output.contains("sha256")) return {output["sha256"]};
  std::vector<std::string> tensors;
  const bool by_source =
      output.is_object() && !output.empty() && output.begin()->is_object() && output.begin()->contains("hex");
  if (!output.is_array() && !by_source) return output.empty() ? tensors : std::vector<std::string>{output.dump()};
  for (const Json& part : output) {
    const bool object = part.is_null() || part.is_number() || (part.is_object() && !part.contains("hex"));
    for (std::string& tensor : object ? std::vector<std::string>{part.dump()} : tensors_in(part))
      tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

ExtraOutcome run_extra(const std::string& recorded_case, ProcessGroup& group, Rank global_rank) {
  const Json recorded = Json::parse(recorded_case);
  const std::string kind = recorded.at("kind"), dtype = recorded.at("dtype");
  const Json& mine = recorded.at("ranks").at(static_cast<std::size_t>(global_rank));
  for (const ExtraRow& row : extra_rows)
    if (row.kind == kind)
      return row.run({recorded, group, mine, dtype == "c64" ? DType::f32 : dtype_named(dtype).value()});
  return {Error{Code::internal, "the test does not know " + kind, {}}, {}, true};
}

std::vector<std::string> recorded_tensors(const std::string& output) { return tensors_in(Json::parse(output)); }

}  // namespace pdsim::oracle
