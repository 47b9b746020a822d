#include "core/collectives/plan.h"

#include <vector>

namespace pdsim {
namespace {

Slice part(const PlanArgs& a, int i, BufferId buffer, const std::vector<std::int64_t>* offsets) {
  const int wrapped = ((i % a.size) + a.size) % a.size;
  if (offsets == nullptr || offsets->empty()) return {wrapped * a.count, a.count, buffer};
  const std::int64_t first = (*offsets)[static_cast<std::size_t>(wrapped)];
  return {first, (*offsets)[static_cast<std::size_t>(wrapped) + 1] - first, buffer};
}

}  // namespace

Slice Slice::chunks(int of, int first, int many) const {
  const Slice begin = chunk(of, first), last = chunk(of, first + many - 1);
  return {begin.offset, last.offset + last.count - begin.offset, buffer};
}

Slice PlanArgs::input_part(int i) const {
  return part(*this, i, BufferId::input, splits == nullptr ? nullptr : &splits->input);
}

Slice PlanArgs::output_part(int i) const {
  return part(*this, i, BufferId::output, splits == nullptr ? nullptr : &splits->output);
}

}  // namespace pdsim
