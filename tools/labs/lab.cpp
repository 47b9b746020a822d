// pdsim lab: exercises with checks. Lists them, puts a lab's files into a folder, checks it, gives hints.

#include "backends/os/whole_file.h"
#include "scenarios/text/printable_json.h"
#include "scenarios/text/shell_word.h"
#include "tools/catalog.h"
#include "tools/command.h"
#include "tools/flags/trial_flags.h"
#include "tools/labs/lab_book.h"
#include "tools/labs/lab_checks.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace pdsim::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* default_folder = "pdsim-labs";

struct LabOptions {
  std::optional<int> number;
  std::string in = default_folder, language;
  bool check = false, hint = false, reset = false, watch = false, json = false;
};

// --lang, else the first of LC_ALL, LC_MESSAGES and LANG that says something.
std::string language_of(const LabOptions& options) {
  if (!options.language.empty()) return options.language;
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"})
    if (const char* value = std::getenv(name); value != nullptr && *value != '\0')
      return std::string_view(value).starts_with("zh") ? "zh" : "en";
  return "en";
}

// The few sentences around the labs' own texts.
struct Words {
  const char *done, *open, *hint, *passed, *failed, *placed, *there, *check, *no_more, *par, *under, *over, *replay,
      *usage;
};
constexpr Words english{
    "done",
    "",
    "hint",
    "passed",
    "not yet",
    "your files, in",
    "existing files are kept; --reset restores the starting files",
    "then",
    "that was the last hint",
    "on par",
    "better than par",
    "over par",
    "replay   ",
    "`pdsim lab N` starts one, `pdsim lab N --check` checks it, `--hint` shows a hint, `--watch` checks whenever you "
    "save"};
constexpr Words chinese{
    "完成",
    "",
    "提示",
    "通过",
    "还没有通过",
    "你的文件在",
    "已有的文件保持不变；--reset 恢复初始文件",
    "然后",
    "没有更多提示了",
    "达到标准",
    "优于标准",
    "低于标准",
    "重现   ",
    "`pdsim lab N` 开始一个实验，`pdsim lab N --check` 检查，`--hint` 给提示，`--watch` 在每次保存后检查"};

class LabCommand {
 public:
  LabCommand(const LabOptions& options, std::vector<Lab> labs, Console& console)
      : options_(options),
        labs_(std::move(labs)),
        words_(language_of(options) == "zh" ? chinese : english),
        console_(console) {}

  int run() {
    if (const std::string wrong = wrong_flags(); !wrong.empty()) {
      console_.problem(wrong);
      return exit_wrong_input;
    }
    if (!options_.number) return list();
    const auto found =
        std::find_if(labs_.begin(), labs_.end(), [&](const Lab& lab) { return lab.number == *options_.number; });
    if (found == labs_.end()) {
      console_.problem(fmt::format("there is no lab {}; choose 1 to {}", *options_.number, labs_.back().number));
      return exit_wrong_input;
    }
    lab_ = &*found;
    folder_ = student_folder(*lab_, options_.in);
    if ((options_.hint || options_.watch || options_.check) && !fs::exists(folder_)) {
      console_.problem(fmt::format("there is no {}; `{}` creates it", folder_.string(), command("")));
      return exit_wrong_input;
    }
    if (options_.hint) return hint();
    if (options_.watch) return watch();
    if (options_.check) return check();
    return begin();
  }

 private:
  // Flags that say nothing together, or nothing without a lab; empty: none.
  std::string wrong_flags() const {
    std::string first;
    for (const auto& [given, name] : {std::pair(options_.check, "--check"), std::pair(options_.hint, "--hint"),
                                      std::pair(options_.watch, "--watch"), std::pair(options_.reset, "--reset")}) {
      if (!given) continue;
      if (!options_.number) return fmt::format("{} needs a lab's number: `pdsim lab 5 {}`", name, name);
      if (!first.empty()) return fmt::format("{} and {} exclude each other; keep one of the two", first, name);
      first = name;
    }
    return "";
  }

