// A small HTTP server on 127.0.0.1 that answers as PyTorch's debug server and its workers do.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace pdsim::cli_tests {

class DebugServer {
 public:
  // Paths with their bodies; any other path is answered with 404, and one whose body is `silence` never.
  explicit DebugServer(std::map<std::string, std::string> pages);
  ~DebugServer();
  DebugServer(const DebugServer&) = delete;
  DebugServer& operator=(const DebugServer&) = delete;
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  // Before anybody asks. Of several bodies for a path each answers once, in order, and the last all later questions.
  void add(const std::string& path, const std::string& body);

  inline static const std::string silence = "silence";

 private:
  void serve();
  std::map<std::string, std::deque<std::string>> pages_;
  int listener_ = -1;
  int port_ = 0;
  std::vector<int> held_;
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

// A page as the server renders it: per rank its worker's address and text, or that it failed.
struct PageRank {
  std::string address, text;
  bool failed = false;
};
std::string debug_page(const std::vector<PageRank>& ranks, const std::string& handler);

}  // namespace pdsim::cli_tests
