#include "tests/helpers/planted_leaks.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <unistd.h>
#include <unordered_set>

namespace pdsim::planted {
namespace {

std::int64_t ten_bits(std::uint64_t value) { return static_cast<std::int64_t>((value ^ (value >> 10)) & 1023U); }

std::int64_t pointer_order(Random&) {
  const auto one = std::make_unique<std::array<std::byte, 96>>();
  return ten_bits(reinterpret_cast<std::uintptr_t>(one.get()) >> 4U);
}

std::int64_t unordered_iteration(Random&) {
  std::array<std::unique_ptr<std::int64_t>, 7> owners;
  std::unordered_set<const std::int64_t*> set;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    owners[i] = std::make_unique<std::int64_t>(static_cast<std::int64_t>(i));
    set.insert(owners[i].get());
  }
  std::int64_t order = 0;
  for (const std::int64_t* item : set) order = order * 7 + *item;
  return order & 1023;
}

std::int64_t clock_read(Random&) {
  return ten_bits(static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
}

std::int64_t uninitialised_byte(Random&) {
  constexpr std::size_t size = 96;
  auto* memory = static_cast<volatile unsigned char*>(::operator new(size));
  const std::int64_t byte = memory[size / 2];
  ::operator delete(const_cast<unsigned char*>(memory));
  return byte;
}

std::int64_t static_counter(Random&) {
  static std::int64_t calls = 0;
  return ++calls & 1023;
}

std::int64_t thread_identity(Random&) { return ten_bits(static_cast<std::uint64_t>(gettid())); }

std::int64_t thread_race(Random&) {
  std::atomic<bool> stop{false};
  std::thread other([&stop] { stop = true; });
  std::int64_t spins = 0;
  while (!stop) ++spins;
  other.join();
  return spins & 1023;
}

std::int64_t random_device(Random&) { return static_cast<std::int64_t>(std::random_device()() & 1023U); }

std::int64_t difference(std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a * 32 + b); }

std::int64_t two_draws_in_one_call(Random& random) { return difference(random.below(32), random.below(32)); }

std::int64_t process_identity(Random&) { return ten_bits(static_cast<std::uint64_t>(getpid())); }

constexpr std::array leak_rows{
    LeakRow{"pointer-order", "the address of an object", CaughtBy::rerun, pointer_order},
    LeakRow{"unordered-iteration", "the order of a hash set of pointers", CaughtBy::rerun, unordered_iteration},
    LeakRow{"clock", "the wall clock", CaughtBy::rerun, clock_read},
    LeakRow{"uninitialised-byte", "memory that nobody wrote", CaughtBy::rerun, uninitialised_byte},
    LeakRow{"static-counter", "state that survives a run", CaughtBy::rerun, static_counter},
    LeakRow{"thread-identity", "the number of a thread", CaughtBy::rerun, thread_identity},
    LeakRow{"thread-race", "which of two threads is first", CaughtBy::rerun, thread_race},
    LeakRow{"random-device", "a generator without a seed", CaughtBy::rerun, random_device},
    LeakRow{"two-draws", "two draws in one call, whose order compilers choose", CaughtBy::another,
            two_draws_in_one_call},
    LeakRow{"process-identity", "the number of the process", CaughtBy::another, process_identity},
};

}  // namespace

std::span<const LeakRow> leaks() { return leak_rows; }

const LeakRow* leak_named(std::string_view name) {
  for (const LeakRow& row : leak_rows)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace pdsim::planted
