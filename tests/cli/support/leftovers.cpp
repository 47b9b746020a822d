#include "tests/cli/support/leftovers.h"

#include "tests/cli/support/survivors.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string_view>
#include <sys/types.h>
#include <unistd.h>

namespace pdsim::cli_tests {
namespace {

namespace fs = std::filesystem;

constexpr const char* memory_folder = "/dev/shm";

std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code gone;
  for (fs::directory_iterator at(folder, gone), end; !gone && at != end; at.increment(gone))
    entries.push_back(at->path());
  return entries;
}

// Of this user: the socket's inode, and its port.
std::map<std::string, int> listening() {
  std::map<std::string, int> ports;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    std::istringstream lines(text_of(table));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      const std::vector<std::string> word{std::istream_iterator<std::string>(words), {}};
      constexpr std::size_t local = 1, state = 3, user = 7, inode = 9;
      if (word.size() <= inode || word[state] != "0A" || word[user] != std::to_string(geteuid())) continue;
      ports["socket:[" + word[inode] + "]"] = std::stoi(word[local].substr(word[local].find(':') + 1), nullptr, 16);
    }
  }
  return ports;
}

// Those in /dev/shm by their path; those of System V by their number when no process has them any more.
std::set<std::string> segments() {
  std::set<std::string> names;
  for (const fs::path& entry : entries_of(memory_folder)) names.insert(entry.string());
  std::istringstream lines(text_of("/proc/sysvipc/shm"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    const std::vector<std::string> word{std::istream_iterator<std::string>(words), {}};
    constexpr std::size_t number = 1, attached = 6, user = 7;
    if (word.size() > user && word[attached] == "0" && word[user] == std::to_string(geteuid()))
      names.insert("System V segment " + word[number]);
  }
  return names;
}

// What a process holds: its descriptors and its mapped files, as the system names them.
std::string held_by(const fs::path& process) {
  std::string all = text_of(process / "maps") + '\n';
  for (const fs::path& descriptor : entries_of(process / "fd")) {
    std::error_code closed;
    all += fs::read_symlink(descriptor, closed).string() + '\n';
  }
  return all;
}

struct Seen {
  std::vector<std::string> of_the_job;  // "process 12 (sleep)"
  std::string held_by_others;
};

Seen look_at_processes(const std::string& folder, bool what_they_hold) {
  Seen seen;
  for (const fs::path& process : entries_of("/proc")) {
    const std::string number = process.filename().string();
    if (std::isdigit(static_cast<unsigned char>(number.front())) == 0) continue;
    const bool of_the_job = text_of(process / "environ").find("=" + folder + '\0') != std::string::npos;
    if (of_the_job) {
      std::string name = text_of(process / "comm");
      name.erase(std::remove(name.begin(), name.end(), '\n'), name.end());
      seen.of_the_job.push_back("process " + number + " (" + name + ")");
    } else if (what_they_hold) {
      seen.held_by_others += held_by(process);
    }
  }
  return seen;
}

}  // namespace

Leftovers::Leftovers() : segments_(segments()) {
  for (const auto& [socket, port] : listening()) ports_.insert(socket);
}

std::vector<std::string> Leftovers::now(const Folder& folder, const std::vector<std::string>& keeps) const {
  std::vector<std::pair<std::string, std::string>> suspects;  // what it is, and how it is told
  for (const auto& [socket, port] : listening())
    if (ports_.count(socket) == 0) suspects.emplace_back(socket, "listening port " + std::to_string(port));
  for (const std::string& segment : segments())
    if (segments_.count(segment) == 0) suspects.emplace_back(segment, "shared memory " + segment);
  const Seen seen = look_at_processes(folder.path().string(), !suspects.empty());
  std::vector<std::string> left = seen.of_the_job;
  if (!no_child_left()) left.emplace_back("a child of the test");
  for (const auto& [name, told] : suspects)
    if (seen.held_by_others.find(name) == std::string::npos) left.push_back(told);
  for (const std::string& name : folder.names())
    if (std::find(keeps.begin(), keeps.end(), name) == keeps.end()) left.push_back("file " + name);
  return left;
}

testing::AssertionResult Leftovers::none_of(const Folder& folder, const std::vector<std::string>& keeps) const {
  std::vector<std::string> left;
  const auto is_gone = [&] {
    left = now(folder, keeps);
    return left.empty();
  };
  if (soon(is_gone)) return testing::AssertionSuccess();
  testing::AssertionResult failure = testing::AssertionFailure() << "still there:";
  for (const std::string& what : left) failure << "\n  " << what;
  return failure;
}

}  // namespace pdsim::cli_tests
