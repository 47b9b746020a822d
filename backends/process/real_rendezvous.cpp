#include "backends/process/real_rendezvous.h"

#include "core/record/recorded_store.h"
#include "core/store/file_store.h"
#include "core/store/gloo_file_store.h"
#include "core/store/log_records.h"

#include <algorithm>
#include <string>
#include <utility>

namespace pdsim {
namespace {

// Which launch wrote what a rank reads from a store file. Records of earlier launches are the file's beginning; they look
// exactly like new ones, so only their place tells.
int written_in(FilesBelow& files, const std::string& path, int launch, std::string_view key, std::string_view value) {
  const std::int64_t old_size = files.size_before_launch(path);
  const Result<std::string> bytes = files.read_whole(path);
  if (old_size == 0 || !bytes.ok()) return launch;
  const auto cut = std::min(static_cast<std::size_t>(old_size), bytes->size());
  KeyValues before, since;
  (void)apply_records(std::string_view(*bytes).substr(0, cut), 0, before);
  (void)apply_records(std::string_view(*bytes).substr(cut), old_size, since);
  const std::string raw = "/" + std::string(key);
  const auto old_value = before.find(raw);
  const auto new_value = since.find(raw);
  const bool is_old = old_value != before.end() && old_value->second == value;
  const bool is_new = new_value != since.end() && new_value->second == value;
  return is_old && !is_new ? launch - 1 : launch;
}

}  // namespace

Result<std::unique_ptr<Store>> RealRendezvous::file(std::string_view path, Time timeout) {
  Result<std::unique_ptr<LogFile>> log = files_.open_log(path);
  if (!log.ok()) return log.error();
  const std::string name(path);
  auto store = FileStore::open(std::move(*log), {name, options_.world_size});
  if (!store.ok()) return store.error();
  (*store)->set_timeout(timeout);
  return recorded_store(
      std::move(*store), recorder_, options_.launch,
      [&files = files_, name, launch = options_.launch](std::string_view key, std::string_view value) {
        return written_in(files, name, launch, key, value);
      });
}

Result<std::unique_ptr<Store>> RealRendezvous::folder(std::string_view path, Time timeout) {
  std::string name(path);
  auto store = std::make_unique<GlooFileStore>(std::make_unique<FilesBelow>(files_), name);
  store->set_timeout(timeout);
  // Nothing is written twice, so what lay there before this launch is of an earlier one.
  return recorded_store(
      std::move(store), recorder_, options_.launch,
      [&files = files_, name = std::move(name), launch = options_.launch](std::string_view key, std::string_view) {
        const bool is_old = files.size_before_launch(GlooFileStore::place_of(name, key)) > 0;
        return is_old ? launch - 1 : launch;
      });
}

Result<std::unique_ptr<Store>> RealRendezvous::tcp(std::string_view, Time timeout) { return world_store(timeout); }

Result<std::unique_ptr<Store>> RealRendezvous::env(Time timeout) { return world_store(timeout); }

Result<std::unique_ptr<Store>> RealRendezvous::world_store(Time timeout) {
  if (options_.listener >= 0) {
    Result<std::shared_ptr<TcpServer>> server =
        TcpServer::adopt(std::exchange(options_.listener, -1), {options_.secret, {}, {}});
    if (!server.ok()) return server.error();
    server_ = std::move(*server);
  }
  TcpStoreOptions tcp;
  tcp.host = options_.host;
  tcp.port = options_.port;
  tcp.serve = server_ != nullptr;
  tcp.server = server_;
  tcp.world_size = options_.world_size;
  tcp.timeout = timeout;
  tcp.secret = options_.secret;
  Result<std::unique_ptr<TcpStore>> store = TcpStore::open(tcp);
  if (!store.ok()) return store.error();
  // Its server began with this launch, so it holds nothing older.
  return recorded_store(std::move(*store), recorder_, options_.launch,
                        [launch = options_.launch](std::string_view, std::string_view) { return launch; });
}

}  // namespace pdsim
