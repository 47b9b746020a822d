#include "tests/unit/conformance/misuse_program.h"

#include "core/collectives/element.h"
#include "core/group/checked_communicator.h"
#include "core/group/new_group.h"
#include "core/store/rendezvous_url.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <optional>

namespace pdsim::oracle {
namespace {

using namespace literals;
using Json = nlohmann::json;

Error absent(const std::string& what) { return {Code::unsupported, what, {{std::string(not_in_our_api), what}}}; }

struct Buffer {
  std::shared_ptr<std::vector<std::byte>> memory;
  DType dtype = DType::f32;
  std::int64_t count = 0;  // elements of the tensor
  std::int64_t stride = 1;

  MutableView view() const { return {memory->data(), dtype, count}; }
  Json hex() const {
    std::string text;
    const auto size = static_cast<std::int64_t>(size_of(dtype));
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t b = 0; b < size; ++b)
        text +=
            fmt::format("{:02x}", static_cast<unsigned>((*memory)[static_cast<std::size_t>(i * stride * size + b)]));
    return text;
  }
};

std::int64_t elements(const Json& shape) {
  std::int64_t n = 1;
  for (const Json& d : shape) n *= d.get<std::int64_t>();
  return n;
}

class Program {
 public:
  Program(RankEnvironment& env, const Json& recorded, const Profile& profile, KeptBuffers& kept)
      : env_(env), profile_(profile), kept_(kept), checked_(env.backend, env.runtime) {
    timeout_ = Time{static_cast<std::int64_t>(recorded.at("timeout_s").get<double>() * 1e12)};
    detail_ = recorded.contains("env");
  }

  Status run(const Json& call, Json& result);

 private:
  Backend& backend() { return detail_ ? static_cast<Backend&>(checked_) : env_.backend; }

  Status init(const Json& c);
  Status join(const InitMethod& method);
  Status store_barrier(Time timeout);
  Status new_group(const Json& c);
  Status collective(const Json& c, Json& result);
  Status rooted(const Json& c, ProcessGroup& group, Json& result);
  Status gathering(const Json& c, ProcessGroup& group, Json& result);
  Status scattering(const Json& c, ProcessGroup& group, Json& result);
  Status all_to_all(const Json& c, ProcessGroup& group, Json& result);
  Status message(const Json& c, ProcessGroup& group, Json& result);
  Status wait_for(const Json& c, Json& result);
  Status query(const Json& c, Json& result);

  Result<ProcessGroup*> group_of(const Json& c);
  Buffer zeros(DType dtype, std::int64_t count);
  Buffer input(const Json& c, int parts = 1, bool packed = false);
  Status finish(const Json& c, const Result<WorkPtr>& started, const Buffer& output, Json& result, int parts = 0);
  ReduceOp op(const Json& c) const { return reduce_op_named(c.value("op", "sum")).value(); }
  DType dtype(const Json& c) const { return dtype_named(c.value("dtype", "f32")).value(); }
  std::int64_t count(const Json& c) const { return c.contains("shape") ? elements(c["shape"]) : 4; }

  struct Started {
    WorkPtr work;
    Buffer output;
  };

  RankEnvironment& env_;
  const Profile& profile_;
  KeptBuffers& kept_;
  CheckedBackend checked_;
  Time timeout_{};
  bool detail_ = false;
  bool destroyed_ = false;
  std::unique_ptr<Store> store_;
  std::unique_ptr<GroupMaker> maker_;
  std::unique_ptr<ProcessGroup> world_;
  std::map<std::string, std::unique_ptr<ProcessGroup>> groups_;
  std::map<std::string, Started> works_;
};

Buffer Program::zeros(DType dtype, std::int64_t count) {
  kept_.push_back(std::make_shared<std::vector<std::byte>>(static_cast<std::size_t>(count) * size_of(dtype)));
  return {kept_.back(), dtype, count};
}

Buffer Program::input(const Json& c, int parts, bool packed) {
  const std::int64_t each = count(c);
  const bool strided = !packed && c.value("layout", "") == "strided";
  Buffer b = zeros(dtype(c), each * parts * (strided ? 2 : 1));
  b.count = each * parts;
  b.stride = strided ? 2 : 1;
  const auto size = static_cast<std::int64_t>(size_of(b.dtype));
  for (std::int64_t i = 0; i < b.count; ++i) {
    const double value = 10.0 * (env_.rank + 1) + static_cast<double>(i % each) + 100.0 * static_cast<double>(i / each);
    write_element(b.memory->data() + i * b.stride * size, b.dtype, value);
  }
  return b;
}

Result<ProcessGroup*> Program::group_of(const Json& c) {
  if (world_ == nullptr) return absent("a default process group");
  if (!c.contains("group")) return world_.get();
  return groups_.at(c["group"]).get();
}

// What the URL and the environment say; placeholders stand for what the recorder chose.
std::string filled(std::string text, Rank rank) {
  for (const auto& [what, by] : {std::pair<std::string, std::string>{"{folder}", "/shared"},
                                 {"{port}", "29500"},
                                 {"{rank}", std::to_string(rank)}})
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what))
      text.replace(at, what.size(), by);
  return text;
}

