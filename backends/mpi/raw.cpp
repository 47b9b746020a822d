#include "backends/mpi/raw.h"

#include "backends/mpi/errors.h"
#include "backends/mpi/native_call.h"

#include <mpi.h>

#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace pdsim {
namespace {

int all_reduce(NativeCall& c) { return MPI_Allreduce(c.input, c.output, c.count, c.type, c.op, c.group.comm); }
int reduce_to_root(NativeCall& c) {
  return MPI_Reduce(c.input, c.is_root() ? c.output : nullptr, c.count, c.type, c.op, c.call.root, c.group.comm);
}
// pdsim's has an input and an output; MPI's one buffer.
int broadcast(NativeCall& c) {
  if (c.is_root() && c.call.input.data != c.call.output.data && c.count > 0)
    std::memcpy(c.output, c.call.input.data, static_cast<std::size_t>(c.call.input.bytes()));
  return MPI_Bcast(c.output, c.count, c.type, c.call.root, c.group.comm);
}
int all_gather(NativeCall& c) {
  return MPI_Allgather(c.input, c.count, c.type, c.output, c.count, c.type, c.group.comm);
}
int gather(NativeCall& c) {
  return MPI_Gather(c.input, c.count, c.type, c.is_root() ? c.output : nullptr, c.count, c.type, c.call.root,
                    c.group.comm);
}
int scatter(NativeCall& c) {
  return MPI_Scatter(c.is_root() ? c.input : nullptr, c.count, c.type, c.output, c.count, c.type, c.call.root,
                     c.group.comm);
}
int reduce_scatter(NativeCall& c) {
  return MPI_Reduce_scatter_block(c.input, c.output, c.count, c.type, c.op, c.group.comm);
}
int all_to_all(NativeCall& c) {
  return MPI_Alltoall(c.input, c.count, c.type, c.output, c.count, c.type, c.group.comm);
}
int barrier(NativeCall& c) { return MPI_Barrier(c.group.comm); }
int scan(NativeCall& c) { return MPI_Scan(c.input, c.output, c.count, c.type, c.op, c.group.comm); }
int exscan(NativeCall& c) { return MPI_Exscan(c.input, c.output, c.count, c.type, c.op, c.group.comm); }

struct RawRow {
  CollectiveKind kind;
  int (*call)(NativeCall&);  // blocks
  std::string_view function;
};
constexpr std::array rows{
    RawRow{CollectiveKind::all_reduce, all_reduce, "MPI_Allreduce"},
    RawRow{CollectiveKind::reduce, reduce_to_root, "MPI_Reduce"},
    RawRow{CollectiveKind::broadcast, broadcast, "MPI_Bcast"},
    RawRow{CollectiveKind::all_gather, all_gather, "MPI_Allgather"},
    RawRow{CollectiveKind::gather, gather, "MPI_Gather"},
    RawRow{CollectiveKind::scatter, scatter, "MPI_Scatter"},
    RawRow{CollectiveKind::reduce_scatter, reduce_scatter, "MPI_Reduce_scatter_block"},
    RawRow{CollectiveKind::all_to_all, all_to_all, "MPI_Alltoall"},
    RawRow{CollectiveKind::barrier, barrier, "MPI_Barrier"},
    RawRow{CollectiveKind::scan, scan, "MPI_Scan"},
    RawRow{CollectiveKind::exscan, exscan, "MPI_Exscan"},
};

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
    for (const RawRow& r : rows)
      if (form == blocking && r.kind == call.kind)
        return Run([prepared, &r] { return mpi_collective_status(r.call(*prepared), r.function); });
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
