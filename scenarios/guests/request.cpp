#include "scenarios/guests/request.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

namespace pdsim::scenarios::guests {
namespace {

using Json = nlohmann::json;
using RequestKind = Request::Kind;

constexpr std::array<std::pair<std::string_view, RequestKind>, 32> kind_names{{{"hello", RequestKind::hello},
                                                                               {"store", RequestKind::store},
                                                                               {"join", RequestKind::join},
                                                                               {"start", RequestKind::start},
                                                                               {"monitored_barrier", RequestKind::monitored_barrier},
                                                                               {"wait", RequestKind::wait},
                                                                               {"poll", RequestKind::poll},
                                                                               {"sleep", RequestKind::sleep},
                                                                               {"destroy", RequestKind::destroy},
                                                                               {"memory", RequestKind::memory},
                                                                               {"Enter", RequestKind::enter},
                                                                               {"Leave", RequestKind::leave},
                                                                               {"Group_made", RequestKind::group_made},
                                                                               {"Ddp", RequestKind::ddp},
                                                                               {"Bucket", RequestKind::bucket},
                                                                               {"Unfilled", RequestKind::unfilled},
                                                                               {"Overwritten", RequestKind::overwritten},
                                                                               {"Goodbye", RequestKind::goodbye},
                                                                               {"Model", RequestKind::model},
                                                                               {"Bare", RequestKind::bare},
                                                                               {"Replica", RequestKind::replica},
                                                                               {"Replica_hook", RequestKind::replica_hook},
                                                                               {"Replica_state", RequestKind::replica_state},
                                                                               {"Step", RequestKind::step},
                                                                               {"Step_skipped", RequestKind::step_skipped},
                                                                               {"Bypassed", RequestKind::bypassed},
                                                                               {"Variable", RequestKind::variable},
                                                                               {"Raised", RequestKind::raised},
                                                                               {"Exited", RequestKind::exited},
                                                                               {"Threads", RequestKind::threads},
                                                                               {"Done", RequestKind::done},
                                                                               {"Unusable", RequestKind::unusable}}};

constexpr std::size_t most_request_bytes = std::size_t{1} << 30;

Error invalid(std::string why) { return {Code::input_invalid, std::move(why), {}}; }

// A number as it is; one that does not fit, or is no whole number, makes the whole request wrong.
template <class T>
T whole_number(const Json& value) {
  if (!value.is_number_integer()) throw Json::type_error::create(302, "expected a whole number", &value);
  const bool is_large = value.is_number_unsigned() &&
                        value.get<std::uint64_t>() > static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  const auto number = is_large ? std::int64_t{0} : value.get<std::int64_t>();
  if (is_large || number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max())
    throw Json::out_of_range::create(406, "a number is out of range", &value);
  return static_cast<T>(number);
}

// Members that are absent or null leave the value as it is; one of another type makes the whole request wrong.
class Members {
 public:
  explicit Members(const Json& object) : object_(object) {}

  template <class T>
  Members& take(const char* name, T& into) {
    const auto found = object_.find(name);
    if (found == object_.end() || found->is_null()) return *this;
    if constexpr (std::is_same_v<T, int> || std::is_same_v<T, std::int64_t>) {
      into = whole_number<T>(*found);
    } else {
      into = found->get<T>();
    }
    return *this;
  }
  template <class T>
  Members& take_numbers(const char* name, std::vector<T>& into) {
    const auto found = object_.find(name);
    if (found == object_.end() || found->is_null()) return *this;
    if (!found->is_array()) throw Json::type_error::create(302, "expected a list of numbers", &*found);
    for (const Json& number : *found) into.push_back(whole_number<T>(number));
    return *this;
  }
  Members& take_number(const char* name, std::optional<std::int64_t>& into) {
    const auto found = object_.find(name);
    if (found != object_.end() && !found->is_null()) into = whole_number<std::int64_t>(*found);
    return *this;
  }
  Members& take_time(const char* name, std::optional<Time>& into) {
    const auto found = object_.find(name);
    if (found == object_.end() || found->is_null()) return *this;
    const auto seconds = found->get<double>();
    constexpr double most_seconds = 8e6;
    if (seconds >= 0) into = seconds >= most_seconds ? Time::max() : Time{std::llround(seconds * 1e12)};
    return *this;
  }

