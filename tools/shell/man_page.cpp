// pdsim man: the manual page, from the same tables as --help.

#include "scenarios/text/printable_json.h"
#include "tools/command.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {
namespace {

// Text as roff takes it: no line begins with a request, a minus can be copied, a backslash is one.
std::string escaped(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool starts_line = i == 0 || text[i - 1] == '\n';
    if (starts_line && (text[i] == '.' || text[i] == '\'')) out += "\\&";
    if (text[i] == '\\')
      out += "\\e";
    else if (text[i] == '-')
      out += "\\-";
    else
      out += text[i];
  }
  return out;
}

std::string spelled(const CLI::Option& option) {
  if (!option.nonpositional()) return fmt::format("\\fI{}\\fR", escaped(option.get_name(true)));
  std::string text = fmt::format("\\fB{}\\fR", escaped(option.get_name(false, true)));
  const std::string type = option.get_type_name();
  if (!type.empty() && option.get_items_expected_max() > 0) text += fmt::format(" \\fI{}\\fR", escaped(type));
  return text;
}

std::string page_of(const CLI::App& command) {
  std::string text = fmt::format(".SS pdsim {}\n{}\n", escaped(command.get_name()), escaped(command.get_description()));
  for (const CLI::Option* option : command.get_options())
    if (option != command.get_help_ptr() && !option->get_group().empty())
      text += fmt::format(".TP\n{}\n{}\n", spelled(*option), escaped(option->get_description()));
  if (const std::string footer = command.get_footer(); !footer.empty())
    text += fmt::format(".PP\n{}\n", escaped(footer));
  return text;
}

std::string whole_manual(const CLI::App& root) {
  std::string text = fmt::format(
      ".TH PDSIM 1 \"\" \"pdsim {}\" \"User Commands\"\n.SH NAME\npdsim \\- finds out why a distributed training job hangs\n"
      ".SH SYNOPSIS\n\\fBpdsim\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n.SH DESCRIPTION\n{}\n.SH COMMANDS\n",
      PDSIM_VERSION, escaped(root.get_description()));
  for (const CLI::App* command :
       root.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); }))
    text += page_of(*command);
  text +=
      ".SH EXIT STATUS\n.TP\n0\nevery expectation held\n.TP\n1\nsome did not\n.TP\n2\nthe input is wrong, and nothing was run\n"
      ".TP\n3\nthe world is not available here\n.TP\n4\npdsim itself failed, or was not deterministic\n"
      ".SH ENVIRONMENT\n.TP\n\\fBNO_COLOR\\fR\nset and not empty: no colour\n"
      ".TP\n\\fBPDSIM_RECORD\\fR\nin a PyTorch script that imports pdsim_guest: the folder for its record\n";
  return text;
}

nlohmann::ordered_json options_in_json(const CLI::App& command) {
  nlohmann::ordered_json options = nlohmann::ordered_json::array();
  for (const CLI::Option* option : command.get_options()) {
    if (option == command.get_help_ptr() || option->get_group().empty()) continue;
    std::vector<std::string> names;
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    if (names.empty()) names.push_back(option->get_name(true));
    options.push_back({{"names", names},
                       {"help", option->get_description()},
                       {"required", option->get_required()},
                       {"takes_value", option->get_items_expected_max() > 0},
                       {"default", option->get_default_str()}});
  }
  return options;
}

std::string manual_in_json(const CLI::App& root) {
  nlohmann::ordered_json manual{{"version", scenarios::json_version}, {"pdsim", PDSIM_VERSION}};
  for (const CLI::App* command :
       root.get_subcommands([](const CLI::App* app) { return !app->get_group().empty(); }))
    manual["commands"].push_back({{"name", command->get_name()},
                                  {"summary", command->get_description()},
                                  {"options", options_in_json(*command)}});
  return manual.dump() + "\n";
}

}  // namespace

Action declare_man(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON object: every command with its options");
  return [&app, json](Console& console) {
    console.print(*json ? manual_in_json(*app.get_parent()) : whole_manual(*app.get_parent()));
    return exit_held;
  };
}

}  // namespace pdsim::tools
