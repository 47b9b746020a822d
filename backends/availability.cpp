#include "backends/availability.h"

#include <array>
#include <string>

namespace pdsim {
namespace {

Availability without_world(std::string_view name, bool found, std::string_view summary, std::string_view version) {
  std::string reason = "this version of pdsim has no " + std::string(name) + " world yet (";
  reason += found ? std::string(version) + " found" : name == "mpi" ? "MPI " : "NCCL ";
  if (!found) reason += summary;
  return {false, std::string(version), reason + ")"};
}

constexpr std::array rows{RealWorldRow{"gloo", gloo_availability}, RealWorldRow{"mpi", mpi_availability},
                          RealWorldRow{"nccl", nccl_availability}};

}  // namespace

std::span<const RealWorldRow> real_worlds() { return rows; }

Availability gloo_availability() {
#if PDSIM_HAVE_GLOO
  return {true, PDSIM_GLOO_VERSION, ""};
#else
  const std::string_view summary = PDSIM_GLOO_SUMMARY;
  const std::string cure = summary.starts_with("off") ? "; build with PDSIM_WITH_GLOO=AUTO" : ", then build again";
  return {false, "", "this build of pdsim has no Gloo: " + std::string(summary) + cure};
#endif
}

Availability mpi_availability() { return without_world("mpi", PDSIM_HAVE_MPI, PDSIM_MPI_SUMMARY, PDSIM_MPI_VERSION); }

Availability nccl_availability() {
  return without_world("nccl", PDSIM_HAVE_NCCL, PDSIM_NCCL_SUMMARY, PDSIM_NCCL_VERSION);
}

}  // namespace pdsim
