// FileStore: a store in one append-only file that all ranks can open, with c10d's semantics and its traps.
//
//   reuse      records of an earlier run are indistinguishable from new ones; the newest record at reading time wins
//   waiting    polls the file; elapsed time is cut to whole seconds before it is compared, so a 12 s timeout ends at 13 s.
//              While the file does not exist, every reading call waits for it, up to timeout()
//   close      adds 1 to the "cleanup/" counter, if the file exists; the handle that completes the count removes the file,
//              under ranks that still use it. A killed process never counts. In 2.6 the last handle to let go removes it
//              the rank that counted last; c10d compares with the count of its own closing call and leaves the file when two
//              handles close at once
//   num_keys   counts the store's own counters too; delete_key always says true
//   threads    one thread per handle; each further handle counts in close like a further rank
//   source     PyTorch torch/csrc/distributed/c10d/FileStore.cpp (1.13 and 2.6)
#pragma once

#include "core/store/log_file.h"
#include "core/store/log_records.h"
#include "core/store/store.h"

#include <memory>
#include <string>
#include <vector>

namespace pdsim {

// When close() removes the file: 1.13 looks only at the count, 2.6 also counts open handles.
enum class FileRemoval : std::uint8_t { count_equals_workers, count_reached_and_unreferenced };

struct FileStoreOptions {
  std::string path;  // for messages
  int workers = -1;  // handles that must close before the file is removed; negative: never remove it
  FileRemoval removal = FileRemoval::count_reached_and_unreferenced;
};

class FileStore final : public Store {
 public:
  // io_error when the file cannot be written (2.6 counts the new handle in it at once).
  static Result<std::unique_ptr<Store>> open(std::unique_ptr<LogFile> log, FileStoreOptions options);

  Status set(std::string_view key, std::string_view value) override;
  Result<std::string> get(std::string_view key) override;
  Result<std::int64_t> add(std::string_view key, std::int64_t delta) override;
  Result<std::string> compare_set(std::string_view key, std::string_view expected, std::string_view desired) override;
  Result<bool> check(std::span<const std::string> keys) override;
  Status wait(std::span<const std::string> keys, Time timeout) override;
  Result<bool> delete_key(std::string_view key) override;
  Result<std::int64_t> num_keys() override;
  Status append(std::string_view key, std::string_view value) override;
  Status close() override;

 private:
  FileStore(std::unique_ptr<LogFile> log, FileStoreOptions options);
  Time give_up_at(Time timeout) const;
  Status read_new_records(std::span<const std::string> wanted);
  Status absorb(std::string_view tail);
  Error file_error(Error error) const;
  Error timed_out(std::span<const std::string> keys, Time timeout);
  std::vector<std::string> missing(std::span<const std::string> keys) const;
  std::vector<std::string> present() const;
  std::int64_t times_closed() const;  // by all handles, as far as this one has read
  Result<std::int64_t> add_raw(std::string_view raw_key, std::int64_t delta);
  // Reads the new records and appends one, atomically for all other handles. `value_of` sees the current value (null: none) and
  // returns the new one, or nullopt to append nothing.
  template <class ValueOf>
  Status update(std::string_view raw_key, ValueOf value_of);

  std::unique_ptr<LogFile> log_;
  FileStoreOptions options_;
  KeyValues cache_;            // by raw key, with its prefix
  std::int64_t position_ = 0;  // bytes of the file that are in cache_
  bool closed_ = false;
};

}  // namespace pdsim
