// The world of a run, as the record's reader knows it: the meaning of its times, and whether pdsim can run it again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace pdsim::scenarios {

// dumps: PyTorch recorded it (Flight Recorder, logs), so calls of all ranks are on the clocks of their machines, and there were
// no expectations.
enum class WorldKind : std::uint8_t { simulated, real, dumps };

inline constexpr std::string_view simulated_world = "sim";
inline constexpr std::string_view pytorch_world = "pytorch";

class RunWorld {
 public:
  RunWorld() = default;
  // The name in records and reports: sim, pytorch, or a real world such as gloo or "processes".
  explicit RunWorld(std::string_view name)
      : name_(name),
        kind_(name == simulated_world ? WorldKind::simulated
                                      : (name == pytorch_world ? WorldKind::dumps : WorldKind::real)) {}

  const std::string& name() const { return name_; }
  WorldKind kind() const { return kind_; }
  bool is_simulated() const { return kind_ == WorldKind::simulated; }
  bool is_dumps() const { return kind_ == WorldKind::dumps; }
  friend bool operator==(const RunWorld&, const RunWorld&) = default;

 private:
  std::string name_{simulated_world};
  WorldKind kind_ = WorldKind::simulated;
};

}  // namespace pdsim::scenarios