  // The command for this lab in this folder: "pdsim lab 5 --check --in labs".
  std::string command(const std::string& flag) const {
    return fmt::format("pdsim lab {}{}{}", *options_.number, flag.empty() ? "" : " " + flag,
                       options_.in == default_folder ? "" : " --in " + scenarios::shell_word(options_.in));
  }

  int list() {
    Json all = Json::array();
    std::string text;
    for (const Lab& lab : labs_) {
      const LabProgress progress = progress_of(student_folder(lab, options_.in));
      all.push_back({{"number", lab.number},
                     {"name", lab.name},
                     {"title", lab.text.title},
                     {"done", progress.done},
                     {"tries", progress.tries},
                     {"hints", progress.hints},
                     {"best", progress.best}});
      text += fmt::format("{:>3}  {:<6}{}{}\n", lab.number, progress.done ? words_.done : words_.open, lab.text.title,
                          progress.best.empty() ? "" : fmt::format("   ({})", progress.best));
    }
    if (options_.json)
      console_.print(Json{{"version", scenarios::json_version}, {"labs", all}}.dump() + "\n");
    else
      console_.print(fmt::format("{}\n{}\n", text, words_.usage));
    return exit_held;
  }

  int problem(const Error& error) {
    console_.problem(error.message);
    return status_of(error);
  }

  Status place(bool overwrite, std::vector<std::string>& written) {
    Result<std::vector<std::string>> placed = place_start(*lab_, folder_, overwrite);
    if (!placed.ok()) return placed.error();
    written = std::move(*placed);
    const Result<std::vector<LabPicture>> pictures = pictures_of(lab_->checks);
    if (!pictures.ok()) return pictures.error();
    for (const LabPicture& picture : *pictures)
      PDSIM_TRY(write_whole_file((folder_ / picture.file).string(), picture.text));
    return {};
  }

  int begin() {
    std::vector<std::string> written;
    if (const Status placed = place(options_.reset, written); !placed.ok()) return problem(placed.error());
    if (options_.reset)
      if (const Status kept = keep_progress(folder_, {}); !kept.ok()) return problem(kept.error());
    if (options_.json) return answer({{"task", lab_->text.task}, {"folder", folder_.string()}, {"written", written}});
    console_.print(fmt::format("{}. {}\n\n{}\n{} {}{}\n{}: {}\n", lab_->number, lab_->text.title, lab_->text.task,
                               words_.placed, folder_.string(), written.empty() ? fmt::format(" ({})", words_.there) : "",
                               words_.check, command("--check")));
    return exit_held;
  }

  int hint() {
    LabProgress progress = progress_of(folder_);
    const bool more = progress.hints < static_cast<int>(lab_->text.hints.size());
    if (more) ++progress.hints;
    if (const Status kept = keep_progress(folder_, progress); !kept.ok()) return problem(kept.error());
    if (options_.json)
      return answer({{"hints", std::vector<std::string>(lab_->text.hints.begin(), lab_->text.hints.begin() + progress.hints)}});
    for (int i = 0; i < progress.hints; ++i)
      console_.print(fmt::format("{} {}: {}", words_.hint, i + 1, lab_->text.hints[static_cast<std::size_t>(i)]));
    if (!more) console_.print(fmt::format("({})\n", words_.no_more));
    return exit_held;
  }

  int check() {
    const LabWords& words = lab_words(lab_->language);
    Result<LabResult> result =
        check_lab(lab_->checks, {folder_, lab_->folder / "start", command("--reset"), words});
    if (!result.ok()) return problem(result.error());
    LabProgress progress = progress_of(folder_);
    const bool passed = result->problems.empty();
    ++progress.tries;
    if (passed && result->score.empty() && !progress.done) {  // of a lab in which nothing can be improved
      result->score = fmt::format(fmt::runtime(words.checks), progress.tries);
      result->on_par = progress.tries == 1;
    }
    progress.done = progress.done || passed;
    if (passed && !result->score.empty()) progress.best = result->score;
    if (const Status kept = keep_progress(folder_, progress); !kept.ok()) return problem(kept.error());
    options_.json ? tell_json(*result) : tell_text(*result);
    return passed ? exit_held : exit_did_not_hold;
  }

