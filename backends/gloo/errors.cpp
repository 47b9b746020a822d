#include "backends/gloo/errors.h"

#include <fmt/format.h>
#include <gloo/common/error.h>
#include <gloo/common/logging.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace pdsim {
namespace {

// A text of Gloo's and its meaning; the first row that matches decides.
struct TextRow {
  std::string_view text;
  Code code;
  std::string_view sentence;
};
constexpr std::array texts{
    TextRow{"Application timeout caused pair closure", Code::group_unusable,
            "an earlier timeout closed the group's connections"},
    TextRow{"Wait timeout for key", Code::store_timeout, "a rank did not publish its address in time"},
    TextRow{"Timed out waiting", Code::timeout, "the operation was not finished within the group's timeout"},
    TextRow{"Connect timeout", Code::timeout, "a rank did not accept the connection in time"},
    TextRow{"Connection refused", Code::connection_refused, "nobody is listening at the address that the store gave"},
    TextRow{"Connection closed by peer", Code::peer_closed, "the connection was closed by the other rank"},
    TextRow{"reset by peer", Code::peer_closed, "the connection was closed by the other rank"},
    TextRow{"Broken pipe", Code::peer_closed, "the connection was closed by the other rank"},
    TextRow{"Socket closed", Code::group_unusable, "this rank has closed the group's connections"},
    TextRow{"Unable to find address for", Code::unavailable, "the network interface has no address"},
};

// "[file:line] text" without the place in Gloo's source.
std::string_view without_place(std::string_view text) {
  if (!text.starts_with('[')) return text;
  const std::size_t end = text.find("] ");
  return end == std::string_view::npos ? text : text.substr(end + 2);
}

Error error_of_text(std::string_view what) {
  const std::string_view text = without_place(what);
  for (const TextRow& row : texts)
    if (text.find(row.text) != std::string_view::npos)
      return {row.code, fmt::format("{} (gloo: {})", row.sentence, text), {}};
  return {Code::internal, fmt::format("gloo failed: {}", text), {}};
}

}  // namespace

Error error_of_current_exception() {
  try {
    throw;
  } catch (const CarriedError& e) {
    return e.error();
  } catch (const ::gloo::EnforceNotMet& e) {
    return error_of_text(e.msg_stack().empty() ? std::string(e.what()) : e.msg_stack().front());
  } catch (const std::exception& e) {
    return error_of_text(e.what());
  } catch (...) {
    return {Code::internal, "gloo threw an object that is not an exception", {}};
  }
}

std::chrono::milliseconds gloo_timeout(std::int64_t picoseconds) {
  constexpr std::int64_t ps_per_ms = 1'000'000'000;
  constexpr std::int64_t month = 30LL * 24 * 3600 * 1000;
  return std::chrono::milliseconds(
      std::clamp(picoseconds / ps_per_ms + (picoseconds % ps_per_ms != 0 ? 1 : 0), std::int64_t{1}, month));
}

}  // namespace pdsim
