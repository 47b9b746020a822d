// The output of NCCL's RAS service (the client ncclras, NCCL 2.24 and newer): its errors and warnings about processes and
// communicators.
//
//   block    a heading (DEAD, INCOMPLETE, TIMEOUT, or #0-0 (hash) MISMATCH), then indented lines, up to an empty one; each list
//            of ranks in it is one fact
//   sizes    the table of communicators says how many ranks those of a group have, and the summary how many GPUs the job has
//   bounds   most_members named ranks or processes of a fact
#pragma once

#include "scenarios/records/logs/log_facts.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::scenarios::logs {

class RasReader {
 public:
  static constexpr std::size_t most_members = 4096;

  // The fact completed by this line, if any.
  std::optional<RasReport> read(std::string_view line);
  std::optional<RasReport> finish();

 private:
  enum class In : std::uint8_t { elsewhere, summary, table, block };

  std::optional<RasReport> begin(RasReport next);
  bool read_heading(std::string_view text);
  void read_sizes(std::string_view text);
  void read_detail(std::string_view text, std::optional<RasReport>& ended);
  void add_part(std::int64_t ranks, Seq launched, std::string status);
  void add_member(RasMember member);

  In in_ = In::elsewhere;
  std::int64_t gpus_ = -1;
  std::map<std::int64_t, std::int64_t> sizes_;  // of the communicators of a group
  std::string communicator_;
  std::int64_t size_ = -1;
  std::string heading_;
  std::optional<RasReport> open_;
};

}  // namespace pdsim::scenarios::logs
