#include "backends/net/secret.h"

#include "backends/os/posix.h"

#include <fmt/format.h>

#include <array>
#include <sys/random.h>
#include <utility>

namespace pdsim {

Result<Secret> Secret::of(std::string text) {
  if (text.empty()) return Error{Code::invalid_argument, "the secret is empty", {}};
  if (text.size() > longest)
    return Error{
        Code::invalid_argument, fmt::format("the secret has {} bytes, and may have {}", text.size(), longest), {}};
  Secret secret;
  secret.text_ = std::move(text);
  return secret;
}

Result<Secret> Secret::random() {
  std::array<unsigned char, 16> bits{};
  if (::getrandom(bits.data(), bits.size(), 0) != static_cast<ssize_t>(bits.size()))
    return system_error("cannot draw a secret");
  std::string text;
  for (const unsigned char byte : bits) text += fmt::format("{:02x}", byte);
  return of(std::move(text));
}

bool Secret::matches(std::string_view offered) const {
  // Always `longest` steps; volatile, so that no compiler ends them early.
  volatile unsigned char difference = offered.size() == text_.size() ? 0 : 1;
  for (std::size_t i = 0; i < longest; ++i) {
    const auto here = static_cast<unsigned char>(i < text_.size() ? text_[i] : '\0');
    const auto there = static_cast<unsigned char>(i < offered.size() ? offered[i] : '\0');
    difference = static_cast<unsigned char>(difference | (here ^ there));
  }
  return difference == 0;
}

}  // namespace pdsim
