#include "core/collectives/proof/apart.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace pdsim {
namespace {

constexpr rlim_t processor_seconds = 30;
constexpr unsigned real_seconds = 300;  // far more than those take on a busy machine

template <std::size_t N>
void keep(std::array<char, N>& to, std::string_view text) {
  const std::size_t many = std::min(text.size(), N - 1);
  std::memcpy(to.data(), text.data(), many);
  to[many] = '\0';
}

// Memory that both processes share: the progress of the proof, and then its result.
struct SharedProof {
  PlanCase at;
  Rank rank = 0;
  int round = 0;  // that the rank works on
  std::int64_t cases = 0;
  bool done = false, ok = false;
  std::array<char, 4096> problem{}, drawn{};
};

class SharedPage {
 public:
  SharedPage() {
    void* page = mmap(nullptr, sizeof(SharedProof), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page != MAP_FAILED) proof_ = new (page) SharedProof;
  }
  ~SharedPage() {
    if (proof_ != nullptr) munmap(proof_, sizeof(SharedProof));
  }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  SharedProof* get() const { return proof_; }

 private:
  SharedProof* proof_ = nullptr;
};

// The plan, and in `shared` where it is.
Plan followed(const Algorithm& algorithm, PlanArgs args, SharedProof& shared) {
  const auto here = [&](int round) {
    shared.rank = args.rank;
    shared.round = round;
  };
  here(1);
  Plan plan = algorithm.begin(args);
  for (int round = 1;; ++round) {
    here(round);
    if (!plan.next()) co_return;
    co_yield plan.steps();
  }
}

[[noreturn]] void prove_here(const Algorithm& algorithm, const ProofOptions& options, SharedProof& shared) {
  for (const int signal : {SIGFPE, SIGSEGV, SIGBUS, SIGILL, SIGABRT, SIGXCPU, SIGALRM}) std::signal(signal, SIG_DFL);
  const rlimit no_core{0, 0}, time{processor_seconds, processor_seconds + 1};
  (void)setrlimit(RLIMIT_CORE, &no_core);
  (void)setrlimit(RLIMIT_CPU, &time);
  (void)alarm(real_seconds);
  const PlanSource plans = [&](const PlanArgs& args) {
    shared.at = {args.size, args.count, args.root, args.ranks_per_node, false};
    shared.rank = args.rank;
    shared.round = 0;
    return followed(algorithm, args, shared);
  };
  const PlanProof proof = prove(algorithm, plans, options);
  shared.ok = proof.ok;
  shared.at = proof.at;
  shared.rank = proof.rank;
  shared.round = proof.round;
  shared.cases = proof.cases;
  keep(shared.problem, proof.problem);
  keep(shared.drawn, proof.drawn);
  shared.done = true;
  _exit(0);
}

std::string_view what_it_does(int signal) {
  constexpr std::array<std::pair<int, std::string_view>, 7> endings{
      {{SIGFPE, "divides by zero"},
       {SIGSEGV, "accesses memory outside its buffers"},
       {SIGBUS, "accesses memory outside its buffers"},
       {SIGILL, "runs into an illegal instruction"},
       {SIGABRT, "aborts"},
       {SIGXCPU, "never returns"},
       {SIGALRM, "waits, and never returns"}}};
  for (const auto& one : endings)
    if (one.first == signal) return one.second;
  return "ends the process";
}

PlanProof ended_by(int status, const Algorithm& algorithm, const SharedProof& shared) {
  PlanProof proof;
  proof.ok = false;
  proof.at = shared.at;
  proof.rank = shared.rank;
  proof.round = shared.round;
  const std::string_view ending = WIFSIGNALED(status) ? what_it_does(WTERMSIG(status)) : "ends the process";
  const std::string where =
      shared.round == 0 ? fmt::format("the scratch of rank {}: its function", shared.rank)
                        : fmt::format("round {} of rank {} is never reached: the plan", shared.round, shared.rank);
  proof.problem = fmt::format("{}: {} {}", name_with_ranks(algorithm, shared.at.size), where, ending);
  return proof;
}

// A process sets up its unwinder once, at its first exception. A fork while another thread does that would wait at its own first exception
// for a thread that it does not have.
void throw_once() {
  try {
    throw 0;
  } catch (int) {
  }
}

}  // namespace

PlanProof prove_apart(const Algorithm& algorithm, const ProofOptions& options) {
  const SharedPage page;
  throw_once();
  const pid_t child = page.get() == nullptr ? -1 : fork();
  if (child < 0) return prove(algorithm, options);
  if (child == 0) prove_here(algorithm, options, *page.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) break;
  const SharedProof& shared = *page.get();
  if (!shared.done) return ended_by(status, algorithm, shared);
  PlanProof proof;
  proof.ok = shared.ok;
  proof.cases = shared.cases;
  proof.at = shared.at;
  proof.problem = shared.problem.data();
  proof.drawn = shared.drawn.data();
  proof.rank = shared.rank;
  proof.round = shared.round;
  return proof;
}

}  // namespace pdsim