std::optional<int> number(const Json& c, const char* key, int otherwise) {
  if (!c.contains(key)) return otherwise;
  if (c[key].is_null()) return std::nullopt;
  return c[key].get<int>();
}

Status Program::init(const Json& c) {
  if (world_ != nullptr && !destroyed_) return absent("a default process group");
  std::string name = c.value("backend", "gloo");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char ch) { return ch >= 'A' && ch <= 'Z' ? ch - 'A' + 'a' : ch; });
  if (name == "nccl" || name == "mpi") return absent("a build without " + name);
  if (library_named(name) == nullptr) return Error{Code::invalid_argument, "no backend " + name, {}};
  std::string url = "file://{folder}/store";
  if (c.contains("init_method")) url = c["init_method"].is_null() ? "env://" : c["init_method"].get<std::string>();
  url = filled(url, env_.rank);
  Environment variables;
  if (c.contains("env"))
    for (const auto& [key, value] : c["env"].items())
      variables[key] = value.is_string() ? filled(value.get<std::string>(), env_.rank) : value.dump();
  Result<InitMethod> method =
      parse_init_method({url, number(c, "rank", env_.rank), number(c, "world_size", env_.world_size)}, variables);
  if (!method.ok()) return method.error();
  return join(*method);
}

Status Program::join(const InitMethod& method) {
  if (method.rank != env_.rank) return absent("a rank that says another number than its own");
  const bool file = method.kind == InitMethod::Kind::file;
  Result<std::unique_ptr<Store>> store =
      file ? env_.rendezvous.file(method.path, timeout_) : env_.rendezvous.env(timeout_);
  if (!store.ok()) return store.error();
  groups_.clear();
  world_.reset();
  maker_.reset();
  store_ = std::move(*store);
  destroyed_ = false;
  Result<std::unique_ptr<Communicator>> communicator =
      backend().join(*store_, {"world", method.rank, method.world_size, timeout_});
  if (!communicator.ok()) return communicator.error();
  world_ = std::make_unique<ProcessGroup>("world", RankList::of_world(method.world_size), method.rank, timeout_,
                                          std::move(*communicator), env_.recorder);
  maker_ = std::make_unique<GroupMaker>(backend(), *store_, env_.rank, method.world_size, env_.recorder);
  return store_barrier(timeout_);
}

// As in 1.13: all ranks of the world, after init and every new_group.
Status Program::store_barrier(Time timeout) {
  if (!profile_.store_barrier) return {};
  const std::string key = fmt::format("store_based_barrier_key:{}", 1 + maker_->made());
  const Time began = env_.runtime.now(), deadline = began + timeout;
  Result<std::int64_t> arrived = store_->add(key, 1);
  while (arrived.ok() && *arrived != env_.world_size) {
    if (env_.runtime.now() >= deadline) return Error{Code::rendezvous_timeout, "the store barrier timed out", {}};
    const Time now = env_.runtime.now();
    env_.runtime.sleep_until(now + std::max(10_ms, Time{(now - began).ps / 100}));
    arrived = store_->add(key, 0);
  }
  return arrived.ok() ? Status{} : Status{arrived.error()};
}

Status Program::new_group(const Json& c) {
  if (world_ == nullptr) return absent("a default process group");
  Result<std::unique_ptr<ProcessGroup>> made = maker_->new_group(c.at("members").get<std::vector<Rank>>());
  if (!made.ok()) return made.error();
  groups_[c.at("as")] = std::move(*made);
  return store_barrier(backend().default_timeout());  // a group does not inherit its world's timeout
}

