// A text that a job's ranks share and strangers do not know (`--join-secret`). It is compared and sent, never printed.
#pragma once

#include "core/base/result.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace pdsim {

class Secret {
 public:
  static constexpr std::size_t longest = 256;

  Secret() = default;  // empty: admits only peers without a secret
  // invalid_argument, without the text: it is empty, or longer than `longest` bytes.
  static Result<Secret> of(std::string text);

  // A secret of 128 random bits, in hexadecimal digits. io_error: the system has none.
  static Result<Secret> random();

  bool empty() const { return text_.empty(); }
  // Takes a time that depends on neither text. False for none against some, both ways.
  bool matches(std::string_view offered) const;
  const std::string& for_the_wire() const { return text_; }

 private:
  std::string text_;
};

}  // namespace pdsim
