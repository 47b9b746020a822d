#include "core/store/file_store.h"

#include "core/store/store_errors.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

namespace pdsim {
namespace {
std::string normal(std::string_view key) { return fmt::format("/{}", key); }
}  // namespace

Result<std::unique_ptr<Store>> FileStore::open(std::unique_ptr<LogFile> log, FileStoreOptions options) {
  std::unique_ptr<FileStore> store(new FileStore(std::move(log), std::move(options)));
  if (store->options_.removal == FileRemoval::count_reached_and_unreferenced)
    if (auto references = store->add_raw(refcount_key, 1); !references) return references.error();
  return std::unique_ptr<Store>(std::move(store));
}

FileStore::FileStore(std::unique_ptr<LogFile> log, FileStoreOptions options)
    : log_(std::move(log)), options_(std::move(options)) {}

Status FileStore::set(std::string_view key, std::string_view value) {
  if (closed_) return file_error({Code::store_closed, "it was closed by this rank", {}});
  // As in c10d, what others wrote is neither read nor checked here.
  const std::string record = log_record(normal(key), value);
  if (Status s = log_->append(position_, [&](std::string_view) { return record; }); !s) return file_error(s.error());
  return {};
}

Result<std::string> FileStore::get(std::string_view key) {
  const std::string wanted(key);
  PDSIM_TRY(wait({&wanted, 1}, timeout()));
  return cache_.find(normal(key))->second;
}

Result<std::int64_t> FileStore::add(std::string_view key, std::int64_t delta) { return add_raw(normal(key), delta); }

Result<std::string> FileStore::compare_set(std::string_view key, std::string_view expected, std::string_view desired) {
  std::string result;
  PDSIM_TRY(update(normal(key), [&](const std::string* now) -> std::optional<std::string> {
    const bool swap = now ? *now == expected : expected.empty();
    result = swap ? desired : now ? *now : expected;
    return swap ? std::optional(result) : std::nullopt;
  }));
  return result;
}

Result<bool> FileStore::check(std::span<const std::string> keys) {
  PDSIM_TRY(read_new_records(keys));
  return missing(keys).empty();
}

Status FileStore::wait(std::span<const std::string> keys, Time timeout) {
  const Time deadline = give_up_at(timeout);
  while (true) {
    PDSIM_TRY(read_new_records(keys));
    if (missing(keys).empty()) return {};
    if (!log_->wait_for_change(deadline)) return timed_out(keys, timeout);
  }
}

Result<bool> FileStore::delete_key(std::string_view key) {
  if (closed_) return file_error({Code::store_closed, "it was closed by this rank", {}});
  const std::string record = log_record("-" + normal(key), "");
  if (Status s = log_->append(position_, [&](std::string_view) { return record; }); !s) return file_error(s.error());
  return true;
}

Result<std::int64_t> FileStore::num_keys() {
  PDSIM_TRY(read_new_records({}));
  return static_cast<std::int64_t>(cache_.size());
}

Status FileStore::append(std::string_view key, std::string_view value) {
  return update(normal(key),
                [&](const std::string* now) { return std::optional((now ? *now : "") + std::string(value)); });
}

Status FileStore::close() {
  if (closed_) return {};
  if (!log_->exists()) return closed_ = true, Status{};
  const auto count = add_raw(cleanup_key, 1);
  bool remove = count.ok() && options_.workers >= 0 && *count == options_.workers;
  if (count.ok() && options_.removal == FileRemoval::count_reached_and_unreferenced) {
    const auto references = add_raw(refcount_key, -1);
    // Others may have counted since ours: the last to let go goes by what it sees, or the file outlives a clean end.
    remove = references.ok() && *references == 0 && options_.workers >= 0 && times_closed() >= options_.workers;
  }
  closed_ = true;
  if (!count) return count.error();
  return remove ? log_->remove() : Status{};
}

Time FileStore::give_up_at(Time timeout) const { return end_of_polling(log_->now(), timeout); }

Status FileStore::read_new_records(std::span<const std::string> wanted) {
  if (closed_) return file_error({Code::store_closed, "it was closed by this rank", {}});
  const auto tail = log_->read_from(position_, give_up_at(timeout()));
  if (tail) return absorb(*tail);
  if (tail.error().code != Code::store_timeout) return file_error(tail.error());
  Error error = key_timeout(wanted, timeout(), {});
  error.message = fmt::format("the store file `{}` did not exist within {}", options_.path, to_string(timeout()));
  if (!wanted.empty()) error.message += fmt::format(" (wanted key `{}`)", shown(wanted.front(), 80));
  return file_error(std::move(error));
}

Status FileStore::absorb(std::string_view tail) {
  if (Status s = apply_records(tail, position_, cache_); !s) return file_error(s.error());
  position_ += static_cast<std::int64_t>(tail.size());
  return {};
}

Error FileStore::file_error(Error error) const {
  if (error.message.find(options_.path) == std::string::npos)
    error.message = fmt::format("store file `{}`: {}", options_.path, error.message);
  error.facts.push_back({"path", options_.path});
  return error;
}

Error FileStore::timed_out(std::span<const std::string> keys, Time timeout) {
  Error error = file_error(key_timeout(missing(keys), timeout, present()));
  const auto whole = log_->read_from(0, log_->now());
  if (whole && static_cast<std::int64_t>(whole->size()) < position_) {
    error.message += fmt::format(
        "; the file has {} bytes although this rank had read {}: it was removed and created again, or "
        "cut, while in use",
        whole->size(), position_);
    error.facts.push_back({"file", "replaced"});
  }
  return error;
}

std::vector<std::string> FileStore::missing(std::span<const std::string> keys) const {
  std::vector<std::string> absent;
  for (const std::string& key : keys)
    if (cache_.find(normal(key)) == cache_.end()) absent.push_back(key);
  return absent;
}

std::vector<std::string> FileStore::present() const {
  std::vector<std::string> keys;
  for (const auto& entry : cache_)
    if (entry.first.starts_with('/')) keys.push_back(entry.first.substr(1));
  return keys;
}

Result<std::int64_t> FileStore::add_raw(std::string_view raw_key, std::int64_t delta) {
  Result<std::int64_t> sum = std::int64_t{0};
  PDSIM_TRY(update(raw_key, [&](const std::string* now) -> std::optional<std::string> {
    sum = add_to_decimal(raw_key.substr(raw_key.starts_with('/') ? 1 : 0), now ? *now : "", delta);
    return sum ? std::optional(std::to_string(*sum)) : std::nullopt;
  }));
  return sum;
}

std::int64_t FileStore::times_closed() const {
  const auto count = cache_.find(cleanup_key);
  if (count == cache_.end()) return 0;
  const auto number = add_to_decimal(cleanup_key, count->second, 0);
  return number ? *number : 0;
}

template <class ValueOf>
Status FileStore::update(std::string_view raw_key, ValueOf value_of) {
  if (closed_) return file_error({Code::store_closed, "it was closed by this rank", {}});
  Status absorbed;
  const Status appended = log_->append(position_, [&](std::string_view tail) {
    absorbed = absorb(tail);
    if (!absorbed) return std::string();
    const auto old = cache_.find(raw_key);
    const std::optional<std::string> value = value_of(old == cache_.end() ? nullptr : &old->second);
    return value ? log_record(raw_key, *value) : std::string();
  });
  if (!appended) return file_error(appended.error());
  return absorbed;
}

}  // namespace pdsim
