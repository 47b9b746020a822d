#include "backends/mpi/native.h"

#include "backends/mpi/errors.h"
#include "backends/mpi/native_call.h"
#include "core/base/check.h"
#include "core/collectives/collective_shape.h"
#include "core/collectives/plan_runner.h"
#include "core/collectives/reduce.h"

#include <fmt/format.h>
#include <mpi.h>

#include <memory>
#include <utility>

namespace pdsim {
namespace {

class NativeOperation final : public PolledOperation {
 public:
  NativeOperation(MpiEngine& engine, const NativeRow& row, const MpiGroup& group, Collective call,
                  Callback<Status> done)
      : engine_(engine), row_(row), done_(std::move(done)) {
    call_.call = std::move(call);
    call_.group = group;
  }

  // After an error there is nothing to poll.
  Status start(MpiReductions& reductions) {
    PDSIM_TRY(prepare(call_, reductions));
    return mpi_status(row_.start(call_), row_.function);
  }

  bool poll() override {
    int over = 0;
    const int code = MPI_Test(&call_.request, &over, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
      fail(mpi_collective_status(code, row_.function).error());
    else if (over != 0)
      finish({});
    return !done_;
  }
  void abort(const Error& reason) override { finish(reason); }

 private:
  // The messages that it consists of may still be on their way into the call's memory.
  void fail(const Error& error) {
    finish(error);
    engine_.abort(
        {Code::group_unusable, fmt::format("an earlier failure left a collective unfinished: {}", error.message), {}});
  }
  void finish(Status status) {
    if (!done_) return;
    if (status.ok()) divide_average();
    const auto done = std::exchange(done_, nullptr);
    done(std::move(status));
  }
  void divide_average() {
    const Collective& call = call_.call;
    const bool averages = row(call.kind).reduces && call.op == ReduceOp::avg && !row(call.dtype).floating;
    if (averages && call.output.data != nullptr && output_elements(call, call_.group.rank, call_.group.size) > 0)
      divide(call.output, call_.group.size);
  }

  MpiEngine& engine_;
  const NativeRow& row_;
  NativeCall call_;
  Callback<Status> done_;
};

}  // namespace

void start_native(MpiEngine& engine, MpiReductions& reductions, const MpiGroup& group, Collective call,
                  Callback<Status> done) {
  const NativeRow* native = native_row(call.kind);
  PDSIM_CHECK(native != nullptr, "a collective that MPI does not have was handed to MPI");
  if (Status health = engine.health(); !health.ok()) return done(std::move(health));
  auto operation = std::make_unique<NativeOperation>(engine, *native, group, std::move(call), std::move(done));
  if (Status status = operation->start(reductions); !status.ok()) return operation->abort(status.error());
  if (!operation->poll()) engine.add(std::move(operation));
}

}  // namespace pdsim
