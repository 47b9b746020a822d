// Names in commands that a user may paste.
#pragma once

#include <string>
#include <string_view>

namespace pdsim::scenarios {

// The text as one word of a POSIX shell: as it is where nothing in it is special, else in quotes.
std::string shell_word(std::string_view text);

}  // namespace pdsim::scenarios
