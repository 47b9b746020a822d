#include "scenarios/guests/connection.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace pdsim::scenarios::guests {

namespace {

constexpr std::size_t most_at_once = std::size_t{1} << 16;

}  // namespace

Connection::Connection(Descriptor socket)
    : socket_(std::move(socket)), received_(std::make_unique_for_overwrite<std::byte[]>(most_at_once)) {
  fcntl(socket_.get(), F_SETFL, O_NONBLOCK);
}

bool Connection::read_some() {
  const std::size_t before = requests_.size();
  while (socket_) {
    const ssize_t count = recv(socket_.get(), received_.get(), most_at_once, 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) break;
    if (count <= 0) {
      close();
      break;
    }
    waiting_.insert(waiting_.end(), received_.get(), received_.get() + count);
    cut_frames();
  }
  return requests_.size() > before;
}

void Connection::cut_frames() {
  std::size_t at = 0;
  while (waiting_.size() - at >= head_size) {
    const Result<FrameSize> size = frame_size(waiting_.data() + at);
    if (!size.ok()) {
      problem_ = size.error();
      return close();
    }
    const std::size_t whole = head_size + size->object + size->data;
    if (waiting_.size() - at < whole) {
      waiting_.reserve(at + whole);
      break;
    }
    const std::byte* object = waiting_.data() + at + head_size;
    const std::byte* data = object + size->object;
    Result<Request> request = request_of({reinterpret_cast<const char*>(object), size->object},
                                         std::vector<std::byte>(data, data + size->data));
    if (!request.ok()) {
      problem_ = request.error();
      return close();
    }
    requests_.push_back(std::move(*request));
    at += whole;
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(at));
}

Request Connection::take() {
  Request request = std::move(requests_.front());
  requests_.pop_front();
  return request;
}

void Connection::answer(const Answer& answer, std::span<const std::byte> data) {
  const std::string head = answer_head(answer, data.size());
  send(std::as_bytes(std::span(head)));
  send(data);
}

void Connection::send(std::span<const std::byte> bytes) {
  constexpr int most_ms = 60'000;
  while (socket_ && !bytes.empty()) {
    const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(count));
      continue;
    }
    pollfd room{socket_.get(), POLLOUT, 0};
    const bool may_wait = count < 0 && (errno == EAGAIN || errno == EINTR);
    if (!may_wait || poll(&room, 1, most_ms) == 0) socket_.reset();  // what it has sent before is still read
  }
}

}  // namespace pdsim::scenarios::guests
