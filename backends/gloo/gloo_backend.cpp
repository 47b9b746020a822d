#include "backends/gloo/gloo_backend.h"

#include "backends/engine/wait_for_all.h"
#include "backends/gloo/errors.h"
#include "backends/gloo/gloo_communicator.h"
#include "backends/gloo/raw.h"
#include "backends/gloo/watched_context.h"
#include "backends/net/interfaces.h"

#include <fmt/format.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <net/if.h>
#include <string>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

// Behind every address that a rank publishes: how many ranks it expects, and which interfaces it was told to use.
constexpr std::string_view expects_mark = "\npdsim expects ";

// Gloo's rendezvous store over ours, under the group's name. It compares what the ranks were told before Gloo connects them: with
// different numbers of interfaces Gloo would wait forever, and with different world sizes it reads addresses that are too short.
class RendezvousStore final : public ::gloo::rendezvous::Store {
 public:
  RendezvousStore(pdsim::Store& store, const JoinOptions& options, const std::string& interfaces, GlooPeers& peers)
      : store_(store),
        prefix_(options.group + "/"),
        rank_(options.rank),
        members_(options.members()),
        interfaces_(interfaces),
        peers_(peers) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    std::string value(data.begin(), data.end());
    value.append(fmt::format("{}{} {}", expects_mark, members_.size(), interfaces_));
    must(store_.set(prefix_ + key, value));
  }
  std::vector<char> get(const std::string& key) override {
    if (const auto known = published_.find(key); known != published_.end()) return known->second;
    const Result<std::string> value = store_.get(prefix_ + key);
    must(value.status());
    const std::size_t end = std::min(value->rfind(expects_mark), value->size());
    if (is_address(key) && end < value->size()) {
      const std::string told = value->substr(end + expects_mark.size());
      const std::size_t space = std::min(told.find(' '), told.size());
      must(compare_size(key, told.substr(0, space)));
      must(compare_interfaces(key, told.substr(std::min(space + 1, told.size()))));
      peers_.add(members_[std::stoi(key)], std::string_view(*value).substr(0, end));
    }
    return {value->begin(), value->begin() + static_cast<std::ptrdiff_t>(end)};
  }
  void wait(const std::vector<std::string>& keys) override { wait_for(keys, store_.timeout()); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
    wait_for(keys, {timeout.count() * 1'000'000'000});
  }

 private:
  // Under a rank's number lies its address.
  static bool is_address(const std::string& key) { return key.find_first_not_of("0123456789") == std::string::npos; }

  // Reads the addresses of all ranks before Gloo connects to the first one: a rank that finds a bad address later would leave
  // the others in a connection that nobody accepts.
  void read_all_addresses(Time timeout) {
    for (Rank r = 0; r < members_.size(); ++r) {
      const std::string key = std::to_string(r);
      if (r == rank_ || published_.count(key) != 0) continue;
      const std::string keys[] = {prefix_ + key};
      must(store_.wait(keys, timeout));
      published_[key] = get(key);
    }
  }

  void wait_for(const std::vector<std::string>& keys, Time timeout) {
    if (keys.size() == 1 && is_address(keys.front())) return read_all_addresses(timeout);
    std::vector<std::string> ours;
    for (const std::string& key : keys) ours.push_back(prefix_ + key);
    must(store_.wait(ours, timeout));
  }
  Status compare_size(const std::string& key, const std::string& theirs) const {
    const std::string ours = std::to_string(members_.size());
    if (theirs == ours) return {};
    return Error{
        Code::invalid_argument,
        fmt::format("rank {} expects {} ranks and rank {} expects {}: the world size must be the same on every rank",
                    key, theirs, rank_, ours),
        {{"peer", key}, {"size", theirs}, {"own_size", ours}}};
  }
  Status compare_interfaces(const std::string& key, const std::string& others) const {
    const std::size_t theirs = names_in(others).size(), ours = names_in(interfaces_).size();
    if (theirs == ours) return {};
    return Error{
        Code::invalid_argument,
        fmt::format("rank {} of the group is to use {} network interface{} ({}), and rank {} {} ({}): Gloo connects "
                    "all ranks over each, so GLOO_SOCKET_IFNAME must name the same number on every rank",
                    key, theirs, theirs == 1 ? "" : "s", others, rank_, ours, interfaces_),
        {{"peer", key}, {"interfaces", others}, {"own_interfaces", interfaces_}}};
  }
  static void must(const Status& status) {
    if (!status.ok()) throw CarriedError(status.error());
  }

  pdsim::Store& store_;
  const std::string prefix_;
  const Rank rank_;
  const RankList members_;
  const std::string interfaces_;
  GlooPeers& peers_;
  std::map<std::string, std::vector<char>> published_;
};

// Gloo took the store by reference and takes a shared pointer since 2025.
template <class Context>
void connect(Context& context, const std::shared_ptr<RendezvousStore>& store,
             std::shared_ptr<::gloo::transport::Device>& device) {
  if constexpr (requires { context.connectFullMesh(store, device); })
    context.connectFullMesh(store, device);
  else
    context.connectFullMesh(*store, device);
}

class GlooBackend final : public Backend {
 public:
  GlooBackend(Runtime& runtime, std::shared_ptr<::gloo::transport::Device> device, std::string interfaces)
      : runtime_(runtime), device_(std::move(device)), interfaces_(std::move(interfaces)) {}
  std::string_view name() const override { return "gloo"; }
  Time default_timeout() const override { return 30_min; }

 private:
  Result<std::unique_ptr<Communicator>> join_group(pdsim::Store& store, const JoinOptions& options) override {
    GlooPeers peers;
    const auto context = connected(store, options, peers);
    if (!context.ok()) return peers.name_in(context.error());
    (*context)->watch();
    return std::unique_ptr<Communicator>(
        std::make_unique<GlooCommunicator>(runtime_, *context, std::move(peers), timeout_of(options)));
  }
  Result<std::unique_ptr<RawCaller>> join_raw_group(pdsim::Store& store, const JoinOptions& options) override {
    GlooPeers peers;
    const auto context = connected(store, options, peers);
    if (!context.ok()) return context.error();
    return make_gloo_raw_caller(*context);
  }
  Time timeout_of(const JoinOptions& options) const {
    return options.timeout > Time{} ? options.timeout : default_timeout();
  }
  Result<std::shared_ptr<WatchedContext>> connected(pdsim::Store& store, const JoinOptions& options, GlooPeers& peers) {
    const Time timeout = timeout_of(options);
    if (options.size == 2) peers.set_only(options.members()[1 - options.rank]);
    auto context = std::make_shared<WatchedContext>(options.rank, options.size);
    context->setTimeout(gloo_timeout(timeout.ps));
    Status status = guarded([&] {
      connect(*context, std::make_shared<RendezvousStore>(store, options, interfaces_, peers), device_);
      return Status{};
    });
    if (!status.ok()) return status.error();
    // A rank that is connected may end before the other end of a pair is, which then finds its connection closed.
    PDSIM_TRY(wait_for_all(store, options, "connected", timeout));
    return context;
  }

  Runtime& runtime_;
  std::shared_ptr<::gloo::transport::Device> device_;  // one thread, shared by all groups of this rank
  const std::string interfaces_;                       // their names, or the address
};

}  // namespace

