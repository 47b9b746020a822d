#include "backends/process/rank_process.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace pdsim {

Result<RankProcess> RankProcess::start(const std::vector<std::string>& command, const RankStart& word, int listener,
                                       const sigset_t& signal_mask, RingShape ring,
                                       const std::vector<std::string>& environment, const std::string& record_path) {
  const std::size_t bytes = RecordRing::bytes_for(ring);
  Result<SharedMemory> memory = record_path.empty() ? SharedMemory::make(bytes) : SharedMemory::at(record_path, bytes);
  if (!memory.ok()) return memory.error();
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    return system_error("cannot make a socket pair");
  Descriptor ours(sockets[0]), theirs(sockets[1]);
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  Descriptor output(pipes[0]), printed(pipes[1]);
  fcntl(output.get(), F_SETFL, O_NONBLOCK);
  std::vector<Child::Inherited> inherited{{printed.get(), STDOUT_FILENO},
                                          {printed.get(), STDERR_FILENO},
                                          {theirs.get(), RankChannel::channel_descriptor},
                                          {memory->fd(), RankChannel::memory_descriptor}};
  if (listener >= 0) inherited.push_back({listener, RankChannel::listener_descriptor});
  Result<Child> child = Child::start(command, inherited, signal_mask, environment);
  if (!child.ok()) return child.error();
  write_frame(ours.get(), FrameKind::start, text_of(word));
  RankProcess rank(std::move(*child), std::move(ours), std::move(output), std::move(*memory), word.launch);
  rank.outlives_ = !record_path.empty();
  return rank;
}

RankProcess::RankProcess(Child child, Descriptor socket, Descriptor output, SharedMemory memory, int launch)
    : child_(std::move(child)), socket_(std::move(socket)), output_(std::move(output)), memory_(std::move(memory)) {
  outcome_.launch = launch;
}

// Nothing is there when the process ended before it began to record.
void RankProcess::read_ring() {
  if (outcome_.finished) return;
  Result<RingRecord> ring = read_record_ring(std::as_const(memory_).bytes());
  if (ring.ok()) outcome_.ring = std::move(*ring);
}

void RankProcess::add_to(std::vector<pollfd>& waiting) const {
  if (socket_) waiting.push_back({socket_.get(), POLLIN, 0});
  if (output_) waiting.push_back({output_.get(), POLLIN, 0});
}

bool RankProcess::service() {
  if (gone_) return false;
  const bool news = read_frames(false);
  read_output();
  if (!child_.poll()) return news;
  // It wrote nothing after its death, so what is read now is all there is.
  read_frames(true);
  read_output();
  socket_.reset();
  outcome_.ended = child_.poll();
  // A program that ran ends with 0 or 1, and its record says why.
  const Ended& how = *outcome_.ended;
  if (outlives_ && !outcome_.finished && !outcome_.stopped && (how.signal != 0 || how.exit_status > 1))
    mark_end(memory_.bytes(), {how.signal, how.exit_status, false});
  read_ring();
  gone_ = true;
  return true;
}

bool RankProcess::read_frames(bool all) {
  if (!socket_) return false;
  bool news = false;
  FrameReader::State state;
  do {
    state = reader_.fill(socket_.get());
    while (const auto frame = reader_.next()) {
      if (observer_) observer_(*frame);
      news = take(*frame) || news;
    }
  } while (all && state == FrameReader::State::more);
  if (state == FrameReader::State::closed) socket_.reset();
  return news;
}

bool WatchedRank::take(const Frame& frame) {
  came_up_ = true;
  if (frame.kind == FrameKind::progress) return true;
  const bool last = frame.kind == FrameKind::final_record && !frame.payload.empty();
  outcome_.record = last ? frame.payload.substr(1) : frame.payload;
  outcome_.answered = true;
  if (last) {
    outcome_.finished = true;
    outcome_.failed = frame.payload.front() == RankChannel::program_failed;
    if (!outcome_.failed) outcome_.relaunch = static_cast<Relaunch>(frame.payload.front());
  }
  return frame.kind != FrameKind::record;
}

void RankProcess::start_again(const RankStart& word) {
  const int launch = word.launch;
  outcome_ = RankOutcome{};
  outcome_.launch = launch;
  write_frame(socket_.get(), FrameKind::start, text_of(word));
}

void RankProcess::read_output() {
  constexpr std::size_t kept = 4096;
  std::array<char, 4096> chunk;
  while (output_) {
    const ssize_t n = read(output_.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) output_.reset();
    if (n <= 0) break;
    outcome_.output.append(chunk.data(), static_cast<std::size_t>(n));
    if (outcome_.output.size() > kept) outcome_.output.erase(0, outcome_.output.size() - kept);
  }
}

void RankProcess::ask() {
  if (gone_ || outcome_.finished || !socket_) return;
  outcome_.answered = false;
  outcome_.stopped = child_.stopped();
  // Now, and not when it is ended: mpirun kills this process as well once rank 0's has ended.
  if (outlives_ && outcome_.stopped) mark_end(memory_.bytes(), {0, 0, true});
  write_frame(socket_.get(), FrameKind::ask, {});
}

void RankProcess::end() {
  if (gone_) return;
  child_.end();
  read_frames(true);
  read_output();
  socket_.reset();
  read_ring();
  gone_ = true;
}

}  // namespace pdsim
