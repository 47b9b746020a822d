// The connection between a job's agents and rank 0, which carries frames (backends/net/frames.h).
//
//   hello      the version of this protocol, the agent's rank, the size of the job, the version of pdsim, the job's name and its
//              secret; answered by welcome, or by goodbye with the reason. The first three are the same in every version of the
//              protocol, so that ranks of different versions can report each other
//   trust      there is no authentication; with a secret only a process that sends it is accepted as a rank. It is sent in the
//              clear
//   bounds     before the hello a connection may send job_hello_limit bytes (pending_links.h), before the answer rank 0
//              job_answer_limit; then a frame may have FrameReader::longest. Names of jobs are compared up to job_name_limit
//   lost       a machine that vanishes silently is noticed after half a minute
#pragma once

#include "backends/launch/job_place.h"
#include "backends/net/frames.h"
#include "backends/os/posix.h"
#include "core/base/quantity.h"

#include <string>

namespace pdsim {

constexpr int job_protocol = 4;

constexpr std::size_t job_hello_limit = 4096, job_answer_limit = 65536, job_name_limit = 1024;

struct JobLink {
  Descriptor fd;
  FrameReader reader;
  bool closed = false;
};

struct JobHello {
  int protocol = job_protocol;
  Rank rank = 0;
  int size = 1;
  bool would_serve = false;  // not an agent: a process that claims rank 0, and found its place taken
  std::string version;
  std::string name;    // without zero bytes
  std::string secret;  // empty: none
};
std::string text_of(const JobHello& hello);
Result<JobHello> job_hello_of(std::string_view text);

// Why a process with that secret is refused, as both sides report it; empty when the secrets match.
std::string secret_problem(const JobPlace& place, const JobHello& hello);

// Exit statuses of a rank that never started running.
constexpr int exit_refused = 2, exit_missing = 3, exit_failed = 4;

// The last frame of a job: the exit status of all ranks, whether processes are to be killed, and why (may be empty).
struct JobGoodbye {
  int status = 0;
  bool kills = false;
  std::string why;
};
std::string text_of(const JobGoodbye& goodbye);
JobGoodbye job_goodbye_of(std::string_view text);

// For rank 0. Errors: invalid_argument, with the valid form. If another process listens there, it is asked for its identity.
Result<Listener> listen_for_job(const JobPlace& place);

// For any rank, including 0: retries until rank 0 has answered or `within` is over. Errors: rendezvous_timeout (no answer),
// invalid_argument (rank 0's reason to refuse).
Result<JobLink> connect_to_job(const JobPlace& place, Time within);

// Blocking calls write the frames; if the other side takes nothing, or its machine is silent, for half a minute, the connection
// ends.
void prepare_job_socket(int fd);

// The address of this machine on the way to rank 0; empty within one machine's memory.
std::string own_address(const JobLink& link);

}  // namespace pdsim
