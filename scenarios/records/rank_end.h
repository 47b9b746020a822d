// How a rank ended, from the facts of its error. Worlds write them, and all code that reports an end reads them here.
#pragma once

#include "core/record/flight_record.h"

#include <optional>
#include <string>
#include <string_view>

namespace pdsim::scenarios {

// Facts of RankLog::error.
inline constexpr std::string_view signal_fact = "signal";                // a number: it ended the process
inline constexpr std::string_view exit_status_fact = "exit_status";      // a number, not 0: passed to exit deliberately
inline constexpr std::string_view exit_function_fact = "exit_function";  // sys.exit, os._exit: called where the error's site is
inline constexpr std::string_view exception_fact = "exception";          // the type of the exception that ended the program

// 0: no signal ended the process.
int signal_of(const Error& error);
std::optional<int> exit_status_of(const Error& error);

// Short, for tables and labels: "ValueError", "exit status 5", or the code's name where the program's own end gives no more
// detail.
std::string cause_text(const Error& error);

// "finished", "raised", "exited", "died", "running"
std::string_view end_word(const RankLog& log);

// "died by signal 9", "raised ValueError", "raised an exception", "raised wrong-data", "exited with status 5"
std::string ending_text(const RankLog& log);

// The same with the error's text: "died: the process was ...", "raised: ValueError: ...", "exited with status 1: no data left"
std::string ending_sentence(const RankLog& log);

// Whether the error's site is where the rank ended, not the last known place before it.
bool is_at_its_end(const RankLog& log);

}  // namespace pdsim::scenarios
