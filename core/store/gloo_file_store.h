// GlooFileStore: Gloo's own FileStore, a folder with one file per key. It offers less than c10d's, and fails loudly where that
// one continues with the leftovers of an earlier run.
//
//   set       once per key: io_error "File already exists" where the file exists, whichever rank wrote it, in whichever run
//   get       waits for the file; store_corrupt where it is empty, which Gloo's cannot distinguish from one that is being written
//   wait      polls every 10 ms; elapsed time is cut to whole seconds before it is compared, so 3 s end at 4 s
//   close     removes nothing: even after a clean end, the next run needs another folder
//   the rest  (add, compare_set, delete_key, num_keys, append) is unsupported
//   files     named by a hash of the key; the folder must exist where the world's files have folders
//   threads   one thread per handle
//   source    Gloo gloo/rendezvous/file_store.cc; tests/unit/backends compares with it
#pragma once

#include "core/store/log_file.h"
#include "core/store/store.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim {

class GlooFileStore final : public Store {
 public:
  GlooFileStore(std::unique_ptr<Files> files, std::string folder);

  // The path of `key`.
  static std::string place_of(std::string_view folder, std::string_view key);

  Status set(std::string_view key, std::string_view value) override;
  Result<std::string> get(std::string_view key) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override;
  Result<std::string> compare_set(std::string_view key, std::string_view expected, std::string_view desired) override;
  Result<bool> check(std::span<const std::string> keys) override;
  Status wait(std::span<const std::string> keys, Time timeout) override;
  Result<bool> delete_key(std::string_view key) override;
  Result<std::int64_t> num_keys() override;
  Status append(std::string_view key, std::string_view value) override;

 private:
  Result<std::unique_ptr<LogFile>> file_of(std::string_view key);
  Result<std::vector<std::string>> missing(std::span<const std::string> keys);

  std::unique_ptr<Files> files_;
  std::string folder_;
};

}  // namespace pdsim
