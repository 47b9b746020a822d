// dtypes and reduce operations in MPI's terms: its own where it has them, pdsim's through MPI_Op_create elsewhere.
#pragma once

#include "core/base/result.h"
#include "core/base/types.h"
#include "core/semantics/capabilities.h"

#include <map>
#include <utility>

struct ompi_datatype_t;  // MPI_Datatype and MPI_Op point to them; mpi.h stays in source files
struct ompi_op_t;

namespace pdsim {

// Created on first use, freed with the object. Used on the engine's thread only.
class MpiReductions {
 public:
  MpiReductions() = default;
  MpiReductions(const MpiReductions&) = delete;
  MpiReductions& operator=(const MpiReductions&) = delete;

  Result<ompi_datatype_t*> type(DType dtype);
  // avg and premul_sum are sums of inputs that the caller has scaled.
  Result<ompi_op_t*> op(ReduceOp op, DType dtype);
  // Call it before MPI ends.
  void release();

 private:
  const Capabilities& own_ = capabilities_of("mpi");
  std::map<DType, ompi_datatype_t*> types_;
  std::map<std::pair<ReduceOp, DType>, ompi_op_t*> ops_;
};

}  // namespace pdsim