  void tell_text(const LabResult& result) {
    const bool passed = result.problems.empty();
    console_.print(fmt::format("{}. {}: {}\n", lab_->number, lab_->text.title, passed ? words_.passed : words_.failed));
    for (const LabProblem& one : result.problems) {
      const bool is_said = one.text.find(one.replay) != std::string::npos;  // a report ends with it; empty: none
      console_.print(
          fmt::format("\n{}{}", one.text, is_said ? "" : fmt::format("{}{}\n", words_.replay, one.replay)));
    }
    if (passed && !result.score.empty())
      console_.print(fmt::format("{} ({})\n", result.score,
                                 result.beats_par ? words_.under
                                 : result.on_par  ? words_.par
                                                  : words_.over));
  }

  int answer(const Json& more) {
    Json json{{"version", scenarios::json_version}, {"lab", lab_->number}, {"title", lab_->text.title}};
    json.update(more);
    console_.print(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    return exit_held;
  }

  void tell_json(const LabResult& result) {
    Json problems = Json::array();
    for (const LabProblem& one : result.problems) problems.push_back({{"text", one.text}, {"replay", one.replay}});
    const Json json{{"version", scenarios::json_version}, {"lab", lab_->number},   {"ok", result.problems.empty()},
                    {"problems", problems}, {"score", result.score}, {"on_par", result.on_par}};
    console_.print(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  // The newest change of a file of the student's.
  fs::file_time_type newest() const {
    auto last = fs::file_time_type::min();  // the clock of files may count from a time to come
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator(folder_, ignored))
      if (entry.path().filename() != "progress.json") last = std::max(last, entry.last_write_time(ignored));
    return last;
  }

  int watch() {
    using namespace std::chrono_literals;
    while (true) {
      const fs::file_time_type seen = newest();
      const int status = check();
      if (status != exit_did_not_hold) return status;
      std::fflush(stdout);  // also where no terminal reads along
      while (newest() == seen) std::this_thread::sleep_for(300ms);
    }
  }

  const LabOptions& options_;
  std::vector<Lab> labs_;
  const Words& words_;
  Console& console_;
  const Lab* lab_ = nullptr;
  fs::path folder_;
};

int run_labs(const LabOptions& options, Console& console) {
  const Result<std::string> book = lab_book_folder();
  if (!book.ok()) {
    console.problem(book.error().message);
    return status_of(book.error());
  }
  Result<std::vector<Lab>> labs = labs_of(*book, language_of(options));
  if (!labs.ok()) {
    console.problem(labs.error().message);
    return status_of(labs.error());
  }
  return LabCommand(options, std::move(*labs), console).run();
}

}  // namespace

Action declare_lab(CLI::App& app) {
  const auto options = std::make_shared<LabOptions>();
  app.add_option("N", options->number, "the lab's number; without it: the list, and what is done")
      ->type_name("INT");
  app.add_flag("--check", options->check, "checks your files, also with cases that are not in the task");
  app.add_flag("--hint", options->hint, "the next of three hints");
  app.add_flag("--reset", options->reset, "restores the starting files, over yours");
  app.add_flag("--watch", options->watch, "checks whenever a file is saved, until it passes");
  app.add_option("--in", options->in, "the folder of your labs")->capture_default_str();
  app.add_option("--lang", options->language, "en or zh; default: as LANG")->check(CLI::IsMember({"en", "zh"}));
  app.add_flag("--json", options->json, "one JSON object: the list, the task, a hint, or what a check found");
  return [options](Console& console) { return run_labs(*options, console); };
}

}  // namespace pdsim::tools
