#include "scenarios/guests/real/record_file.h"

#include "backends/os/shared_memory.h"
#include "core/base/printable.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

using RecordJson = nlohmann::json;

constexpr std::string_view record_magic = "pdsimrec";
constexpr std::uint32_t known_version = 1;
constexpr std::uint32_t wrapped = 0xffffffffU;
constexpr std::size_t fixed_head = 76;

template <class T>
T number_in(std::span<const std::byte> file, std::size_t at) {
  T value{};
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

struct RecordHead {
  std::uint32_t version = 0, head = 0;
  std::uint64_t kept_size = 0, ring_size = 0;
  std::uint64_t kept = 0, end = 0, begin = 0, frames = 0, alive = 0;
  std::uint32_t about = 0;
};

std::optional<RecordHead> head_in(std::span<const std::byte> file) {
  if (file.size() < fixed_head || std::memcmp(file.data(), record_magic.data(), record_magic.size()) != 0)
    return std::nullopt;
  RecordHead head;
  head.version = number_in<std::uint32_t>(file, 8);
  head.head = number_in<std::uint32_t>(file, 12);
  head.kept_size = number_in<std::uint64_t>(file, 16);
  head.ring_size = number_in<std::uint64_t>(file, 24);
  head.kept = number_in<std::uint64_t>(file, 32);
  head.end = number_in<std::uint64_t>(file, 40);
  head.begin = number_in<std::uint64_t>(file, 48);
  head.frames = number_in<std::uint64_t>(file, 56);
  head.alive = number_in<std::uint64_t>(file, 64);
  head.about = number_in<std::uint32_t>(file, 72);
  return head;
}

std::string size_problem(const RecordHead& head, std::size_t size) {
  if (head.version != known_version)
    return fmt::format("it has version {}, but this pdsim reads version {}", head.version, known_version);
  const bool fits = head.head >= fixed_head && head.head <= size && head.kept_size <= size - head.head &&
                    head.ring_size > 0 && head.ring_size <= size - head.head - head.kept_size;
  if (!fits) return "it is truncated";
  if (head.kept > head.kept_size || head.begin > head.end || head.end - head.begin > head.ring_size ||
      head.about > head.head - fixed_head)
    return "its head is damaged";
  return {};
}

// Frames to requests.
class RecordFrames {
 public:
  explicit RecordFrames(RecordedProcess& process) : process_(process) {}

  void take(std::span<const std::byte> frame) {
    const std::string_view text(reinterpret_cast<const char*>(frame.data()), frame.size());
    if (is_nested_too_deep(text)) return process_.left_out.add("a frame that is nested too deep");
    try {
      take(RecordJson::parse(text));
    } catch (const RecordJson::exception&) {
      process_.left_out.add("an incomplete frame");
    }
  }

 private:
  void take(RecordJson json) {
    if (!json.is_object() || !is_whole(json, "n") || !is_whole(json, "at") || !is_whole(json, "site"))
      return process_.left_out.add("a frame without its numbers");
    const auto number = json.at("n").get<std::int64_t>();
    if (json.at("op") == "Site") {
      if (!is_whole(json, "number") || !is_whole(json, "column"))
        return process_.left_out.add("a frame without its numbers");
      sites_[json.at("number").get<std::int64_t>()] = {std::move(json.at("frames")), json.value("column", 1)};
      return;
    }
    if (const auto site = json.find("site"); site != json.end()) {
      const auto known = sites_.find(site->get<std::int64_t>());
      if (known != sites_.end()) {
        json["frames"] = known->second.first;
        json["column"] = known->second.second;
      }
    }
    Result<Request> request = request_of(json.dump(), {});
    if (request.ok())
      process_.requests.push_back({json.value("at", std::int64_t{0}), number, std::move(*request)});
    else
      process_.left_out.add(printable(request.error().message));
  }

  // Or absent.
  static bool is_whole(const RecordJson& json, const char* key) {
    const auto found = json.find(key);
    return found == json.end() || found->is_number_integer();
  }

  RecordedProcess& process_;
  std::map<std::int64_t, std::pair<RecordJson, int>> sites_;
};

void take_kept(std::span<const std::byte> kept, RecordFrames& frames, LeftOut& left_out) {
  for (std::size_t at = 0; at + 4 <= kept.size();) {
    const auto length = number_in<std::uint32_t>(kept, at);
    if (length > kept.size() - at - 4) return left_out.add("the rest of the kept calls: they are damaged");
    frames.take(kept.subspan(at + 4, length));
    at += 4 + std::size_t{length};
  }
}

void take_ring(std::span<const std::byte> ring, const RecordHead& head, RecordFrames& frames, LeftOut& left_out) {
  for (std::uint64_t position = head.begin; position < head.end;) {
    const auto at = static_cast<std::size_t>(position % head.ring_size);
    const std::size_t rest = ring.size() - at;
    const auto length = rest < 4 ? wrapped : number_in<std::uint32_t>(ring, at);
    if (length == wrapped) {
      position += rest;
      continue;
    }
    if (length > rest - 4) return left_out.add("the rest of the ring: it is damaged");
    frames.take(ring.subspan(at + 4, length));
    position += 4 + std::uint64_t{length};
  }
}

void take_about(std::string_view text, RecordedProcess& process) {
  const RecordJson about = RecordJson::parse(text, nullptr, false);
  if (!about.is_object()) return process.left_out.add("the process's description of itself");
  const auto words = [&](const char* key) {
    const auto found = about.find(key);
    return found != about.end() && found->is_string() ? printable(found->get<std::string>()) : std::string();
  };
  const auto number = [&](const char* key, std::int64_t otherwise) {
    const auto found = about.find(key);
    return found != about.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
  };
  process.host = words("host");
  process.boot = words("boot");
  process.backend = words("backend");
  process.version = words("version");
  process.pid = number("pid", 0);
  process.rank = number("rank", -1);
  process.size = number("size", -1);
  process.began_ns = number("began", 0);
}

}  // namespace

