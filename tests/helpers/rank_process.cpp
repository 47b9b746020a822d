// A rank process for the tests of the process world: does what its first argument says.
//
//   return | print | relaunch | exit N | hang R | kill R | abort R | stop R | mute | interrupt R
//   R is the rank that does it; the others return. interrupt: as if Ctrl-C came to the launcher. mute: never shows that it lives.

#include "backends/process/rank_channel.h"
#include "core/record/record_ring.h"

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace {

[[noreturn]] void hang() {
  for (;;) pause();
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "return";
  const int who = argc > 2 ? std::atoi(argv[2]) : 0;
  if (what == "mute") hang();
  auto channel = pdsim::RankChannel::open();
  if (!channel.ok()) {
    std::fprintf(stderr, "%s\n", channel.error().message.c_str());
    return 3;
  }
  const pdsim::RankStart& me = (*channel)->start();
  const std::span<std::byte> memory = (*channel)->ring_memory();
  pdsim::RecordRing ring(memory, pdsim::RecordRing::shape_of(memory.size()), me.rank, me.launch);
  pdsim::Call call;
  call.name = "all_reduce";
  ring.write(call);
  std::atomic<std::int64_t> count = 1;
  const std::string name = "record of rank " + std::to_string(me.rank);
  (*channel)->watch([&] { return count.load(); }, [&] { return name + ", asked"; });
  const std::string note = me.work_dir + "/note" + std::to_string(me.rank);
  if (what == "relaunch" && me.launch == 1) {
    std::ofstream(note) << "written in launch 1";
    (*channel)->finish(name, pdsim::Relaunch::unclean);
    _exit(0);
  }
  std::string text;
  if (what == "relaunch") std::getline(std::ifstream(note), text);
  if (what == "print") std::printf("rank %d speaks\n", me.rank);
  if (what == "exit") return who;
  if (me.rank == who && what == "hang") hang();
  if (me.rank == who && what == "interrupt") {
    kill(getppid(), SIGINT);
    hang();
  }
  if (me.rank == who && what == "kill") raise(SIGKILL);
  if (me.rank == who && what == "abort") std::abort();
  if (me.rank == who && what == "stop") raise(SIGSTOP);
  (*channel)->finish(name + (text.empty() ? "" : ": " + text));
  return 0;
}
