// THE table of `--json` output: the members of every object of every command. Its JSON schema (`pdsim schema --output`) and
// docs/json.md are generated from it, and a test compares the commands' output with it.
//
//   path      member names separated by dots; `[]` after a name: the elements of a list; `*`: any name; `?` at the end: may be
//             absent
//   order     a row for a list or an object comes before the rows of its contents
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
  std::string_view when;     // the subject of one object
  std::span<const JsonMember> members;
};

// By command, in the order of docs/json.md; a command may have several forms.
std::span<const JsonForm> json_forms();

// A JSON schema (draft 2020-12): $defs has one for each command, which accepts any of its forms and the form of problems.
std::string json_output_schema();
// docs/json.md
std::string json_output_page();

}  // namespace pdsim::tools
