// What needs neither a device nor a double of one.

#include "backends/nccl/probe.h"

#include "backends/nccl/errors.h"
#include "backends/nccl/mappings.h"
#include "backends/nccl/nccl_backend.h"
#include "backends/nccl/nccl_transport.h"
#include "core/collectives/reduce.h"
#include "tests/unit/nccl/fake_gpu.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace pdsim {
namespace {

NcclFacts working() {
  NcclFacts facts;
  facts.nccl_version = 22809;
  facts.runtime_version = facts.driver_version = 13000;
  facts.devices = 2;
  facts.ranks_here = 2;
  return facts;
}

TEST(NcclProbe, NamesTheFirstThingThatIsMissing) {
  NcclFacts facts;  // everything is missing
  facts.not_loaded = "NCCL cannot be loaded (no such file); install it, or add its folder to LD_LIBRARY_PATH";
  facts.ranks_here = 3;
  facts.host_id_given = true;
  EXPECT_EQ(nccl_problem(facts), facts.not_loaded);
  facts.not_loaded.clear();
  facts.nccl_version = 2708;
  EXPECT_EQ(nccl_problem(facts), "too old an NCCL (NCCL 2.7.8 found); install 2.18 or newer");
  facts.nccl_version = 22809;
  EXPECT_EQ(nccl_problem(facts), "no CUDA driver (NCCL 2.28.9 found); install NVIDIA's driver for the GPU");
  facts.driver_version = 12040;
  facts.runtime_version = 13000;
  EXPECT_EQ(
      nccl_problem(facts),
      "the CUDA driver supports CUDA 12.4 at most, but pdsim was built with 13.0 (NCCL 2.28.9 found); install a newer "
      "driver");
  facts.driver_version = 13000;
  EXPECT_EQ(nccl_problem(facts),
            "no CUDA device (NCCL 2.28.9 found); is there a GPU, and does CUDA_VISIBLE_DEVICES include it?");
  facts.devices = 1;
  EXPECT_EQ(
      nccl_problem(facts),
      "3 ranks on 1 device (NCCL 2.28.9 found): each needs its own NCCL_HOSTID, which pdsim sets if it is unset; unset "
      "it, or start fewer ranks");
  facts.host_id_given = false;
  EXPECT_EQ(nccl_problem(facts), "");
  EXPECT_EQ(nccl_problem(working()), "");
}

TEST(NcclProbe, ThisMachinesReasonIsOneLineAndIsWhatTheWorldSays) {
  const Availability here = probe_nccl();
  EXPECT_EQ(here.yes, here.reason.empty());
  EXPECT_EQ(here.reason.find('\n'), std::string::npos);
  EXPECT_EQ(nccl_availability().reason, here.reason);
}

TEST(NcclProbe, RanksTakeDevicesInTurnAndShareThemWhereTheyOutnumberThem) {
  EXPECT_EQ(place_on(1, 2, 2).device, 1);
  EXPECT_FALSE(place_on(1, 2, 2).shared);
  EXPECT_EQ(place_on(3, 4, 2).device, 1);
  EXPECT_TRUE(place_on(3, 4, 2).shared);
  EXPECT_TRUE(place_on(0, 4, 2).shared);
}

TEST(NcclProbe, RanksThatShareADeviceLookLikeDifferentHosts) {
  const auto first = shared_device_environment(0), second = shared_device_environment(1);
  ASSERT_EQ(first.size(), 5U);
  EXPECT_EQ(first[0], (std::pair<std::string, std::string>{"NCCL_HOSTID", "pdsim-0"}));
  EXPECT_EQ(second[0].second, "pdsim-1");
  EXPECT_EQ(first[1], (std::pair<std::string, std::string>{"NCCL_NET", "Socket"}));
  EXPECT_EQ(first[2], (std::pair<std::string, std::string>{"NCCL_IB_DISABLE", "1"}));
  EXPECT_EQ(first[3], (std::pair<std::string, std::string>{"NCCL_SOCKET_IFNAME", "lo"}));
  EXPECT_EQ(first[4], (std::pair<std::string, std::string>{"NCCL_MAX_CTAS", "4"}));
}

TEST(NcclProbe, BelievesALaunchersPlaceOnlyWhereItSpeaksOfThisRank) {
  std::map<std::string, std::string> set{
      {"RANK", "5"}, {"WORLD_SIZE", "8"}, {"LOCAL_RANK", "1"}, {"LOCAL_WORLD_SIZE", "4"}};
  const auto variable = [&set](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  };
  EXPECT_EQ(local_slot(5, 8, variable).rank, 1);
  EXPECT_EQ(local_slot(5, 8, variable).ranks, 4);
  EXPECT_EQ(local_slot(2, 8, variable).rank, 2);   // of another rank
  EXPECT_EQ(local_slot(5, 6, variable).ranks, 6);  // of another world
  set["LOCAL_RANK"] = "4";
  EXPECT_EQ(local_slot(5, 8, variable).rank, 5);  // of no place that there is
  set = {{"OMPI_COMM_WORLD_RANK", "5"},
         {"OMPI_COMM_WORLD_SIZE", "8"},
         {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
         {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  EXPECT_EQ(local_slot(5, 8, variable).rank, 3);
  set = {{"PMI_RANK", "5"}, {"PMI_SIZE", "8"}, {"MPI_LOCALRANKID", "2"}, {"MPI_LOCALNRANKS", "4"}};
  EXPECT_EQ(local_slot(5, 8, variable).rank, 2);
}

TEST(NcclProbe, TakesThePlaceThatSrunGives) {
  std::map<std::string, std::string> set{
      {"SLURM_PROCID", "9"}, {"SLURM_NTASKS", "11"}, {"SLURM_LOCALID", "1"}, {"SLURM_NODEID", "2"}};
  const auto variable = [&set](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  };
  EXPECT_EQ(local_slot(9, 11, variable).ranks, 11);  // it does not say how many are here
  const std::map<std::string, int> ranks_here{{"4(x2),3", 3}, {"4,4,3", 3}, {"4,4(x2)", 4}, {"8(x1),1", 11}, {"x", 11}};
  for (const auto& [counts, ranks] : ranks_here) {
    set["SLURM_STEP_TASKS_PER_NODE"] = counts;
    EXPECT_EQ(local_slot(9, 11, variable).ranks, ranks) << counts;
    EXPECT_EQ(local_slot(9, 11, variable).rank, ranks == 11 ? 9 : 1) << counts;
  }
}

TEST(NcclMappings, EveryDTypeTravelsAsOneOfItsSize) {
  const std::map<DType, ncclDataType_t> wanted{
      {DType::f16, ncclFloat16}, {DType::bf16, ncclBfloat16}, {DType::f32, ncclFloat32},
      {DType::f64, ncclFloat64}, {DType::i8, ncclInt8},       {DType::u8, ncclUint8},
      {DType::i32, ncclInt32},   {DType::i64, ncclInt64},     {DType::boolean, ncclUint8}};
  for (const DTypeRow& row : dtypes) EXPECT_EQ(nccl_type(row.dtype), wanted.at(row.dtype)) << row.name;
}

TEST(NcclMappings, BoolIsCombinedByMaximumAndMinimumAndBitsByNobody) {
  EXPECT_EQ(nccl_op(ReduceOp::sum, DType::boolean), ncclMax);
  EXPECT_EQ(nccl_op(ReduceOp::product, DType::boolean), ncclMin);
  EXPECT_EQ(nccl_op(ReduceOp::sum, DType::f32), ncclSum);
  EXPECT_EQ(nccl_op(ReduceOp::product, DType::i8), ncclProd);
  EXPECT_EQ(nccl_op(ReduceOp::min, DType::f16), ncclMin);
  EXPECT_EQ(nccl_op(ReduceOp::max, DType::bf16), ncclMax);
  EXPECT_EQ(nccl_op(ReduceOp::avg, DType::i64), ncclAvg);
  for (const ReduceOp op : {ReduceOp::band, ReduceOp::bor, ReduceOp::bxor, ReduceOp::premul_sum})
    EXPECT_EQ(nccl_op(op, DType::i32), std::nullopt);
}

TEST(NcclErrors, EveryCodeHasASentenceWithTheCallInIt) {
  const NcclCalls nccl = testing::fake_gpu().nccl;
  EXPECT_TRUE(nccl_status(nccl, ncclSuccess, "ncclSend", nullptr).ok());
  EXPECT_TRUE(nccl_status(nccl, ncclInProgress, "ncclSend", nullptr).ok());
  const std::map<int, Code> wanted{
      {ncclUnhandledCudaError, Code::internal},   {ncclSystemError, Code::io_error},
      {ncclInternalError, Code::internal},        {ncclInvalidArgument, Code::invalid_argument},
      {ncclInvalidUsage, Code::invalid_argument}, {ncclRemoteError, Code::peer_closed}};
  std::set<std::string> sentences;
  for (const auto& [result, code] : wanted) {
    const Status status = nccl_status(nccl, static_cast<ncclResult_t>(result), "ncclSend", nullptr);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, code);
    EXPECT_NE(status.error().message.find("(ncclSend: "), std::string::npos) << status.error().message;
    sentences.insert(status.error().message);
  }
  EXPECT_EQ(sentences.size(), wanted.size());
}

TEST(NcclErrors, WhatNcclSaidLastIsAddedOnOneLine) {
  NcclCalls nccl = testing::fake_gpu().nccl;
  nccl.last_error = [](ncclComm_t) { return "Duplicate GPU detected\nrank 0 and rank 1\n"; };
  EXPECT_EQ(nccl_status(nccl, ncclInvalidUsage, "ncclCommInitRankConfig", nullptr).error().message,
            "the call is not valid in NCCL's current state (ncclCommInitRankConfig: an error of the double: Duplicate "
            "GPU detected rank 0 and rank 1)");
}

TEST(NcclErrors, CudaHasItsNameAndText) {
  const CudaCalls cuda = testing::fake_gpu().cuda;
  const Status status = cuda_status(cuda, cudaErrorMemoryAllocation, "cudaMalloc");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::limit_exceeded);
  EXPECT_EQ(status.error().message,
            "the device or the host has no memory left (cudaMalloc: cudaErrorMemoryAllocation, out of memory)");
  EXPECT_EQ(cuda_status(cuda, cudaErrorLaunchFailure, "cudaEventQuery").error().code, Code::internal);
}

TEST(NcclRounds, AreOneGroupInTheOrderOfTheMessages) {
  std::array<std::byte, 3> first{}, second{};
  const std::array<Message, 3> round{Message{Message::Kind::send, 1, 0, first.data(), 3},
                                     Message{Message::Kind::receive, 2, 0, second.data(), 3},
                                     Message{Message::Kind::send, 2, 0, nullptr, 0}};
  const Result<NcclFlight> flight = flight_of(round);
  ASSERT_TRUE(flight.ok());
  ASSERT_EQ(flight->in.size(), 2U);
  ASSERT_EQ(flight->out.size(), 1U);
  EXPECT_EQ(flight->in[0].memory, first.data());
  EXPECT_EQ(flight->out[0].memory, second.data());
  const std::set<std::int64_t> places{flight->in[0].at, flight->in[1].at, flight->out[0].at};
  EXPECT_EQ(places.size(), 3U) << "an empty message has a place too: it travels as one byte";
  EXPECT_GE(flight->bytes, *places.rbegin() + 1);
}

TEST(NcclRounds, RefuseAReceiveFromAnySourceAndMessagesWithoutData) {
  std::byte one{};
  const Message any{Message::Kind::receive, any_source, 0, &one, 1}, none{Message::Kind::send, 1, 0, nullptr, 1};
  EXPECT_EQ(flight_of(std::span(&any, 1)).error().code, Code::unsupported);
  EXPECT_EQ(flight_of(std::span(&none, 1)).error().code, Code::invalid_argument);
}

}  // namespace
}  // namespace pdsim
