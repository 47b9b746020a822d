#include "backends/mpi/mpi_engine.h"

#include "backends/mpi/errors.h"

#include <mpi.h>

#include <cstdlib>
#include <future>
#include <utility>

namespace pdsim {
namespace {

using Clock = std::chrono::steady_clock;

// Without mpirun's variables Open MPI would start a daemon for this one process; and what it does not find on this machine
// (fabrics) is no news to anybody.
void prepare_environment() {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("PMIX_RANK") == nullptr)
    setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  setenv("OMPI_MCA_btl_base_warn_component_unused", "0", 0);
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
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
  if (before != 0) return Error{Code::unavailable, "MPI can begin only once in a process, and has already", {}};
  prepare_environment();
  int provided = 0;
  PDSIM_TRY(mpi_status(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread"));
  up_ = true;
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
  if (!broken_) return {};
  return Error{Code::group_unusable, "this rank has given up MPI, which cannot cancel what it has begun", {}};
}

void MpiEngine::run(std::function<void()> f) {
  if (std::this_thread::get_id() == thread_.get_id()) return f();
  enqueue(std::move(f));
}

void MpiEngine::enqueue(std::function<void()> f) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(f));
  changed_.notify_all();
}

Status MpiEngine::call(std::function<Status()> f) {
  auto outcome = std::make_shared<std::promise<Status>>();
  std::future<Status> future = outcome->get_future();
  run([this, outcome, call = std::move(f)] { outcome->set_value(broken_ ? health() : call()); });
  return future.get();
}

void MpiEngine::add(std::unique_ptr<Operation> operation) { added_.push_back(std::move(operation)); }

void MpiEngine::break_off(const Error& reason) {
  const auto all_give_up = [this, reason] {
    if (broken_.exchange(true)) return;
    for (auto* list : {&operations_, &added_})
      for (const auto& operation : *list)
        if (operation) operation->give_up(reason);
  };
  if (std::this_thread::get_id() == thread_.get_id()) return all_give_up();
  std::promise<void> done;
  enqueue([&] {  // behind what was begun before, which ends with this reason too
    all_give_up();
    done.set_value();
  });
  done.get_future().wait();
}

// False: the engine is to stop.
bool MpiEngine::take_tasks(std::vector<std::function<void()>>& tasks) {
  constexpr std::chrono::milliseconds eager(200);
  constexpr std::chrono::microseconds nap(200);
  tasks.clear();
  std::unique_lock lock(mutex_);
  const auto is_wanted = [this] { return stopping_ || !tasks_.empty(); };
  if ((operations_.empty() && added_.empty()) || broken_) {
    changed_.wait(lock, is_wanted);
  } else if (Clock::now() - last_news_ > eager) {
    changed_.wait_for(lock, nap, is_wanted);
  }
  tasks.swap(tasks_);
  return !stopping_ || !tasks.empty();
}

bool MpiEngine::poll_all() {
  bool news = !added_.empty();
  for (auto& operation : added_) operations_.push_back(std::move(operation));
  added_.clear();
  for (auto& operation : operations_) {
    if (broken_) return false;
    if (!operation->poll()) continue;
    operation.reset();
    news = true;
  }
  std::erase(operations_, nullptr);
  return news;
}

void MpiEngine::loop() {
  Status status = initialize();
  const bool well = status.ok();
  {
    const std::lock_guard lock(mutex_);
    initialized_ = std::move(status);
    changed_.notify_all();
  }
  std::vector<std::function<void()>> tasks;
  while (well && take_tasks(tasks)) {
    for (const auto& task : tasks) task();
    const bool news = poll_all() || !tasks.empty();
    if (news)
      last_news_ = Clock::now();
    else
      std::this_thread::yield();
  }
  end_mpi();
}

void MpiEngine::end_mpi() {
  if (!up_ || broken_ || !operations_.empty() || !added_.empty()) return;
  MPI_Finalize();
}

}  // namespace pdsim
