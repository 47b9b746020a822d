// The rendezvous of a world of real processes on this machine.
//
//   file     a FileStore on a real file of the world's folder, which outlives a relaunch
//   folder   a GlooFileStore on several files
//   tcp, env a TcpStore at the port that the launcher chose and rank 0 serves, whatever address the program names: ranks
//            of this machine must not meet strangers. The server ends with rank 0's rendezvous
//   records  every store call goes into the flight record, and reads of values left by an earlier launch are noted
#pragma once

#include "backends/os/files_below.h"
#include "backends/tcp_store/tcp_store.h"
#include "core/record/flight_record.h"
#include "core/store/rendezvous.h"

namespace pdsim {

class RealRendezvous final : public Rendezvous {
 public:
  struct Options {
    int world_size = 1;
    int launch = 1;
    Rank rank = 0;
    int port = 0;       // of the world's own TCPStore
    int listener = -1;  // rank 0: the listening socket behind that port; owned from here on
    std::string host = "127.0.0.1";
    Secret secret{};
  };
  // All must outlive the rendezvous and its stores.
  RealRendezvous(Options options, FilesBelow& files, FlightRecorder& recorder)
      : options_(options), files_(files), recorder_(recorder) {}

  Result<std::unique_ptr<Store>> tcp(std::string_view address, Time timeout) override;
  Result<std::unique_ptr<Store>> env(Time timeout) override;
  Result<std::unique_ptr<Store>> file(std::string_view path, Time timeout) override;
  Result<std::unique_ptr<Store>> folder(std::string_view path, Time timeout) override;

 private:
  Result<std::unique_ptr<Store>> world_store(Time timeout);

  Options options_;
  FilesBelow& files_;
  FlightRecorder& recorder_;
  std::shared_ptr<TcpServer> server_;
};

}  // namespace pdsim
