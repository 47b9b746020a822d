#include "core/nn/storage.h"

#include "core/nn/tensor_state.h"

#include <cstring>
#include <vector>

namespace pdsim::nn {

void move_into(Tensor& t, Tensor& flat, std::int64_t offset) {
  TensorState& from = TensorState::of(t);
  TensorState& to = TensorState::of(flat);
  PDSIM_CHECK(from.dtype == to.dtype && offset >= 0 && offset + from.numel <= to.numel,
              "the elements lie in the flat tensor");
  const std::size_t at = to.offset + static_cast<std::size_t>(offset) * size_of(to.dtype);
  const auto bytes = static_cast<std::size_t>(t.view().bytes());
  if (bytes > 0 && t.has_memory() && flat.has_memory())
    std::memcpy(to.memory->bytes.data() + at, from.memory->bytes.data() + from.offset, bytes);
  from.memory = to.memory;
  from.offset = at;
}

void free_storage(Tensor& t) {
  Memory& memory = *TensorState::of(t).memory;
  if (memory.absent) return;
  memory.freed = memory.bytes.size();
  memory.absent = true;
  std::vector<std::byte>().swap(memory.bytes);
}

void allocate_storage(Tensor& t) {
  Memory& memory = *TensorState::of(t).memory;
  if (!memory.absent || !memory.freed) return;
  memory.bytes.resize(*memory.freed);
  memory.absent = false;
  memory.freed.reset();
}

}  // namespace pdsim::nn
