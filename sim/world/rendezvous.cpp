#include "sim/world/rendezvous.h"

#include "core/record/recorded_store.h"
#include "core/store/file_store.h"
#include "core/store/gloo_file_store.h"

#include <charconv>

namespace pdsim::sim {
namespace {

// Addresses name the launch of their process; nothing else that ranks put into a store does.
int launch_of(std::string_view value) {
  constexpr std::string_view prefix = "sim://launch-";
  int launch = 0;
  if (value.substr(0, prefix.size()) == prefix)
    std::from_chars(value.data() + prefix.size(), value.data() + value.size(), launch);
  return launch;
}

}  // namespace

std::unique_ptr<Store> SimRendezvous::recorded(std::unique_ptr<Store> store, Time timeout) {
  if (timeout != Time::max()) store->set_timeout(timeout);  // else the store's own five minutes
  return recorded_store(std::move(store), *world_.slot(rank_).recorder, world_.launch(),
                        [](std::string_view, std::string_view value) { return launch_of(value); });
}

Result<std::unique_ptr<Store>> SimRendezvous::tcp(std::string_view, Time timeout) { return env(timeout); }

Result<std::unique_ptr<Store>> SimRendezvous::env(Time timeout) {
  return recorded(std::make_unique<HashStore>(world_.table(), *world_.slot(rank_).runtime), timeout);
}

Result<std::unique_ptr<Store>> SimRendezvous::file(std::string_view path, Time timeout) {
  SimFiles files(world_.disk(), *world_.slot(rank_).runtime);
  auto log = files.open_log(path);
  if (!log.ok()) return log.error();
  FileStoreOptions options;
  options.path = std::string(path);
  options.workers = world_.spec().ranks();
  options.removal = world_.profile().file_removed_at_equal_count ? FileRemoval::count_equals_workers
                                                               : FileRemoval::count_reached_and_unreferenced;
  auto store = FileStore::open(std::move(*log), std::move(options));
  if (!store.ok()) return store.error();
  return recorded(std::move(*store), timeout);
}

Result<std::unique_ptr<Store>> SimRendezvous::folder(std::string_view path, Time timeout) {
  auto files = std::make_unique<SimFiles>(world_.disk(), *world_.slot(rank_).runtime);
  return recorded(std::make_unique<GlooFileStore>(std::move(files), std::string(path)), timeout);
}

}  // namespace pdsim::sim
