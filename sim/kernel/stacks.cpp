#include "sim/kernel/stacks.h"

#include <new>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>
#include <vector>

namespace pdsim::sim {
namespace {
constexpr std::size_t stacks_in_a_mapping = 64;
constexpr std::size_t guarded_stacks = 8192;
constexpr std::size_t guard_bytes = 64 * 1024;  // whole pages on every machine
}  // namespace

struct Stacks::Slab {
  explicit Slab(std::size_t stack) : bytes(stack), stride(stack + guard_bytes) {}
  ~Slab() {
    for (std::byte* mapping : mappings) munmap(mapping, stride * stacks_in_a_mapping);
  }
  Slab(const Slab&) = delete;
  Slab& operator=(const Slab&) = delete;

  std::byte* map() {
    void* mapped = mmap(nullptr, stride * stacks_in_a_mapping, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) {
      if (const std::new_handler handler = std::get_new_handler()) handler();  // as operator new does
      throw std::bad_alloc();
    }
    madvise(mapped, stride * stacks_in_a_mapping, MADV_NOHUGEPAGE);  // a rank touches a few small pages of its stack
    mappings.push_back(static_cast<std::byte*>(mapped));
    freed.reserve(used + stacks_in_a_mapping);  // so that to give a stack back never fails
    return mappings.back();
  }

  std::byte* unused() {
    std::byte* mapping = used % stacks_in_a_mapping == 0 ? map() : mappings.back();
    std::byte* guard = mapping + used % stacks_in_a_mapping * stride;
    if (used < guarded_stacks) mprotect(guard, guard_bytes, PROT_NONE);
    ++used;
    return guard + guard_bytes;
  }

  std::size_t bytes;     // of a stack
  std::size_t stride;    // of a stack and what guards it
  std::size_t used = 0;  // stacks that were ever handed out
  std::vector<std::byte*> mappings;
  std::vector<std::byte*> freed;  // of fibers that ended
};

Stacks::Stacks(std::size_t bytes) : slab_(std::make_shared<Slab>(bytes)) {}

std::int64_t Stacks::address_space(std::size_t bytes, int many) {
  const std::size_t mappings = (static_cast<std::size_t>(many) + stacks_in_a_mapping - 1) / stacks_in_a_mapping;
  return static_cast<std::int64_t>(mappings * stacks_in_a_mapping * (bytes + guard_bytes));
}

boost::context::stack_context Stacks::allocate() {
  Slab& slab = *slab_;
  std::byte* low = nullptr;
  if (slab.freed.empty()) {
    low = slab.unused();
  } else {
    low = slab.freed.back();
    slab.freed.pop_back();
  }
  ASAN_UNPOISON_MEMORY_REGION(low, slab.bytes);  // what an exception left behind of an earlier fiber's frames
  boost::context::stack_context stack;
  stack.size = slab.bytes;
  stack.sp = low + slab.bytes;
  return stack;
}

void Stacks::deallocate(boost::context::stack_context& stack) noexcept {
  slab_->freed.push_back(static_cast<std::byte*>(stack.sp) - stack.size);
}

}  // namespace pdsim::sim
