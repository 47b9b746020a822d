// Numbers for lists of ranks that blocked ranks share: equal lists have one number, and each shared list is compared once.
#pragma once

#include "core/base/shared_value.h"
#include "core/base/types.h"

#include <map>
#include <vector>

namespace pdsim::scenarios {

class SharedLists {
 public:
  int number_of(const SharedValue<std::vector<Rank>>& list) {
    const auto [known, is_new] = by_identity_.try_emplace(&*list, 0);
    if (is_new) {
      known->second = by_content_.try_emplace(*list, static_cast<int>(lists_.size())).first->second;
      if (known->second == static_cast<int>(lists_.size())) lists_.push_back(list);
    }
    return known->second;
  }
  const std::vector<Rank>& operator[](int number) const { return *lists_[static_cast<std::size_t>(number)]; }

 private:
  std::map<const void*, int> by_identity_;
  std::map<std::vector<Rank>, int> by_content_;
  std::vector<SharedValue<std::vector<Rank>>> lists_;
};

}  // namespace pdsim::scenarios
