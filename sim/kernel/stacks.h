// Stacks: the fibers' stacks of one run, cut from a few large mappings, so that a million of them need no allocation each.
//
//   memory    only pages that were touched; all of it is freed with the object and the last fiber. When memory runs out: like
//             operator new, the new handler, and then std::bad_alloc
//   overflow  the first 8,192 stacks end at a guard page: a fiber that overflows faults there. With more guards the kernel
//             runs out of mappings; a world of that size has run the same program on fewer ranks first.
//   source    Boost.Context's StackAllocator concept (allocate, deallocate)
#pragma once

#include <boost/context/stack_context.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>

namespace pdsim::sim {

class Stacks {
 public:
  explicit Stacks(std::size_t bytes);  // of one stack: whole pages

  // The address space that `many` stacks of `bytes` each take.
  static std::int64_t address_space(std::size_t bytes, int many);

  boost::context::stack_context allocate();
  void deallocate(boost::context::stack_context& stack) noexcept;

 private:
  struct Slab;
  std::shared_ptr<Slab> slab_;  // Boost copies the allocator into every fiber
};

}  // namespace pdsim::sim
