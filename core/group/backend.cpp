#include "core/group/backend.h"

#include <fmt/format.h>

#include <string>

namespace pdsim {

Result<std::unique_ptr<Communicator>> Backend::join(Store& store, const JoinOptions& options) {
  PDSIM_TRY(check_rank(options.rank, options.size));
  return join_group(store, options);
}

Result<std::unique_ptr<RawCaller>> Backend::join_raw(Store& store, const JoinOptions& options) {
  PDSIM_TRY(check_rank(options.rank, options.size));
  return join_raw_group(store, options);
}

Result<std::unique_ptr<RawCaller>> Backend::join_raw_group(Store&, const JoinOptions&) {
  return Error{Code::unsupported, std::string(name()) + " is not a library that could be called directly", {}};
}

Status check_rank(Rank rank, int size) {
  if (rank >= 0 && rank < size) return {};
  const std::string there_are = size < 1    ? "a world has at least one rank"
                                : size == 1 ? "its only rank is 0"
                                            : fmt::format("ranks are 0 to {}", size - 1);
  return Error{Code::invalid_argument,
               fmt::format("rank {} in a world of {}: {}", rank, size, there_are),
               {{"rank", std::to_string(rank)}, {"size", std::to_string(size)}}};
}

}  // namespace pdsim
