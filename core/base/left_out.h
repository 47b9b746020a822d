// The parts that a reader of damaged input skipped, so that the rest can be read: the first few are listed, the others
// counted.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace pdsim {

class LeftOut {
 public:
  static constexpr std::size_t most_named = 8;

  // `what` says where the part is and why it cannot be read, for example "line 3: `rank` is -1, and must be from 0 to
  // 7".
  void add(std::string what) {
    if (++count_ <= most_named) named_.push_back(std::move(what));
  }
  // Adds the parts that another reader of the same input skipped.
  void add(const LeftOut& other, const std::string& place) {
    for (const std::string& what : other.named_) add(place + ": " + what);
    count_ += other.count_ - other.named_.size();
  }
  bool empty() const { return count_ == 0; }
  std::size_t count() const { return count_; }
  // Holds at most most_named entries.
  const std::vector<std::string>& named() const { return named_; }

 private:
  std::vector<std::string> named_;
  std::size_t count_ = 0;
};

}  // namespace pdsim
