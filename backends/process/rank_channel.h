// The rank's side of a process world: receives its identity, shows that it is alive, and hands over its record, even while its
// main thread hangs inside a library.
//
//   watch    starts a thread that reports progress whenever the count has changed, and answers the launcher's request with
//            the current record; both functions are called from that thread. It ends the process if the launcher is gone.
//   finish   stops that thread and hands over the last record. Afterwards the process should end.
//   signals  open() makes this process ignore SIGPIPE: libraries write to connections whose other end may have left
//   threads  one owner; send_record and finish from the owner's thread
#pragma once

#include "backends/net/frames.h"
#include "backends/net/secret.h"
#include "backends/os/posix.h"
#include "backends/os/shared_memory.h"
#include "core/base/quantity.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>

namespace pdsim {

enum class Relaunch : char { none = 'n', clean = 'c', unclean = 'u' };

struct RankStart {
  int rank = 0;
  int size = 1;
  int launch = 1;
  Time patience{};
  int store_port = 0;                             // of the listening socket that rank 0 serves on `store_host`
  std::chrono::steady_clock::time_point epoch{};  // the launcher's time 0
  std::string work_dir;                           // holds the files of this world, over all launches
  std::string store_host = "127.0.0.1";
  std::string address{};  // of this rank's machine, for the libraries; empty: the loopback interface's
  bool stays = false;     // the process waits for another start after its last frame
  Secret store_secret{};  // the store's: drawn for each launch, so that strangers cannot use it
  std::string request{};  // what to run, in text that this layer passes on; without zero bytes
};

class RankChannel {
 public:
  // The descriptors that a rank process inherits.
  static constexpr int channel_descriptor = 3;
  static constexpr int memory_descriptor = 4;    // for the record ring
  static constexpr int listener_descriptor = 5;  // rank 0 only

  static constexpr char program_failed = 'f';

  // Waits for the launcher's start frame. unavailable when this process was not started by a launcher.
  static Result<std::unique_ptr<RankChannel>> open();
  // After finish: waits for the start of the next part, which the same process runs. False: there is none.
  bool next_part();
  ~RankChannel();

  const RankStart& start() const { return start_; }
  // Rank 0: the socket to serve the store on; the caller owns it. -1 on other ranks.
  int take_listener();
  // The memory for this rank's record ring; it is read when the rank can no longer report. Empty when there is none.
  std::span<std::byte> ring_memory();
  void watch(std::function<std::int64_t()> progress, std::function<std::string()> record);
  void send_record(const std::string& record);
  void finish(const std::string& record, Relaunch relaunch = Relaunch::none, bool failed = false);

 private:
  RankChannel(Descriptor socket, FrameReader reader, RankStart start, Descriptor listener);
  void watch_loop();
  void stop_watching();

  Descriptor socket_;
  FrameReader reader_;
  RankStart start_;
  Descriptor listener_;
  std::optional<SharedMemory> memory_;
  Descriptor stop_;  // an eventfd
  std::function<std::int64_t()> progress_;
  std::function<std::string()> record_;
  std::mutex writing_;
  std::thread watchdog_;
};

// The start word as text, for the socket.
std::string text_of(const RankStart& start);
Result<RankStart> rank_start_of(std::string_view text);

}  // namespace pdsim
