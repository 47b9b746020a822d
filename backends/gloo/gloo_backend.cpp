#include "backends/gloo/gloo_backend.h"

#include "backends/gloo/errors.h"
#include "backends/gloo/gloo_member.h"
#include "backends/gloo/raw.h"
#include "backends/local/wait_for_all.h"

#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>

#include <cstdlib>
#include <memory>
#include <net/if.h>
#include <string>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

// Gloo's rendezvous store over ours, under the group's name.
class RendezvousStore final : public ::gloo::rendezvous::Store {
 public:
  RendezvousStore(pdsim::Store& store, const std::string& group) : store_(store), prefix_(group + "/") {}

  void set(const std::string& key, const std::vector<char>& data) override {
    must(store_.set(prefix_ + key, std::string_view(data.data(), data.size())));
  }
  std::vector<char> get(const std::string& key) override {
    const Result<std::string> value = store_.get(prefix_ + key);
    must(value.status());
    return {value->begin(), value->end()};
  }
  void wait(const std::vector<std::string>& keys) override { wait_for(keys, store_.timeout()); }
  void wait(const std::vector<std::string>& keys, const std::chrono::milliseconds& timeout) override {
    wait_for(keys, {timeout.count() * 1'000'000'000});
  }

 private:
  void wait_for(const std::vector<std::string>& keys, Time timeout) {
    std::vector<std::string> ours;
    for (const std::string& key : keys) ours.push_back(prefix_ + key);
    must(store_.wait(ours, timeout));
  }
  static void must(const Status& status) {
    if (!status.ok()) throw CarriedError(status.error());
  }

  pdsim::Store& store_;
  const std::string prefix_;
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
  GlooBackend(Runtime& runtime, std::shared_ptr<::gloo::transport::Device> device)
      : runtime_(runtime), device_(std::move(device)) {}
  std::string_view name() const override { return "gloo"; }
  Time default_timeout() const override { return 30_min; }

  Result<std::unique_ptr<Member>> join(pdsim::Store& store, const JoinOptions& options) override {
    const auto context = connected(store, options);
    if (!context.ok()) return context.error();
    return std::unique_ptr<Member>(std::make_unique<GlooMember>(runtime_, *context, timeout_of(options)));
  }
  Result<std::unique_ptr<RawCaller>> join_raw(pdsim::Store& store, const JoinOptions& options) override {
    const auto context = connected(store, options);
    if (!context.ok()) return context.error();
    return make_gloo_raw_caller(*context);
  }

 private:
  Time timeout_of(const JoinOptions& options) const {
    return options.timeout > Time{} ? options.timeout : default_timeout();
  }
  Result<std::shared_ptr<::gloo::Context>> connected(pdsim::Store& store, const JoinOptions& options) {
    const Time timeout = timeout_of(options);
    auto context = std::make_shared<::gloo::rendezvous::Context>(options.rank, options.size);
    context->setTimeout(gloo_timeout(timeout.ps));
    Status status = guarded([&] {
      connect(*context, std::make_shared<RendezvousStore>(store, options.group), device_);
      return Status{};
    });
    if (!status.ok()) return status.error();
    // A rank that is connected may end before the other end of a pair is, which then finds its connection closed.
    PDSIM_TRY(wait_for_all(store, options, "connected", timeout));
    return std::shared_ptr<::gloo::Context>(std::move(context));
  }

  Runtime& runtime_;
  std::shared_ptr<::gloo::transport::Device> device_;  // one thread, shared by all groups of this rank
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
  if (options.address.empty() && if_nametoindex(options.interface.c_str()) == 0)
    return Error{Code::unavailable,
                 "this machine has no network interface `" + options.interface + "`; is GLOO_SOCKET_IFNAME right?",
                 {}};
  std::shared_ptr<::gloo::transport::Device> device;
  Status made = guarded([&] {
    ::gloo::transport::tcp::attr attributes;
    if (options.address.empty())
      attributes.iface = options.interface;
    else
      attributes.hostname = options.address;
    device = ::gloo::transport::tcp::CreateDevice(attributes);
    return Status{};
  });
  if (!made.ok()) return made.error();
  return std::unique_ptr<Backend>(std::make_unique<GlooBackend>(runtime, std::move(device)));
}

}  // namespace pdsim
