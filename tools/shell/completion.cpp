// pdsim completion: the script that lets a shell complete pdsim's command lines. It asks `pdsim complete`, so that names of a newer pdsim
// need no newer script.

#include "scenarios/text/printable_json.h"
#include "tools/command.h"
#include "tools/shell/completion_words.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {
namespace {

constexpr std::string_view bash_script = R"script(# bash completion of pdsim: eval "$(pdsim completion bash)"
_pdsim() {
  local IFS=$'\n'
  COMPREPLY=($("${COMP_WORDS[0]}" complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == */ ]]; then compopt -o nospace 2>/dev/null; fi
}
complete -o default -F _pdsim pdsim
)script";

constexpr std::string_view zsh_script = R"script(#compdef pdsim
# zsh completion of pdsim: eval "$(pdsim completion zsh)"
_pdsim() {
  local -a found
  found=(${(f)"$("${words[1]}" complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)"})
  if (( ${#found} )); then
    local -a folders others
    folders=(${(M)found:#*/})
    others=(${found:#*/})
    compadd -a others
    compadd -S '' -a folders
  else
    _files
  fi
}
compdef _pdsim pdsim
)script";

constexpr std::string_view fish_script = R"script(# fish completion of pdsim: pdsim completion fish | source
function __pdsim_complete
  set -l words (commandline -opc)
  set -l found ($words[1] complete -- $words[2..] (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c pdsim -f -a '(__pdsim_complete)'
)script";

struct Shell {
  std::string_view name, script;
};
constexpr std::array shells{Shell{"bash", bash_script}, Shell{"fish", fish_script}, Shell{"zsh", zsh_script}};

}  // namespace

Action declare_completion(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON object that holds the script");
  app.add_option("SHELL", *shell, "bash, fish or zsh")
      ->required()
      ->check([](const std::string& word) {
        const bool known = std::any_of(shells.begin(), shells.end(), [&](const Shell& s) { return s.name == word; });
        return known ? std::string() : fmt::format("unknown shell `{}`; expected bash, fish or zsh", word);
      });
  return [shell, json](Console& console) {
    for (const Shell& row : shells) {
      if (row.name != *shell) continue;
      const nlohmann::ordered_json object{{"version", scenarios::json_version}, {"shell", *shell}, {"script", row.script}};
      console.print(*json ? object.dump() + "\n" : std::string(row.script));
    }
    return exit_held;
  };
}

Action declare_complete(CLI::App& app) {
  const auto words = std::make_shared<std::vector<std::string>>();
  app.add_option("WORD", *words, "the words after pdsim, up to the one that is being typed");
  return [words, &app](Console& console) {
    std::string text;
    for (const std::string& word : words_to_complete(*app.get_parent(), *words)) text += word + "\n";
    console.print(text);
    return exit_held;
  };
}

}  // namespace pdsim::tools