GlooOptions GlooOptions::from_environment() {
  GlooOptions options;
  const char* interface = std::getenv("GLOO_SOCKET_IFNAME");
  const char* address = std::getenv("PDSIM_ADDRESS");
  if (interface != nullptr && *interface != '\0')
    options.interface = interface;
  else if (address != nullptr)
    options.address = address;
  return options;
}

Result<std::unique_ptr<Backend>> make_gloo_backend(Runtime& runtime, const GlooOptions& options) {
  const std::vector<std::string> names = names_in(options.interface);
  for (const std::string& name : names)
    if (options.address.empty() && if_nametoindex(name.c_str()) == 0)
      return no_such_interface("GLOO_SOCKET_IFNAME", name);
  if (options.address.empty() && names.empty()) return no_such_interface("GLOO_SOCKET_IFNAME", options.interface);
  std::shared_ptr<::gloo::transport::Device> device;
  Status made = guarded([&] {
    ::gloo::transport::tcp::attr attributes;
    if (options.address.empty())
      attributes.iface = names.front();
    else
      attributes.hostname = options.address;
    device = ::gloo::transport::tcp::CreateDevice(attributes);
    return Status{};
  });
  if (!made.ok()) return made.error();
  return std::unique_ptr<Backend>(std::make_unique<GlooBackend>(
      runtime, std::move(device), options.address.empty() ? options.interface : options.address));
}

}  // namespace pdsim