// Waits, unless the call is one to wait for later, and says what its output holds; `parts`: of a list of tensors.
Status Program::finish(const Json& c, const Result<WorkPtr>& started, const Buffer& output, Json& result, int parts) {
  if (!started.ok()) return started.error();
  if (c.contains("as") || c.value("do", "") == "isend") {
    works_[c.value("as", "")] = {*started, output};
    return {};
  }
  PDSIM_TRY((*started)->wait());
  if (output.memory == nullptr) return {};
  if (parts == 0) {
    result = output.hex();
    return {};
  }
  const std::string all = output.hex();
  const std::size_t each = all.size() / static_cast<std::size_t>(parts);
  result = Json::array();
  for (std::size_t i = 0; i < static_cast<std::size_t>(parts); ++i) result.push_back(all.substr(i * each, each));
  return {};
}

Status Program::rooted(const Json& c, ProcessGroup& group, Json& result) {
  const Buffer data = input(c);
  if (!group.is_member()) return finish(c, group.barrier(), data, result);
  const Result<Rank> root = group.group_rank(c.at("root"));
  if (!root.ok()) return root.error();
  if (c["do"] == "broadcast") return finish(c, group.broadcast(data.view(), *root), data, result);
  return finish(c, group.reduce(data.view(), data.view(), op(c), *root), data, result);
}

Status Program::gathering(const Json& c, ProcessGroup& group, Json& result) {
  const bool gather = c["do"] == "gather";
  const Buffer in = input(c, 1, !gather);
  const int size = group.size();
  std::int64_t room = c["do"] == "gather" ? 0 : count(c) * size;
  if (c.contains("outputs") && !c["outputs"].is_null()) {
    room = 0;
    for (const Json& shape : c["outputs"]) room += elements(shape);
  }
  const DType out_dtype = c.contains("out_dtype") ? dtype_named(c["out_dtype"].get<std::string>()).value() : dtype(c);
  const Buffer out = zeros(out_dtype, room);
  if (!gather)
    return finish(c, group.all_gather(in.view(), out.view()), out, result, c["do"] == "all_gather" ? size : 0);
  const Result<Rank> root = group.group_rank(c.at("root"));
  if (!root.ok()) return root.error();
  if (group.rank() != *root && room > 0) return absent("an output on a rank that is not the destination");
  const bool receives = group.rank() == *root;
  return finish(c, group.gather(in.view(), out.view(), *root), receives ? out : Buffer{}, result, receives ? size : 0);
}

Status Program::scattering(const Json& c, ProcessGroup& group, Json& result) {
  const std::string what = c["do"];
  const int size = group.size();
  if (what == "reduce_scatter_tensor") {
    const Buffer in = input(c), out = zeros(dtype(c), count(c) / size);
    return finish(c, group.reduce_scatter(in.view(), out.view(), op(c)), out, result);
  }
  const Buffer out = zeros(dtype(c), count(c));
  if (what == "reduce_scatter")
    return finish(c, group.reduce_scatter(input(c, size).view(), out.view(), op(c)), out, result);
  const Result<Rank> root = group.group_rank(c.at("root"));
  if (!root.ok()) return root.error();
  const bool list = c.contains("inputs") && !c["inputs"].is_null() && !c["inputs"].empty();
  if (group.rank() != *root && list) return absent("an input on a rank that is not the source");
  Buffer in = input(c, size);
  if (group.rank() == *root) {
    in.count = 0;
    if (list)
      for (const Json& shape : c["inputs"]) in.count += elements(shape);
    if (in.count > count(c) * size) in.memory->resize(static_cast<std::size_t>(in.count) * size_of(in.dtype));
  }
  return finish(c, group.scatter(in.view(), out.view(), *root), out, result);
}

Status Program::all_to_all(const Json& c, ProcessGroup& group, Json& result) {
  if (c["do"] == "all_to_all") {
    const Buffer in = input(c, group.size()), out = zeros(dtype(c), in.count);
    return finish(c, group.all_to_all(in.view(), out.view()), out, result, group.size());
  }
  const Buffer in = input(c);
  const Buffer out = zeros(dtype(c), c.contains("out_shape") ? elements(c["out_shape"]) : count(c));
  if (!c.contains("in_splits")) return finish(c, group.all_to_all(in.view(), out.view()), out, result);
  const std::vector<std::int64_t> sends = c["in_splits"], receives = c.value("out_splits", sends);
  return finish(c, group.all_to_all_v(in.view(), out.view(), sends, receives), out, result);
}

Status Program::message(const Json& c, ProcessGroup& group, Json& result) {
  const Tag tag = c.value("tag", Tag{0});
  if (!group.is_member()) {
    const Result<WorkPtr> nothing = group.barrier();
    return wait(nothing);
  }
  const Result<Rank> peer = group.group_rank(c.at("peer"));
  if (!peer.ok()) return peer.error();
  if (c["do"] != "recv") return finish(c, group.send(input(c).view(), *peer, tag), {}, result);
  const Buffer out = zeros(dtype(c), count(c));
  return finish(c, group.recv(out.view(), *peer, tag), out, result);
}

