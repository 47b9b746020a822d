#include "backends/tcp_store/store_service.h"

#include "core/store/store_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace pdsim {
namespace {

using tcp::Op;

std::string without_slash(const std::string& key) { return key.starts_with('/') ? key.substr(1) : key; }

std::optional<StoreService::Answer> says(std::int64_t number, std::vector<std::string> texts = {}) {
  return StoreService::Answer(tcp::Response{number, std::move(texts)});
}

std::size_t bytes_of(const tcp::Request& request) {
  std::size_t bytes = sizeof(StoreWait);
  for (const std::string& text : request.texts) bytes += sizeof text + text.size();
  return bytes;
}

}  // namespace

std::optional<StoreService::Answer> StoreService::handle(const tcp::Request& r) {
  switch (r.op) {
    case Op::set:
    case Op::append:
    case Op::compare_set:
    case Op::add:
      return change(r);
    case Op::check:
      return says(std::all_of(r.texts.begin(), r.texts.end(), [this](const auto& k) { return keys_.find(k); }) ? 1 : 0);
    case Op::delete_key:
      return says(keys_.erase(r.texts[0]) ? 1 : 0);
    case Op::num_keys:
      return says(keys_.size());
    case Op::get:
    case Op::wait:
    case Op::wait_count:
    case Op::count_:
      break;
  }
  return look(r);
}

std::optional<StoreService::Answer> StoreService::change(const tcp::Request& r) {
  const auto& t = r.texts;
  const std::string* now = keys_.find(t[0]);
  std::optional<Answer> answer;
  if (r.op == Op::add) {
    const auto sum = add_to_decimal(without_slash(t[0]), now ? *now : "", r.number);
    if (!sum) return Answer(sum.error());
    const std::string text = std::to_string(*sum);
    if ((answer = no_room(r, text.size()))) return answer;
    keys_.set(t[0], text);
    answer = says(*sum);
  } else {
    if (r.op == Op::append && now && now->size() + t[1].size() > tcp::max_value)
      return Answer(Error{Code::limit_exceeded,
                          fmt::format("the value of key `{}` would have more than {} bytes",
                                      shown(without_slash(t[0]), 80), tcp::max_value),
                          {}});
    if ((answer = no_room(r, t.back().size()))) return answer;
    answer = says(0);
    if (r.op == Op::set) keys_.set(t[0], t[1]);
    if (r.op == Op::append) keys_.append(t[0], t[1]);
    if (r.op == Op::compare_set) answer = says(0, {keys_.compare_set(t[0], t[1], t[2])});
  }
  was_set(t[0]);
  return answer;
}

// An answer where a key with `added` bytes more does not fit any more.
std::optional<StoreService::Answer> StoreService::no_room(const tcp::Request& r, std::size_t added) const {
  const std::string* now = keys_.find(r.texts[0]);
  const std::size_t freed = now && r.op != Op::append ? now->size() : 0;
  const std::size_t after = keys_.bytes() - freed + added + (now ? 0 : r.texts[0].size() + KeyTable::node_bytes);
  if (after <= most_stored_ || (now && added <= freed)) return std::nullopt;
  return Answer(
      Error{Code::limit_exceeded,
            fmt::format("the store is full: with key `{}` its keys and values would take {} bytes, and may {}",
                        shown(without_slash(r.texts[0]), 80), after, most_stored_),
            {}});
}

std::optional<StoreService::Answer> StoreService::look(const tcp::Request& r) const {
  if (r.op == Op::wait_count) {
    const std::string* text = keys_.find(r.texts[0]);
    const auto count = add_to_decimal(r.texts[0], text ? *text : "", 0);
    if (!count) return Answer(count.error());
    return *count < r.number ? std::nullopt : says(*count);
  }
  for (const std::string& key : r.texts)
    if (!keys_.find(key)) return std::nullopt;
  if (r.op == Op::wait) return says(0);
  return says(0, {*keys_.find(r.texts[0])});
}

std::size_t StoreService::answer_bytes(const tcp::Request& r) const {
  if (r.op != Op::get && r.op != Op::compare_set) return 0;
  const std::string* value = keys_.find(r.texts[0]);
  return std::max(value ? value->size() : 0,
                  r.op == Op::compare_set ? std::max(r.texts[1].size(), r.texts[2].size()) : 0);
}

Status StoreService::begin(StoreWait& wait) {
  const std::size_t bytes = bytes_of(wait.request);
  if (bytes > tcp::max_wait)
    return Error{Code::limit_exceeded,
                 fmt::format("the keys to wait for take {} bytes; the limit is {}", bytes, tcp::max_wait),
                 {}};
  if (bytes > most_waiting_ - std::min(waiting_, most_waiting_))
    return Error{
        Code::limit_exceeded,
        fmt::format("{} bytes of requests wait at the store already; the limit is {}", waiting_, most_waiting_),
        {}};
  waiting_ += bytes;
  wait.fulfilled = is_fulfilled(wait);
  if (!wait.fulfilled) waits_.emplace(wait.request.texts[wait.next], &wait);
  return {};
}

void StoreService::end(StoreWait& wait) {
  waiting_ -= std::min(waiting_, bytes_of(wait.request));
  if (wait.fulfilled) return;
  const auto [first, last] = waits_.equal_range(wait.request.texts[wait.next]);
  const auto it = std::find_if(first, last, [&wait](const auto& entry) { return entry.second == &wait; });
  if (it != last) waits_.erase(it);
}

std::optional<StoreService::Answer> StoreService::answer(StoreWait& wait) {
  if (wait.request.op == Op::wait) return says(0);
  auto found = look(wait.request);
  wait.fulfilled = found.has_value();
  if (!found) waits_.emplace(wait.request.texts[wait.next = 0], &wait);
  return found;
}

// Goes on behind the keys that were there when it was looked at last; they may have been deleted since.
bool StoreService::is_fulfilled(StoreWait& wait) const {
  const tcp::Request& r = wait.request;
  if (r.op == Op::wait_count) return look(r).has_value();
  const auto is_missing = [this](const std::string& key) { return keys_.find(key) == nullptr; };
  const auto begin = r.texts.begin(), end = r.texts.end();
  auto lacks = std::find_if(begin + static_cast<std::ptrdiff_t>(wait.next), end, is_missing);
  if (lacks == end) lacks = std::find_if(begin, end, is_missing);
  wait.next = lacks == end ? 0 : static_cast<std::size_t>(lacks - begin);
  return lacks == end;
}

void StoreService::was_set(const std::string& key) {
  const auto [first, last] = waits_.equal_range(key);
  std::vector<StoreWait*> woken;
  for (auto it = first; it != last; ++it) woken.push_back(it->second);
  waits_.erase(first, last);
  for (StoreWait* wait : woken) {
    wait->fulfilled = is_fulfilled(*wait);
    if (!wait->fulfilled) waits_.emplace(wait->request.texts[wait->next], wait);
  }
}

Error StoreService::timed_out(const StoreWait& wait) const {
  constexpr std::size_t listed_keys = 1000, longest = 1024;  // for "the nearest key"
  const tcp::Request& r = wait.request;
  if (r.op == Op::wait_count) {
    const std::string* count = keys_.find(r.texts[0]);
    return {Code::store_timeout, "the count was not reached", {{"count", count ? *count : "0"}}};
  }
  std::vector<std::string> missing = keys_.missing(r.texts);
  std::transform(missing.begin(), missing.end(), missing.begin(), without_slash);
  return key_timeout(missing, r.timeout, keys_.keys("/", listed_keys, longest));
}

}  // namespace pdsim
