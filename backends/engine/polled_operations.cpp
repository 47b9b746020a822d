#include "backends/engine/polled_operations.h"

#include <algorithm>
#include <utility>

namespace pdsim {

std::chrono::microseconds nap_after(std::chrono::steady_clock::duration quiet) {
  constexpr std::chrono::milliseconds eager(20);
  constexpr std::chrono::microseconds longest(5000);
  if (quiet <= eager) return {};
  return std::min(std::chrono::duration_cast<std::chrono::microseconds>(quiet / 100), longest);
}

bool PolledOperations::poll() {
  bool ended = false;
  for (auto& operation : added_) operations_.push_back(std::move(operation));
  added_.clear();
  for (auto& operation : operations_) {
    if (aborted_) return false;
    if (!operation->poll()) continue;
    operation.reset();
    ended = true;
  }
  if (ended) std::erase(operations_, nullptr);
  return ended;
}

void PolledOperations::abort(const Error& reason) {
  if (aborted_.exchange(true)) return;
  for (auto* list : {&operations_, &added_})
    for (const auto& operation : *list)
      if (operation) operation->abort(reason);
}

}  // namespace pdsim
