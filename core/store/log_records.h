// The records of a FileStore's file: (length, key, length, value), lengths of 32 bits, little-endian.
//
//   keys    "/k" a normal key k, "-/k" its deletion, "cleanup/" and "refcount/" the store's own counters
//   source  c10d's FileStore, so that each can read the other's files
#pragma once

#include "core/base/result.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace pdsim {

using KeyValues = std::map<std::string, std::string, std::less<>>;

constexpr std::string_view cleanup_key = "cleanup/";
constexpr std::string_view refcount_key = "refcount/";

std::string log_record(std::string_view key, std::string_view value);

// Applies the records in `bytes`, which begin at `offset` of the file; the newest record of a key wins. store_corrupt, with the
// bytes found and their place, for anything that is not a record; the records before it have been applied then.
Status apply_records(std::string_view bytes, std::int64_t offset, KeyValues& into);

}  // namespace pdsim
