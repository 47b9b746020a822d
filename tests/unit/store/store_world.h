// What the one suite over all stores needs of each: handles onto the same keys.
#pragma once

#include "core/store/log_file.h"
#include "core/store/store.h"

#include <memory>
#include <ostream>
#include <string>
#include <string_view>

namespace pdsim::testing {

class StoreWorld {
 public:
  virtual ~StoreWorld() = default;
  virtual std::unique_ptr<Store> open() = 0;  // another handle, for another thread
  virtual bool for_threads() const { return true; }
  virtual std::int64_t own_keys() const { return 0; }  // that num_keys counts beside the user's
  virtual bool delete_tells() const { return true; }   // whether delete_key says if the key existed
};

struct StoreKind {
  friend void PrintTo(const StoreKind& kind, std::ostream* out) { *out << kind.name; }
  std::string_view name;
  std::unique_ptr<StoreWorld> (*make)();
};

std::unique_ptr<LogFile> real_log(std::string_view path);

// A folder of this test process's own that is gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  std::string path_;
};

}  // namespace pdsim::testing
