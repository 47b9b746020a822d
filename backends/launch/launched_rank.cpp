#include "backends/launch/launched_rank.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace pdsim {
namespace {

struct Pipe {
  Descriptor out, in;
};

Result<Pipe> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return system_error("cannot make a pipe");
  return Pipe{Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace

Result<LaunchedRank> LaunchedRank::start(const std::vector<std::string>& command, int rank, const sigset_t& signal_mask,
                                         const std::vector<std::string>& environment, int control) {
  Result<Pipe> out = make_pipe(), err = make_pipe(), failure = make_pipe();
  for (const auto* made : {&out, &err, &failure})
    if (!made->ok()) return made->error();
  std::vector<Child::Inherited> inherited{
      {out->in.get(), STDOUT_FILENO}, {err->in.get(), STDERR_FILENO}, {failure->in.get(), -1}};
  if (control >= 0) inherited.push_back({control, STDERR_FILENO + 1});
  Result<Child> child = Child::start(command, inherited, signal_mask, environment);
  if (!child.ok()) return child.error();
  for (Pipe* pipe : {&*out, &*err, &*failure}) pipe->in.reset();
  return watched(std::move(*child), rank, std::move(out->out), std::move(err->out), std::move(failure->out));
}

Result<LaunchedRank> LaunchedRank::adopt(int rank, const std::function<Result<pid_t>(int out, int err)>& fork) {
  Result<Pipe> out = make_pipe(), err = make_pipe();
  for (const auto* made : {&out, &err})
    if (!made->ok()) return made->error();
  const Result<pid_t> pid = fork(out->in.get(), err->in.get());
  if (!pid.ok()) return pid.error();
  return watched(Child::adopted(*pid), rank, std::move(out->out), std::move(err->out), {});
}

LaunchedRank LaunchedRank::watched(Child child, int rank, Descriptor out, Descriptor err, Descriptor failure) {
  for (const Descriptor* pipe : {&out, &err, &failure})
    if (*pipe) fcntl(pipe->get(), F_SETFL, O_NONBLOCK);
  Descriptor end(static_cast<int>(syscall(SYS_pidfd_open, child.pid(), 0)));
  const std::string prefix = rank < 0 ? std::string() : fmt::format("[rank {}] ", rank);
  return LaunchedRank(std::move(child), std::move(end), std::move(failure), LineSource(std::move(out), prefix),
                      LineSource(std::move(err), prefix));
}

LaunchedRank::LaunchedRank(Child child, Descriptor end, Descriptor failure, LineSource out, LineSource err)
    : child_(std::move(child)),
      end_(std::move(end)),
      failure_(std::move(failure)),
      out_(std::move(out)),
      err_(std::move(err)) {}

int LaunchedRank::exec_error() const {
  int why = 0;
  return ::read(failure_.get(), &why, sizeof why) == static_cast<ssize_t>(sizeof why) ? why : 0;
}

void LaunchedRank::add_to(std::vector<pollfd>& waiting, bool out, bool err) const {
  if (end_) waiting.push_back({end_.get(), POLLIN, 0});
  if (out && out_.open()) waiting.push_back({out_.fd(), POLLIN, 0});
  if (err && err_.open()) waiting.push_back({err_.fd(), POLLIN, 0});
}

bool LaunchedRank::read(LineSink& out, LineSink& err) {
  if (child_.poll()) end_.reset();
  const bool printed = !out.full() && out_.service(out);
  const bool complained = !err.full() && err_.service(err);
  return printed || complained;
}

void LaunchedRank::finish(LineSink& out, LineSink& err) {
  out_.finish(out);
  err_.finish(err);
}

}  // namespace pdsim