Status Program::wait_for(const Json& c, Json& result) {
  const auto found = works_.find(c.at("work"));
  if (found == works_.end()) return absent("a work whose start failed");
  if (c["do"] == "read") {
    result = found->second.output.hex();
    return {};
  }
  if (!c.contains("timeout_s")) return found->second.work->wait();
  return found->second.work->wait(env_.runtime.now() +
                                  Time{static_cast<std::int64_t>(c["timeout_s"].get<double>() * 1e12)});
}

Status Program::query(const Json& c, Json& result) {
  const Result<ProcessGroup*> group = group_of(c);
  if (!group.ok()) return group.error();
  if (c["do"] == "get_rank") result = (*group)->is_member() ? (*group)->rank() : -1;
  if (c["do"] == "get_world_size") result = (*group)->is_member() ? (*group)->size() : -1;
  if (c["do"] == "get_backend") result = std::string(backend().name());
  return {};
}

Status Program::collective(const Json& c, Json& result) {
  if (c.value("layout", "") == "sparse") return absent("sparse tensors");
  if (c.contains("object")) return absent("arguments without a type");
  const Result<ProcessGroup*> found = group_of(c);
  if (!found.ok()) return found.error();
  ProcessGroup& group = **found;
  const std::string what = c["do"];
  if (what == "barrier") return finish(c, group.barrier(), {}, result);
  if (what == "monitored_barrier")
    return group.monitored_barrier(env_.runtime,
                                   Time{static_cast<std::int64_t>(c.at("timeout_s").get<double>() * 1e12)},
                                   c.value("wait_all_ranks", false));
  if (what == "all_reduce") {
    const Buffer data = input(c);
    return finish(c, group.all_reduce(data.view(), op(c)), data, result);
  }
  using Method = Status (Program::*)(const Json&, ProcessGroup&, Json&);
  constexpr std::array<std::pair<std::string_view, Method>, 14> methods{
      {{"broadcast", &Program::rooted},
       {"reduce", &Program::rooted},
       {"all_gather", &Program::gathering},
       {"all_gather_into_tensor", &Program::gathering},
       {"gather", &Program::gathering},
       {"scatter", &Program::scattering},
       {"reduce_scatter", &Program::scattering},
       {"reduce_scatter_tensor", &Program::scattering},
       {"all_to_all", &Program::all_to_all},
       {"all_to_all_single", &Program::all_to_all},
       {"send", &Program::message},
       {"isend", &Program::message},
       {"recv", &Program::message},
       {"irecv", &Program::message}}};
  for (const auto& [name, method] : methods)
    if (name == what) return (this->*method)(c, group, result);
  return absent(what);
}

Status Program::run(const Json& c, Json& result) {
  const std::string what = c.at("do");
  env_.reach(-1, what);
  if (what == "init") return init(c);
  if (what == "new_group") return new_group(c);
  if (what == "wait" || what == "read") return wait_for(c, result);
  if (what == "raise") return Error{Code::program_raised, "bug in user code", {}};
  if (what == "is_initialized") {
    result = world_ != nullptr;
    return {};
  }
  if (what == "get_rank" || what == "get_world_size" || what == "get_backend") return query(c, result);
  if (what == "sleep") {
    env_.runtime.sleep_until(env_.runtime.now() + Time{static_cast<std::int64_t>(c.at("s").get<double>() * 1e12)});
    return {};
  }
  if (what == "destroy") {
    if (world_ == nullptr || destroyed_) return absent("a default process group");
    world_->destroy();
    destroyed_ = true;
    return {};
  }
  return collective(c, result);
}

}  // namespace

ProgramResult run_misuse(RankEnvironment& env, const MisuseSetting& setting, std::vector<MisuseCall>& done,
                         KeptBuffers& kept) {
  const Json recorded = Json::parse(setting.recorded);
  Program program(env, recorded, setting.profile, kept);
  for (const Json& call : recorded.at("programs").at(static_cast<std::size_t>(env.rank))) {
    if (call.at("do") == "exit") return {};
    MisuseCall over;
    Json result;
    over.status = program.run(call, result);
    if (!result.is_null()) over.result = result.dump();
    over.over = env.runtime.now();
    done.push_back(over);
    if (!over.status.ok() && !call.value("catch", false)) return {over.status, {}};
  }
  setting.stay();
  return {};
}

}  // namespace pdsim::oracle
