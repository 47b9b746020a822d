#include "core/store/gloo_file_store.h"

#include "core/base/fingerprint.h"
#include "core/store/store_errors.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace pdsim {
namespace {

Error lacks(std::string_view call, std::string_view key) {
  return {Code::unsupported,
          fmt::format("Gloo's FileStore has no {}: it can set, get, check and wait", call),
          {{"key", std::string(key)}}};
}

}  // namespace

GlooFileStore::GlooFileStore(std::unique_ptr<Files> files, std::string folder)
    : files_(std::move(files)), folder_(std::move(folder)) {}

std::string GlooFileStore::place_of(std::string_view folder, std::string_view key) {
  Fingerprint hash;
  hash.add(key);
  return fmt::format("{}/{}", folder, hash.value());
}

Result<std::unique_ptr<LogFile>> GlooFileStore::file_of(std::string_view key) {
  return files_->open_log(place_of(folder_, key));
}

Status GlooFileStore::set(std::string_view key, std::string_view value) {
  const auto file = file_of(key);
  if (!file.ok()) return file.error();
  const std::string place = place_of(folder_, key);
  if (!(*file)->exists()) return files_->write_whole(place, value);
  return Error{Code::io_error,
               fmt::format("File already exists: {} (key `{}`)", place, shown(key, 80)),
               {{"path", folder_}, {"key", std::string(key)}, {"file", "exists"}}};
}

Result<std::string> GlooFileStore::get(std::string_view key) {
  const std::string wanted(key);
  PDSIM_TRY(wait({&wanted, 1}, timeout()));
  Result<std::string> value = files_->read_whole(place_of(folder_, key));
  if (!value.ok() || !value->empty()) return value;
  return Error{Code::store_corrupt,
               fmt::format("the file of key `{}` in `{}` is empty", shown(key, 80), folder_),
               {{"path", folder_}, {"key", wanted}}};
}

Result<std::vector<std::string>> GlooFileStore::missing(std::span<const std::string> keys) {
  std::vector<std::string> result;
  for (const std::string& key : keys) {
    const auto file = file_of(key);
    if (!file.ok()) return file.error();
    if (!(*file)->exists()) result.push_back(key);
  }
  return result;
}

Result<bool> GlooFileStore::check(std::span<const std::string> keys) {
  const auto lacking = missing(keys);
  if (!lacking.ok()) return lacking.error();
  return lacking->empty();
}

Status GlooFileStore::wait(std::span<const std::string> keys, Time timeout) {
  // A file's clock may begin when it is opened, so all are opened first.
  std::vector<std::pair<std::unique_ptr<LogFile>, Time>> files;
  for (const std::string& key : keys) {
    auto file = file_of(key);
    if (!file.ok()) return file.error();
    const Time deadline = end_of_polling((*file)->now(), timeout);
    files.emplace_back(std::move(*file), deadline);
  }
  for (const auto& [file, deadline] : files)
    while (!file->exists())
      if (!file->wait_for_change(deadline)) {
        const auto lacking = missing(keys);
        return lacking.ok() ? key_timeout(*lacking, timeout, {}) : lacking.error();
      }
  return {};
}

Result<std::int64_t> GlooFileStore::add(std::string_view key, std::int64_t) { return lacks("add", key); }

Result<std::string> GlooFileStore::compare_set(std::string_view key, std::string_view, std::string_view) {
  return lacks("compare_set", key);
}

Result<bool> GlooFileStore::delete_key(std::string_view key) { return lacks("delete_key", key); }

Result<std::int64_t> GlooFileStore::num_keys() { return lacks("num_keys", ""); }

Status GlooFileStore::append(std::string_view key, std::string_view) { return lacks("append", key); }

}  // namespace pdsim
