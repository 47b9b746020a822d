#include "backends/mpi/mpi_engine.h"

#include "backends/mpi/errors.h"

#include <mpi.h>

#include <cstdlib>
#include <utility>

namespace pdsim {
namespace {

// Without mpirun's variables Open MPI would start a daemon for this one process; and what it does not find on this machine
// (fabrics) is no news to anybody.
void prepare_environment() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("PMIX_RANK") == nullptr)
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 0);
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  setenv("OMPI_MCA_shmem", "mmap", 0);  // see mpi_slots.cpp
}

}  // namespace

Result<std::unique_ptr<MpiEngine>> MpiEngine::begin() {
  std::unique_ptr<MpiEngine> engine(new MpiEngine);
  MpiEngine& e = *engine;
  e.thread_ = std::thread([&e] { e.loop(); });
  std::unique_lock lock(e.mutex_);
  e.changed_.wait(lock, [&e] { return e.initialized_.has_value(); });
  if (!e.initialized_->ok()) return e.initialized_->error();
  return engine;
}

MpiEngine::~MpiEngine() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  thread_.join();
}

Status MpiEngine::initialize() {
  int before = 0;
  MPI_Initialized(&before);
  if (before != 0) return Error{Code::unavailable, "MPI can be initialised only once in a process, and already was", {}};
  prepare_environment();
  int provided = 0;
  PDSIM_TRY(mpi_status(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread"));
  up_ = true;
  if (provided < MPI_THREAD_SERIALIZED)
    return Error{
        Code::unavailable, "this MPI was built without threads, and pdsim calls it from two, one at a time", {}};
  PDSIM_TRY(mpi_status(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler"));
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size_);
  void* value = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, static_cast<void*>(&value), &found);
  if (found != 0 && value != nullptr) highest_tag_ = *static_cast<int*>(value);
  return {};
}

Status MpiEngine::health() const {
  if (!operations_.aborted()) return {};
  return Error{Code::group_unusable, "this rank has aborted MPI, which cannot cancel pending operations", {}};
}

// A task that came while this thread drove is run by it: the thread that pushed it could not.
void MpiEngine::hand_back() {
  do {
    run_tasks();
    const bool in_flight = !operations_.aborted() && !operations_.empty();
    if (in_flight != in_flight_.load(std::memory_order_relaxed)) in_flight_ = in_flight;
    driver_ = std::thread::id();
  } while (has_tasks_ && take_over());
}

void MpiEngine::push(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
    has_tasks_ = true;
  }
  if (!drives() && take_over()) hand_back();
}

bool MpiEngine::run_tasks() {
  bool any = false;
  while (has_tasks_) {
    std::vector<std::function<void()>> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
      has_tasks_ = false;
    }
    for (const auto& task : tasks) task();
    any = true;
  }
  return any;
}

bool MpiEngine::drive(int polls) {
  if (!take_over()) return false;
  const bool ran = run_tasks();
  const bool begun = ran || operations_.has_added();
  bool ended = operations_.poll();
  for (int i = 1; i < polls && !ended && !has_tasks_; ++i) ended = operations_.poll();
  hand_back();
  return begun || ended;
}

void MpiEngine::run_and_wait(const std::function<void()>& f) {
  if (drives()) return f();
  std::atomic<bool> done = false;
  push([&] {
    f();
    done = true;
  });
  while (!done)
    if (!drive(1)) std::this_thread::yield();
}

Status MpiEngine::call(std::function<Status()> f) {
  Status status;
  run_and_wait([&] { status = operations_.aborted() ? health() : f(); });
  return status;
}

void MpiEngine::help(const std::atomic<bool>& is_over, Clock::time_point deadline) {
  if (drives()) return;
  constexpr std::chrono::milliseconds patience(200);
  constexpr int polls_at_once = 32, drives_between_looks = 8;  // at the clock
  (void)drive(polls_at_once);
  if (is_over) return;  // as short calls are; the engine's thread need not be kept away for them
  ++helpers_;
  std::optional<Clock::time_point> give_up;
  for (int drives = 1; !is_over; ++drives) {
    const bool news = drive(polls_at_once);
    if (news) give_up.reset();
    if (is_over || (news && drives % drives_between_looks != 0)) continue;
    const Clock::time_point now = Clock::now();
    if (!give_up) give_up = now + patience;
    if (now > deadline || now > *give_up) break;
    std::this_thread::yield();
  }
  --helpers_;
}

void MpiEngine::add(std::unique_ptr<PolledOperation> operation) {
  operations_.add(std::move(operation));
  starts_.store(starts_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);  // who drives is alone
}

void MpiEngine::abort(const Error& reason) {
  run_and_wait([&] { operations_.abort(reason); });  // behind what was begun before, which ends with this reason too
}

// An operation that was started may have nobody who waits for it.
void MpiEngine::watch() {
  if (!in_flight_ || !sleeps_) return;
  const std::lock_guard lock(mutex_);
  sleeps_ = false;
  changed_.notify_all();
}

// Runs on the engine's thread when nothing is in flight that nobody helps. Soon after a start it looks again by itself, which
// spares each of the next starts a wake-up.
void MpiEngine::sleep_until_wanted() {
  constexpr std::chrono::microseconds look(500);
  constexpr int looks_without_start = 400;
  std::uint64_t seen = starts_;
  for (int quiet = 0; quiet < looks_without_start; ++quiet) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, look, [this] { return stopping_; });
    if (stopping_ || ((in_flight_ || has_tasks_) && helpers_ == 0)) return;
    if (seen != starts_ || in_flight_) quiet = 0;
    seen = starts_;
  }
  std::unique_lock lock(mutex_);
  sleeps_ = true;
  changed_.wait(lock, [this] { return stopping_ || !sleeps_ || in_flight_; });
  sleeps_ = false;
}

void MpiEngine::drive_for_nobody() {
  Clock::time_point last_news = Clock::now();
  while ((in_flight_ || has_tasks_) && helpers_ == 0) {
    constexpr int polls_at_once = 4;
    if (drive(polls_at_once)) {
      last_news = Clock::now();
      continue;
    }
    std::this_thread::yield();
    std::unique_lock lock(mutex_);
    const auto nap = nap_after(Clock::now() - last_news);
    if (!stopping_ && nap.count() > 0) changed_.wait_for(lock, nap, [this] { return stopping_; });
    if (stopping_) return;
  }
}

void MpiEngine::loop() {
  Status status = initialize();
  const bool well = status.ok();
  {
    const std::lock_guard lock(mutex_);
    initialized_ = std::move(status);
    changed_.notify_all();
  }
  const auto is_stopping = [this] {
    const std::lock_guard lock(mutex_);
    return stopping_;
  };
  while (well && !is_stopping()) {
    sleep_until_wanted();
    drive_for_nobody();
  }
  if (well) (void)drive(1);
  end_mpi();
}

void MpiEngine::end_mpi() {
  if (!up_ || operations_.aborted() || !operations_.empty()) return;
  MPI_Finalize();
}

}  // namespace pdsim
