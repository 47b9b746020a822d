#include "backends/os/process_tree.h"

#include "backends/os/temporary_folder.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <dirent.h>
#include <fstream>
#include <memory>
#include <optional>
#include <poll.h>
#include <sstream>
#include <string_view>
#include <sys/wait.h>
#include <unistd.h>

namespace pdsim {
namespace {

std::optional<ProcessLook> look_at(std::string_view number) {
  ProcessLook look;
  const auto [end, failed] = std::from_chars(number.data(), number.data() + number.size(), look.pid);
  if (failed != std::errc() || end != number.data() + number.size()) return std::nullopt;
  std::ifstream file("/proc/" + std::string(number) + "/stat");
  std::ostringstream all;
  all << file.rdbuf();  // iterators would throw when the process ends meanwhile
  const std::string text = all.str();
  const std::size_t open = text.find('('), close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  look.name = text.substr(open + 1, close - open - 1);
  long user = 0, system = 0;
  const int taken = std::sscanf(text.c_str() + close + 1, " %c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %ld %ld",
                                &look.state, &look.parent, &user, &system);
  if (taken != 4) return std::nullopt;
  look.ticks = user + system;
  return look;
}

std::vector<ProcessLook> all_processes() {
  std::vector<ProcessLook> all;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  if (!folder) return all;
  while (const dirent* entry = readdir(folder.get()))
    if (auto look = look_at(entry->d_name)) all.push_back(std::move(*look));
  return all;
}

std::vector<ProcessLook> to_be_ended(const std::vector<pid_t>& excluded) {
  std::vector<ProcessLook> ended;
  std::vector<pid_t> kept = excluded;
  for (const ProcessLook& look : processes_below(getpid())) {
    const auto is_kept = [&kept](pid_t pid) { return std::find(kept.begin(), kept.end(), pid) != kept.end(); };
    if (is_kept(look.pid) || is_kept(look.parent))
      kept.push_back(look.pid);
    else
      ended.push_back(look);
  }
  return ended;
}

}  // namespace

std::vector<ProcessLook> processes_below(pid_t top) {
  std::vector<ProcessLook> all = all_processes(), below;
  std::vector<pid_t> parents{top};
  for (std::size_t i = 0; i < parents.size(); ++i)
    for (const ProcessLook& look : all)
      if (look.parent == parents[i]) {
        parents.push_back(look.pid);
        below.push_back(look);
      }
  return below;
}

bool ends_by_itself(const ProcessLook& look) { return look.name == folder_keeper; }

void end_all_below(int grace_ms, const std::vector<pid_t>& excluded) {
  using Clock = std::chrono::steady_clock;
  constexpr int pause_ms = 5;
  constexpr std::chrono::seconds longer(2);
  const auto until = Clock::now() + std::chrono::milliseconds(grace_ms);
  auto until_by_itself = until;
  bool asked = false;
  for (;;) {
    const std::vector<ProcessLook> left = to_be_ended(excluded);
    if (left.empty()) return;
    const auto now = Clock::now();
    if (!std::all_of(left.begin(), left.end(), ends_by_itself)) until_by_itself = now + longer;
    for (const ProcessLook& look : left) {
      if (waitpid(look.pid, nullptr, WNOHANG) == look.pid) continue;
      const bool by_itself = ends_by_itself(look);
      const bool kills = now >= (by_itself ? until_by_itself : until);
      if (kills) kill(look.pid, SIGKILL);
      if (kills || asked) continue;
      if (!by_itself) kill(look.pid, SIGTERM);
      kill(look.pid, SIGCONT);
    }
    asked = true;
    poll(nullptr, 0, pause_ms);
  }
}

}  // namespace pdsim
