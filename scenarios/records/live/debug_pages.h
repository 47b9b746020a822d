// The pages of PyTorch's debug server (torch.distributed.debug, 2.10 and newer), read into their contents for each rank.
//
//   pages    /fr_trace_json, /fr_trace_nccl_json, /torchcomms_fr_trace_json, /stacks: a heading per rank with its worker's
//            address, then its text, or the reason why it is missing
//   store    /tcpstore: the store's keys, under which each worker publishes its address; it asks no worker
//   dumps    the files of its periodic dumps: a line `=== Rank N: address ===` per rank
//   escapes  entities of HTML are read where the page has them
#pragma once

#include "core/base/types.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::live {

struct RankText {
  Rank rank = no_rank;
  std::string address;  // http://host:41234
  bool failed = false;  // the server could not get it; the text says why
  std::string text;
};

std::vector<RankText> ranks_of_page(std::string_view html);
// The address of each rank, http://host:41234.
std::map<Rank, std::string> workers_of_store_page(std::string_view html);

}  // namespace pdsim::scenarios::live
