// What `--json` prints, as a table: the members of every object of every command. Its JSON schema (`pdsim schema --output`) and
// docs/json.md are two readers of it, and a test compares what the commands print with it.
//
//   path      member names with dots between; `[]` behind a name: the elements of a list; `*`: any name; `?` at the end: may be absent
//   order     a row for a list or an object stands before the rows of what is in it
//   adding    a member: one row. A command: a table of rows, and its row in json_forms.cpp
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace pdsim::tools {

enum class JsonType : std::uint8_t { object, text, integer, number, boolean, texts, integers, numbers, text_or_null, number_or_null };

struct JsonMember {
  std::string_view path;
  JsonType type;
  std::string_view help;
};

struct JsonForm {
  std::string_view command;  // "problems": of any command, instead of its own object
  std::string_view when;     // what one object stands for
  std::span<const JsonMember> members;
};

// By command, in the order of docs/json.md; a command may have several forms.
std::span<const JsonForm> json_forms();

// A JSON schema (draft 2020-12): in $defs one for each command, which accepts any of its forms and the form of problems.
std::string json_output_schema();
// docs/json.md
std::string json_output_page();

}  // namespace pdsim::tools
