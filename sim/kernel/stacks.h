// Stacks: the fibers' stacks of one run, cut from a few large mappings, so that a million of them need no allocation each.
//
//   memory    only pages that were touched; all of it goes with the object and the last fiber. Without any left: as operator new,
//             the new handler, and then std::bad_alloc
//   overflow  the first 8,192 stacks end where nothing may be touched: a fiber that overflows faults there. More such guards than
//             that, and the kernel runs out of mappings; a world of that size first ran the same program on fewer ranks.
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

  // What `many` stacks of `bytes` each take of the address space.
  static std::int64_t address_space(std::size_t bytes, int many);

  boost::context::stack_context allocate();
  void deallocate(boost::context::stack_context& stack) noexcept;

 private:
  struct Slab;
  std::shared_ptr<Slab> slab_;  // Boost copies the allocator into every fiber
};

}  // namespace pdsim::sim