 private:
  const Json& object_;
};

Site site_of(const Json& object) {
  Site site;
  CallOrigin origin;
  std::string phase;
  int column = 1;
  Members(object).take("step", site.step).take("phase", phase).take("column", column);
  if (const auto known = value_named<Phase>(phase)) site.phase = *known;
  const auto frames = object.find("frames");
  if (frames != object.end())
    for (const Json& frame : *frames)
      origin.frames.push_back({frame.at(0).get<std::string>(), frame.at(1).get<std::string>(), whole_number<int>(frame.at(2))});
  if (!origin.frames.empty()) {
    origin.file = origin.frames.front().file;
    site.line = origin.frames.front().line;
    site.column = std::max(column, 1);
    site.origin = std::move(origin);
  }
  return site;
}

Request read(const Json& object) {
  Request r;
  const auto op = object.at("op").get<std::string>();
  bool known = false;
  for (const auto& [name, kind] : kind_names)
    if (name == op) r.kind = kind, known = true;
  if (!known) throw Json::other_error::create(501, fmt::format("unknown request `{}`", op), &object);
  Members members(object);
  members.take("name", r.name).take("kind", r.name).take("text", r.text).take("store", r.store);
  members.take(r.kind == RequestKind::leave || r.kind == RequestKind::done ? "error" : "code", r.code)
      .take("expected", r.expected)
      .take("backend", r.backend)
      .take("module", r.module)
      .take("purpose", r.purpose)
      .take("moment", r.moment);
  members.take("dtype", r.dtype).take("reduce", r.reduce).take("keys", r.keys).take("values", r.values);
  members.take_numbers("ranks", r.ranks).take_numbers("sends", r.sends).take_numbers("receives", r.receives);
  members.take_numbers("digests", r.digests).take_numbers("began", r.began).take("digest", r.digest);
  members.take("slot", r.slot).take("pid", r.pid).take("threads", r.threads).take("thread", r.thread);
  members.take("number", r.number).take("group", r.group).take("work", r.work).take("count", r.count);
  members.take("rank", r.rank).take("size", r.size).take("tag", r.tag).take("root", r.root);
  members.take("coalesced", r.coalesced).take("all", r.all).take("memory", r.memory).take("output_at", r.output_at);
  members.take_number("device", r.device).take_number("guess", r.guess);
  members.take_time("seconds", r.timeout).take_time("cpu", r.computed);
  r.site = site_of(object);
  if (!is_of_the_end(r.kind)) r.site.op = r.name;
  return r;
}

}  // namespace

Result<FrameSize> frame_size(const std::byte* head) {
  std::uint32_t object = 0;
  std::uint64_t data = 0;
  std::memcpy(&object, head, sizeof object);
  std::memcpy(&data, head + sizeof object, sizeof data);
  if (object > most_request_bytes || data > most_request_bytes)
    return invalid(fmt::format("a request of {} and {} bytes; a call carries at most 1GiB", object, data));
  return FrameSize{object, static_cast<std::size_t>(data)};
}

bool is_nested_too_deep(std::string_view json) {
  constexpr int most_levels = 32;
  int level = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (in_text && c == '\\') ++i;
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if (c == '[' || c == '{') ++level;
    if (c == ']' || c == '}') --level;
    if (level > most_levels) return true;
  }
  return false;
}

Result<Request> request_of(std::string_view object, std::vector<std::byte> data) {
  if (is_nested_too_deep(object)) return invalid("not a request: it is nested too deep");
  try {
    Request request = read(Json::parse(object));
    request.data = std::move(data);
    return request;
  } catch (const Json::exception& error) {
    return invalid(fmt::format("not a request: {}", error.what()));
  }
}

std::string answer_head(const Answer& answer, std::size_t data) {
  Json object = Json::object();
  if (!answer.end.empty()) object["end"] = answer.end;
  if (answer.error) {
    object["error"] = std::string(name_of(answer.error->code));
    object["message"] = answer.error->message;
  }
  object["number"] = object["group"] = object["work"] = answer.number;
  object["yes"] = object["done"] = answer.yes;
  object["source"] = answer.source;
  const std::string text = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto length = static_cast<std::uint32_t>(text.size());
  const auto following = static_cast<std::uint64_t>(data);
  std::string head(head_size, '\0');
  std::memcpy(head.data(), &length, sizeof length);
  std::memcpy(head.data() + sizeof length, &following, sizeof following);
  return head + text;
}

}  // namespace pdsim::scenarios::guests
