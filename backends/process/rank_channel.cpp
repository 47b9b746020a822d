#include "backends/process/rank_channel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

namespace pdsim {
namespace {

// How often a change of the progress count is looked for: often enough for the launcher's patience, rare enough to be free.
int tick_ms(Time patience) { return static_cast<int>(std::clamp<std::int64_t>(patience.ps / 20'000'000'000, 2, 100)); }

constexpr std::string_view no_address = "-", no_secret = "-";

// In a job it is not there: the store is served elsewhere.
bool is_listening(int fd) {
  int listens = 0;
  socklen_t length = sizeof listens;
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length) == 0 && listens != 0;
}

}  // namespace

std::string text_of(const RankStart& s) {
  const std::int64_t epoch = s.epoch.time_since_epoch().count();
  return fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}{}", s.rank, s.size, s.launch, s.patience.ps, s.store_port,
                     epoch, s.stays ? 1 : 0, s.store_host, s.address.empty() ? no_address : s.address,
                     s.store_secret.empty() ? no_secret : s.store_secret.for_the_wire(), s.work_dir.size(), s.work_dir,
                     s.request);
}

Result<RankStart> rank_start_of(std::string_view text) {
  RankStart s;
  int used = 0, stays = 0;
  std::size_t folder = 0;
  char host[256] = "", address[256] = "", secret[256] = "";
  std::int64_t epoch = 0;
  const std::string copy(text);
  if (std::sscanf(copy.c_str(), "%d %d %d %" SCNd64 " %d %" SCNd64 " %d %255s %255s %255s %zu%n", &s.rank, &s.size,
                  &s.launch, &s.patience.ps, &s.store_port, &epoch, &stays, host, address, secret, &folder,
                  &used) != 11)
    return Error{Code::unavailable, "the launcher's first word is not understood", {}};
  s.epoch = std::chrono::steady_clock::time_point(std::chrono::steady_clock::duration(epoch));
  s.store_host = host;
  if (address != no_address) s.address = address;
  if (secret != no_secret) {
    Result<Secret> shared = Secret::of(secret);
    if (!shared.ok()) return shared.error();
    s.store_secret = std::move(*shared);
  }
  const std::string_view rest =
      std::string_view(copy).substr(std::min(static_cast<std::size_t>(used) + 1, copy.size()));
  s.stays = stays != 0;
  s.work_dir = rest.substr(0, folder);
  s.request = rest.substr(std::min(folder, rest.size()));
  return s;
}

Result<std::unique_ptr<RankChannel>> RankChannel::open() {
  Descriptor socket(channel_descriptor);
  const Error not_ours{Code::unavailable, "rank processes are started by `pdsim scenario --on`, not by hand", {}};
  int type = 0;
  socklen_t length = sizeof type;
  if (getsockopt(socket.get(), SOL_SOCKET, SO_TYPE, &type, &length) != 0) return not_ours;
  FrameReader reader;
  for (;;) {
    pollfd waiting{socket.get(), POLLIN, 0};
    if (poll(&waiting, 1, -1) < 0 && errno != EINTR) return not_ours;
    const FrameReader::State state = reader.fill(socket.get());
    if (const auto frame = reader.next()) {
      if (frame->kind != FrameKind::start) return not_ours;
      std::signal(SIGPIPE,
                  SIG_IGN);  // a peer that left is an error of the call, as under Python, and no end of this process
      Result<RankStart> start = rank_start_of(frame->payload);
      if (!start.ok()) return start.error();
      write_frame(socket.get(), FrameKind::progress, {});  // it has come up
      Descriptor listener(start->rank == 0 && is_listening(listener_descriptor) ? listener_descriptor : -1);
      std::unique_ptr<RankChannel> channel(
          new RankChannel(std::move(socket), std::move(reader), std::move(*start), std::move(listener)));
      Result<SharedMemory> memory = SharedMemory::open(Descriptor(memory_descriptor));
      if (memory.ok()) channel->memory_.emplace(std::move(*memory));
      return channel;
    }
    if (state == FrameReader::State::closed) return not_ours;
  }
}

RankChannel::RankChannel(Descriptor socket, FrameReader reader, RankStart start, Descriptor listener)
    : socket_(std::move(socket)), reader_(std::move(reader)), start_(std::move(start)), listener_(std::move(listener)) {
  fcntl(socket_.get(), F_SETFD, FD_CLOEXEC);
  if (listener_) fcntl(listener_.get(), F_SETFD, FD_CLOEXEC);
}

RankChannel::~RankChannel() { stop_watching(); }

std::span<std::byte> RankChannel::ring_memory() { return memory_ ? memory_->bytes() : std::span<std::byte>(); }

int RankChannel::take_listener() { return listener_.release(); }

void RankChannel::watch(std::function<std::int64_t()> progress, std::function<std::string()> record) {
  progress_ = std::move(progress);
  record_ = std::move(record);
  stop_ = Descriptor(eventfd(0, EFD_CLOEXEC));
  watchdog_ = std::thread([this] { watch_loop(); });
}

void RankChannel::watch_loop() {
  constexpr int launcher_gone = 125;
  const int tick = tick_ms(start_.patience);
  std::int64_t last = -1;
  for (;;) {
    pollfd waiting[2] = {{socket_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    poll(waiting, 2, tick);
    if (waiting[1].revents != 0) return;
    if (reader_.fill(socket_.get()) == FrameReader::State::closed) _exit(launcher_gone);
    if (const std::int64_t now = progress_(); now != last) {
      last = now;
      const std::lock_guard lock(writing_);
      write_frame(socket_.get(), FrameKind::progress, {});
    }
    while (const auto frame = reader_.next())
      if (frame->kind == FrameKind::ask) send_record(record_());
  }
}

void RankChannel::stop_watching() {
  if (!watchdog_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  watchdog_.join();
}

bool RankChannel::next_part() {
  for (;;) {
    const FrameReader::State state = reader_.fill(socket_.get());
    while (const auto frame = reader_.next()) {
      if (frame->kind != FrameKind::start) continue;
      Result<RankStart> start = rank_start_of(frame->payload);
      if (!start.ok()) return false;
      start_ = std::move(*start);
      write_frame(socket_.get(), FrameKind::progress, {});
      return true;
    }
    if (state == FrameReader::State::closed) return false;
    pollfd waiting{socket_.get(), POLLIN, 0};
    poll(&waiting, 1, -1);
  }
}

void RankChannel::send_record(const std::string& record) {
  const std::lock_guard lock(writing_);
  write_frame(socket_.get(), FrameKind::record, record);
}

void RankChannel::finish(const std::string& record, Relaunch relaunch, bool failed) {
  stop_watching();
  write_frame(socket_.get(), FrameKind::final_record, (failed ? program_failed : static_cast<char>(relaunch)) + record);
}

}  // namespace pdsim
