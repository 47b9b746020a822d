#include "backends/mpi/raw.h"

#include "backends/mpi/errors.h"
#include "backends/mpi/native_call.h"

#include <mpi.h>

#include <memory>
#include <utility>

namespace pdsim {
namespace {

// The pdsim side of MPI is idle meanwhile (raw_caller.h), so this thread may call it: MPI_THREAD_SERIALIZED.
class MpiRawCaller final : public RawCaller {
 public:
  MpiRawCaller(std::shared_ptr<MpiJob> job, const MpiGroup& group) : job_(std::move(job)), group_(group) {}
  ~MpiRawCaller() override {
    (void)job_->engine().call([this] {
      MPI_Comm_free(&group_.plans);
      MPI_Comm_free(&group_.comm);
      return Status{};
    });
  }

  Result<Run> prepare(const Collective& call, int form) override {
    constexpr int nonblocking = 0, blocking = 1;
    auto prepared = std::make_shared<NativeCall>();
    prepared->call = call;
    prepared->group = group_;
    const NativeRow* native = native_row(call.kind);
    PDSIM_TRY(job_->engine().call([&] { return pdsim::prepare(*prepared, job_->reductions()); }));
    if (form == nonblocking && native != nullptr)
      return Run([prepared, native] {
        const int code = native->start(*prepared);
        return mpi_collective_status(code == MPI_SUCCESS ? MPI_Wait(&prepared->request, MPI_STATUS_IGNORE) : code,
                                     native->function);
      });
    if (form == blocking && native != nullptr && native->blocking != nullptr)
      return Run(
          [prepared, native] { return mpi_collective_status(native->blocking(*prepared), native->blocking_function); });
    return Error{Code::unsupported, "MPI has no such function", {}};
  }

 private:
  std::shared_ptr<MpiJob> job_;
  MpiGroup group_;
};

}  // namespace

std::unique_ptr<RawCaller> make_mpi_raw_caller(std::shared_ptr<MpiJob> job, const MpiGroup& group) {
  return std::make_unique<MpiRawCaller>(std::move(job), group);
}

}  // namespace pdsim