bool is_record_name(const std::string& name) { return name.starts_with("pdsim_") && name.ends_with(".record"); }

std::uint64_t record_progress(std::span<const std::byte> file) {
  const auto head = head_in(file);
  return head ? head->frames : 0;
}

Result<RecordedProcess> read_record(std::span<const std::byte> file) {
  const auto first = head_in(file);
  if (!first) return Error{Code::input_invalid, "it is not a record of a rank", {}};
  if (const std::string problem = size_problem(*first, file.size()); !problem.empty())
    return Error{Code::input_invalid, problem, {}};
  const std::vector<std::byte> copy(file.begin(), file.end());
  // Records given up during this copy may be half overwritten in it.
  RecordHead head = *first;
  if (const auto later = head_in(file)) head.begin = std::clamp(later->begin, head.begin, head.end);
  RecordedProcess process;
  process.alive_ns = static_cast<std::int64_t>(head.alive);
  const std::span<const std::byte> whole(copy);
  take_about({reinterpret_cast<const char*>(copy.data()) + fixed_head, head.about}, process);
  RecordFrames frames(process);
  const auto kept = static_cast<std::size_t>(head.kept), kept_size = static_cast<std::size_t>(head.kept_size);
  take_kept(whole.subspan(head.head, kept), frames, process.left_out);
  take_ring(whole.subspan(head.head + kept_size, static_cast<std::size_t>(head.ring_size)), head, frames,
            process.left_out);
  std::stable_sort(process.requests.begin(), process.requests.end(),
                   [](const RecordedRequest& a, const RecordedRequest& b) { return a.number < b.number; });
  if (head.begin > 0) {
    const auto oldest = std::find_if(process.requests.begin(), process.requests.end(), [](const RecordedRequest& r) {
      return r.request.kind == Request::Kind::start || r.request.kind == Request::Kind::enter ||
             r.request.kind == Request::Kind::done || r.request.kind == Request::Kind::leave;
    });
    process.dropped = oldest == process.requests.end() ? 0 : oldest->number;
  }
  return process;
}

Result<RecordedProcess> read_record_at(const std::string& path) {
  const Result<SharedMemory> file = SharedMemory::look_at(path);
  if (!file.ok()) return file.error();
  Result<RecordedProcess> process = read_record(file->bytes());
  if (process.ok()) process->path = path;
  return process;
}

}  // namespace pdsim::scenarios::guests
