#include "tests/cli/support/debug_server.h"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace pdsim::cli_tests {
namespace {

// The path of the request line, without its query.
std::string path_asked(int connection) {
  std::string request;
  std::array<char, 4096> part{};
  while (request.find("\r\n\r\n") == std::string::npos) {
    const ssize_t count = recv(connection, part.data(), part.size(), 0);
    if (count <= 0) break;
    request.append(part.data(), static_cast<std::size_t>(count));
  }
  const std::size_t begin = request.find(' ') + 1, end = request.find_first_of(" ?", begin);
  return request.substr(begin, end - begin);
}

void answer(int connection, const std::string& status, const std::string& body) {
  const std::string text = "HTTP/1.0 " + status +
                           "\r\nContent-Type: text/html\r\nContent-Length: " + std::to_string(body.size()) +
                           "\r\n\r\n" + body;
  std::size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = send(connection, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<std::size_t>(count);
  }
}

}  // namespace

DebugServer::DebugServer(std::map<std::string, std::string> pages) {
  for (const auto& [path, body] : pages) add(path, body);
  listener_ = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof(address);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), length) != 0 || listen(listener_, 64) != 0 ||
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length) != 0)
    throw std::runtime_error("no server on 127.0.0.1");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

DebugServer::~DebugServer() {
  ends_ = true;
  thread_.join();
  for (const int connection : held_) close(connection);
  close(listener_);
}

void DebugServer::add(const std::string& path, const std::string& body) { pages_[path].push_back(body); }

void DebugServer::serve() {
  constexpr int look_up_ms = 20;
  while (!ends_) {
    pollfd ready{listener_, POLLIN, 0};
    if (poll(&ready, 1, look_up_ms) <= 0) continue;
    const int connection = accept(listener_, nullptr, nullptr);
    if (connection < 0) continue;
    const auto page = pages_.find(path_asked(connection));
    if (page == pages_.end()) {
      answer(connection, "404 Not Found", "Handler not found");
    } else if (page->second.front() == silence) {
      held_.push_back(connection);
      continue;
    } else {
      answer(connection, "200 OK", page->second.front());
      if (page->second.size() > 1) page->second.pop_front();
    }
    close(connection);
  }
}

std::string debug_page(const std::vector<PageRank>& ranks, const std::string& handler) {
  std::string html =
      "<!doctype html>\n<head><title>FlightRecorder - PyTorch Distributed</title></head>\n<nav><h1>Torch Distributed "
      "Debug "
      "Server</h1></nav>\n<section class=\"content\">\n    <h1>FlightRecorder</h1>\n";
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    html +=
        "        <h2>Rank " + std::to_string(rank) + ": " + ranks[rank].address + "/handler/" + handler + "?</h2>\n";
    if (ranks[rank].failed) html += "            <p>Failed to fetch: status=408</p>\n";
    html += "            <pre>" + ranks[rank].text + "</pre>\n";
  }
  return html + "</section>\n";
}

}  // namespace pdsim::cli_tests
