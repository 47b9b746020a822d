// A program of a user, as `pdsim launch` starts it: joins the others through the store of rank 0 and Gloo, keeps its flight record,
// and adds up forever; or `WHAT RANK CALL`: that rank does it to itself before that call.
//
//   WHAT   kill | stop (signals) | exit | raise | sleep | compute (forever) | skip (goes on to the next call) | end (all end well
//          there)

#include "backends/gloo/gloo_backend.h"
#include "backends/os/real_runtime.h"
#include "backends/process/record_file.h"
#include "backends/tcp_store/tcp_store.h"
#include "core/group/process_group.h"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unistd.h>

namespace pdsim {
namespace {

using namespace literals;

int number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atoi(text);
}

Status strike(std::string_view what) {
  if (what == "kill") std::raise(SIGKILL);
  if (what == "stop") std::raise(SIGSTOP);
  if (what == "exit") std::_Exit(7);
  while (what == "sleep") pause();
  for (volatile int turns = 0; what == "compute";) turns = turns ^ 1;
  if (what == "raise") throw std::runtime_error("the program gave up");
  return {};
}

Status run(FlightRecorder& recorder, Backend& backend, std::string_view what, int who, int when) {
  const int rank = number("RANK"), size = number("WORLD_SIZE");
  TcpStoreOptions options;
  options.host = std::getenv("MASTER_ADDR");
  options.port = number("MASTER_PORT");
  options.serve = rank == 0;
  options.world_size = size;
  auto store = TcpStore::open(options);
  PDSIM_TRY(store.status());
  auto communicator = backend.join(**store, {"world", rank, size, 60_s});
  PDSIM_TRY(communicator.status());
  ProcessGroup group("world", RankList::of_world(size), rank, 60_s, std::move(*communicator), recorder);
  for (int call = 0;; ++call) {
    if (what == "end" && call == when) return {};
    if (rank == who && call == when) PDSIM_TRY(strike(what));
    if (rank == who && call == when && what == "skip") PDSIM_TRY(wait(group.barrier()));
    std::array<float, 4> data{1, 2, 3, 4};
    PDSIM_TRY(wait(group.all_reduce({reinterpret_cast<std::byte*>(data.data()), DType::f32, 4}, ReduceOp::sum)));
  }
}

}  // namespace
}  // namespace pdsim

int main(int argc, char** argv) {
  using namespace pdsim;
  std::signal(SIGPIPE, SIG_IGN);
  const std::string_view what = argc > 1 ? argv[1] : "";
  RealRuntime runtime;
  auto file = RecordFile::open(number("RANK"));  // outlives the recorder
  FlightRecorder recorder(number("RANK"), runtime);
  if (file.ok() && *file) recorder.mirror(&(*file)->ring());
  const auto backend = make_gloo_backend(runtime);
  const Status status = backend.ok() ? run(recorder, **backend, what, argc > 2 ? std::atoi(argv[2]) : 0,
                                           argc > 3 ? std::atoi(argv[3]) : 0)
                                     : backend.status();
  if (!status.ok()) std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
