#include "backends/os/machine_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>

namespace pdsim {
namespace {

namespace fs = std::filesystem;

// The first number of a file; nothing for "max" or when the file is missing.
std::optional<std::int64_t> number_in(const fs::path& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

// The number after `key` at the beginning of a line.
std::optional<std::int64_t> number_after(const fs::path& path, std::string_view key) {
  std::ifstream file(path);
  for (std::string word, line; file >> word; std::getline(file, line)) {
    std::int64_t value = 0;
    if (word == key && file >> value) return value;
  }
  return std::nullopt;
}

struct CgroupFiles {
  std::string_view controller, folder, most, used, reclaimable;
};
constexpr std::array hierarchies{
    CgroupFiles{"", "", "memory.max", "memory.current", "inactive_file"},
    CgroupFiles{"memory", "memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
};

bool lists(std::string_view controllers, std::string_view one) {
  if (one.empty()) return controllers.empty();
  while (!controllers.empty()) {
    const std::size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == one) return true;
    controllers.remove_prefix(comma == std::string_view::npos ? controllers.size() : comma + 1);
  }
  return false;
}

// Where the process is in a hierarchy: lines are "4:memory:/a/b", and "0::/a/b" for version 2.
std::optional<std::string> cgroup_of(const std::string& proc, std::string_view controller) {
  std::ifstream file(fs::path(proc) / "self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    if (lists(std::string_view(line).substr(first + 1, second - first - 1), controller)) return line.substr(second + 1);
  }
  return std::nullopt;
}

// Every cgroup around the process has a limit of its own. In a container the path may be the host's: what is not there is passed over.
std::optional<std::int64_t> left_by(const MemorySources& sources, const CgroupFiles& files) {
  const std::optional<std::string> path = cgroup_of(sources.proc, files.controller);
  if (!path) return std::nullopt;
  const fs::path root = fs::path(sources.cgroups) / files.folder;
  std::optional<std::int64_t> least;
  for (fs::path below = fs::path(*path).relative_path();; below = below.parent_path()) {
    const fs::path at = root / below;
    const std::optional<std::int64_t> most = number_in(at / files.most), used = number_in(at / files.used);
    if (most && used) {
      const std::int64_t cached = number_after(at / "memory.stat", files.reclaimable).value_or(0);
      const std::int64_t left = std::max<std::int64_t>(*most - *used + std::min(cached, *used), 0);
      least = std::min(least.value_or(left), left);
    }
    if (below.empty()) return least;
  }
}

std::string_view source_of_bound(MemoryBound bound) {
  switch (bound) {
    case MemoryBound::address_space:
      return "the limit of its address space (ulimit -v) leaves";
    case MemoryBound::cgroup:
      return "the memory limit of its cgroup leaves";
    case MemoryBound::machine:
      break;
  }
  return "this machine has";
}

}  // namespace

void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  mallopt(M_TOP_PAD, 64 << 20);
#endif
}

std::optional<MemoryLeft> address_space_left(const MemorySources& sources) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const std::int64_t mapped = number_in(fs::path(sources.proc) / "self/statm").value_or(0) * sysconf(_SC_PAGESIZE);
  const auto most = static_cast<std::int64_t>(std::min<rlim_t>(limit.rlim_cur, rlim_t{1} << 62));
  return MemoryLeft{Bytes{std::max<std::int64_t>(most - mapped, 0)}, MemoryBound::address_space};
}

std::optional<MemoryLeft> memory_left(const MemorySources& sources) {
  std::optional<MemoryLeft> least;
  const auto bound = [&least](std::optional<std::int64_t> bytes, MemoryBound what) {
    if (bytes && (!least || *bytes < least->left.count)) least = MemoryLeft{Bytes{*bytes}, what};
  };
  const auto available = number_after(fs::path(sources.proc) / "meminfo", "MemAvailable:");
  if (available) bound(*available * 1024, MemoryBound::machine);
  for (const CgroupFiles& files : hierarchies) bound(left_by(sources, files), MemoryBound::cgroup);
  return least;
}

Status fits_in_memory(const std::string& what, Bytes address_space, Bytes memory, const MemorySources& sources) {
  const auto check = [&what](Bytes need, const std::optional<MemoryLeft>& have, std::string_view of) -> Status {
    if (!have || need <= have->left) return {};
    return Error{Code::internal,
                 fmt::format("out of memory: {} need at least {} of {}, and {} {}", what, to_string(need), of,
                             source_of_bound(have->bound), to_string(have->left)),
                 {}};
  };
  PDSIM_TRY(check(address_space, address_space_left(sources), "address space"));
  return check(memory, memory_left(sources), "memory");
}

}  // namespace pdsim
