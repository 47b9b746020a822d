// How often which blow was struck, for the record of a long run of kills.
#pragma once

#include <cstdio>
#include <map>
#include <string>
#include <string_view>

namespace pdsim::cli_tests {

class Tally {
 public:
  void add(std::string_view blow) { ++counts_[std::string(blow)]; }
  // One line, as "gloo: 30 blows; SIGINT to the launcher 7, ...".
  void print(std::string_view of) const {
    int all = 0;
    std::string parts;
    for (const auto& [blow, count] : counts_) {
      all += count;
      parts += (parts.empty() ? "; " : ", ") + blow + " " + std::to_string(count);
    }
    std::printf("%s: %d blows%s\n", std::string(of).c_str(), all, parts.c_str());
  }

 private:
  std::map<std::string, int> counts_;
};

}  // namespace pdsim::cli_tests
