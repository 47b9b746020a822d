#include "backends/launch/pending_links.h"

#include "backends/net/tcp_socket.h"

#include <cerrno>
#include <iterator>
#include <sys/socket.h>
#include <utility>

namespace pdsim {

void PendingLinks::add_to(std::vector<pollfd>& waiting) const {
  waiting.push_back({listener_, POLLIN, 0});
  for (const Pending& p : links_) waiting.push_back({p.link.fd.get(), POLLIN, 0});
}

void PendingLinks::accept_some() {
  constexpr int accepted_in_one_go = 64;
  for (int i = 0; i < accepted_in_one_go; ++i) {
    Descriptor fd(accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd) {
      const bool none_left = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
      if (!none_left || links_.empty()) return;
      links_.pop_front();
      continue;
    }
    prepare_job_socket(fd.get());
    if (links_.size() >= limits_.most) links_.pop_front();
    links_.push_back({{std::move(fd), FrameReader(job_hello_limit), false}, clock_.now() + limits_.hello_within});
  }
}

void PendingLinks::service(const std::function<void(JobLink&, const std::string&)>& take) {
  accept_some();
  for (auto pending = links_.begin(); pending != links_.end();) {
    JobLink& link = pending->link;
    link.closed = link.reader.fill(link.fd.get()) == FrameReader::State::closed;
    const auto frame = link.reader.next();
    if (frame && frame->kind == FrameKind::hello) take(link, frame->payload);
    const bool over = frame || link.closed || link.reader.broken() || clock_.now() >= pending->deadline;
    pending = over ? links_.erase(pending) : std::next(pending);
  }
}

std::size_t PendingLinks::held() const {
  std::size_t bytes = 0;
  for (const Pending& p : links_) bytes += p.link.reader.held();
  return bytes;
}

}  // namespace pdsim
