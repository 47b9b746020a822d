// One collective call in MPI's terms: types, operations, counts, and the buffers in the form that MPI needs.
#pragma once

#include "backends/mpi/mpi_transport.h"
#include "backends/mpi/reductions.h"
#include "core/collectives/collective.h"

#include <cstddef>
#include <string_view>
#include <vector>

struct ompi_request_t;  // MPI_Request points to it; mpi.h stays in source files

namespace pdsim {

// It must live until MPI is done with it: MPI reads the copies and the lists of counts until then.
struct NativeCall {
  Collective call;
  MpiGroup group;
  ompi_datatype_t* type = nullptr;
  ompi_op_t* op = nullptr;
  const void* input = nullptr;  // or MPI_IN_PLACE
  void* output = nullptr;
  int count = 0;
  std::vector<std::byte> copy;
  std::vector<int> send_counts, send_offsets, receive_counts, receive_offsets;
  ompi_request_t* request = nullptr;  // set by `start`

  bool is_root() const { return group.rank == call.root; }
};

// Fills in `c` from its call and group. Errors: limit_exceeded, and those of creating MPI's types and operations.
Status prepare(NativeCall& c, MpiReductions& reductions);

struct NativeRow {
  CollectiveKind kind;
  int (*start)(NativeCall&);  // MPI's nonblocking function; it sets the request
  std::string_view function;
  int (*blocking)(NativeCall&) = nullptr;  // the function of users who do not overlap; bench --raw times both
  std::string_view blocking_function = {};
  bool takes_in_place = false;  // MPI_IN_PLACE for its own in-place form
};
// Null: MPI does not have this collective.
const NativeRow* native_row(CollectiveKind kind);

}  // namespace pdsim
