// Error texts as people paste them: public, well-known lines of torch, NCCL, Gloo, MPI and launchers, with numbers, ranks, addresses
// and paths of some job, and the entry that each must find.

#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/explain/symptom_match.h"
#include "scenarios/reports/text/symptom_text.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>

namespace pdsim::scenarios {
namespace {

struct Pasted {
  std::string_view entry;
  std::string_view text;
};

constexpr Pasted pasted[] = {
    {"watchdog-timeout",
     "[rank4]:[E318 07:39:53.792630246 ProcessGroupNCCL.cpp:616] [Rank 4] Watchdog caught collective operation "
     "timeout: WorkNCCL(SeqNum=610, "
     "OpType=COALESCED, NumelIn=56320, NumelOut=450560, Timeout(ms)=600000) ran for 600086 milliseconds before timing "
     "out."},
    {"watchdog-timeout",
     "[E ProcessGroupNCCL.cpp:566] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(OpType=ALLREDUCE, "
     "Timeout(ms)=1800000) ran "
     "for 1804406 milliseconds before timing out."},
    {"watchdog-timeout",
     "RuntimeError: [Rank 0] Caught collective operation timeout: WorkNCCL(OpType=BROADCAST, TensorShape=[1], "
     "Timeout(ms)=1800000) ran for "
     "1802710 milliseconds before timing out."},
    {"watchdog-timeout",
     "[rank10]:[E ProcessGroupNCCL.cpp:1537] [PG 1 Rank 10] Timeout at NCCL work: 15734, last enqueued NCCL work: "
     "15735, last completed NCCL "
     "work: 15733."},
    {"watchdog-timeout",
     "[PG ID 0 PG GUID 0(default_pg) Rank 0]  failure detected by watchdog at work sequence id: 20585 PG status: last "
     "enqueued work: 20589, "
     "last completed work: 20584"},
    {"process-aborted",
     "[E ProcessGroupNCCL.cpp:583] [Rank 7] To avoid data inconsistency, we are taking the entire process down."},
    {"rank-hung",
     "[rank25]:[F ProcessGroupNCCL.cpp:1169] [PG 0 Rank 25] [PG 0 Rank 25] ProcessGroupNCCL's watchdog got stuck for "
     "600 seconds without "
     "making progress in monitoring enqueued collectives. This typically indicates a NCCL/CUDA API hang blocking the "
     "watchdog, and could be "
     "triggered by another thread holding the GIL inside a CUDA api, or other deadlock-prone behaviors."},
    {"rank-hung",
     "Heartbeat monitor timed out! Process will be terminated after dumping debug info. workMetaList_.size()=2"},
    {"missing-call",
     "- To our best knowledge, the lagging/dead/mismatched ranks that caused the desync are:\n   [7] finished "
     "collective #182, but didn't "
     "join collective #183 (count from 1)"},
    {"group-unusable",
     "[Rank 3] Found key in store: NCCLABORTEDCOMM:0f8a2c, from rank: 1. This means that rank has aborted its NCCL "
     "communicators previously "
     "and is not in a healthy state.. Aborting appropriate communicators"},
    {"group-unusable",
     "torch.distributed.DistBackendError: NCCL communicator was aborted on rank 2.  Original reason for failure was: "
     "[Rank 2] error"},
    {"store-key-missing",
     "torch.distributed.DistBackendError: [3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via "
     "c10d key-value store "
     "by key '0', but store->get('0') got error: Timeout waiting for key: default_pg/0//cuda//0 after 600000 ms"},
    {"device-shared",
     "torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:1333, "
     "invalid usage (run with "
     "NCCL_DEBUG=WARN for details), NCCL version 2.18.6\nncclInvalidUsage: This usually reflects invalid usage of NCCL "
     "library.\nLast "
     "error:\nDuplicate GPU detected : rank 1 and rank 0 both on CUDA device 1000"},
    {"peer-closed",
     "ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\nLast "
     "error:\nsocketProgress: "
     "Connection closed by remote peer node7<41892>"},
    {"connection-lost",
     "ncclSystemError: System call (e.g. socket, malloc) or external library call failed or device error. \nLast "
     "error:\n"
     "socketStartConnect: Connect to 172.17.0.2<45331> failed : Software caused connection abort"},
    {"collective-mismatch",
     "init.cc:1247 NCCL WARN Mismatched collective detected, please check your collective calls at and around rank 39. "
     "You can use "
     "NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=COLL to see the collective logs"},
    {"collective-mismatch",
     "RuntimeError: Detected mismatch between collectives on ranks. Rank 0 is running collective: "
     "CollectiveFingerPrint(SequenceNumber=1649, "
     "OpType=BARRIER), but Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=0, OpType=GATHER)."},
    {"missing-call",
     "RuntimeError: Rank 1 failed to pass monitoredBarrier in 2000 ms\n Original "
     "exception:\n[gloo/transport/tcp/pair.cc:598] Connection "
     "closed by peer [2401:db00:eef0:1100:3560:0:1c05:25d]:8594"},
    {"missing-call", "RuntimeError: [Rank 0]: Ranks 1, 2 failed to pass monitoredBarrier in 120000 ms"},
    {"timeout",
     "RuntimeError: Rank 2 successfully reached monitoredBarrier, but received errors while waiting for send/recv from "
     "rank 0. Please check "
     "rank 0 logs for faulty rank."},
    {"peer-closed",
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:534] "
     "Connection closed by "
     "peer [10.244.1.7]:34127"},
    {"peer-closed",
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/pair.cc:525] Read error [127.0.1.1]:7396: Connection reset "
     "by peer"},
    {"timeout",
     "RuntimeError: [../third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:81] Timed out waiting 1800000ms for recv "
     "operation to "
     "complete"},
    {"timeout",
     "RuntimeError: [/pytorch/third_party/gloo/gloo/transport/tcp/unbound_buffer.cc:129]\nTimed out waiting 600000ms "
     "for send "
     "operation to complete"},
    {"timeout", "[gloo/transport/tcp/pair.cc:575] Application timeout caused pair closure"},
    {"parameter-mismatch",
     "terminate called after throwing an instance of 'gloo::EnforceNotMet'\n  what():  [enforce fail at "
     "../third_party/gloo/gloo/transport/tcp/pair.cc:446] op.preamble.length <= op.nbytes. 8 vs 4"},
    {"connection-refused",
     "RuntimeError: Gloo connectFullMesh failed with [../third_party/gloo/gloo/transport/tcp/pair.cc:144] no error: "
     "connect "
     "[127.0.1.1]:13265 SO_ERROR: Connection refused, remote=[127.0.1.1]:13265"},
    {"unused-parameters",
     "RuntimeError: Expected to have finished reduction in the prior iteration before starting a new one. This error "
     "indicates that your "
     "module has parameters that were not used in producing loss. You can enable unused parameter detection by passing "
     "the keyword argument "
     "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by \nmaking sure all `forward` "
     "function outputs "
     "participate in calculating loss. \nParameter indices which did not receive grad for rank 1: 2 3"},
    {"unused-parameters", "Parameters which did not receive grad for rank 0: classifier.bias, classifier.weight"},
    {"marked-ready-twice",
     "RuntimeError: Expected to mark a variable ready only once. This error is caused by one of the following reasons: "
     "1) Use of a module "
     "parameter outside the `forward` function. Please make sure model parameters are not shared across multiple "
     "concurrent forward-backward "
     "passes. 2) Reused parameters in multiple reentrant backward passes.\nParameter at index 195 with name "
     "base_model.model.lora_B.default.weight has been marked as ready twice."},
    {"static-graph-changed",
     "RuntimeError: Your training graph has changed in this iteration, e.g., one parameter is unused in first "
     "iteration, but then got used in "
     "the second iteration. this is not compatible with static_graph set to True."},
    {"saved-tensor-modified",
     "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
     "[torch.cuda.FloatTensor "
     "[64]] is at version 5; expected version 4 instead. Hint: enable anomaly detection"},
    {"model-differs",
     "RuntimeError: DDP expects same model across all ranks, but Rank 0 has 164 params, while rank 1 has inconsistent "
     "0 params."},
    {"model-differs",
     "RuntimeError: [3]: params[0] in this process with sizes [30522, 768] appears not to match sizes of the same "
     "param in process 0."},
    {"nothing-to-train",
     "RuntimeError: DistributedDataParallel is not needed when a module doesn't have any parameters that require a "
     "gradient."},
    {"checkpoint-keys",
     "RuntimeError: Error(s) in loading state_dict for ResNet:\n\tMissing key(s) in state_dict: \"conv1.weight\", "
     "\"bn1.weight\". \n\tUnexpected "
     "key(s) in state_dict: \"module.conv1.weight\", \"module.bn1.weight\"."},
    {"checkpoint-keys",
     "size mismatch for fc.weight: copying a param with shape torch.Size([1000, 512]) from checkpoint, the shape in "
     "current model is "
     "torch.Size([10, 512])."},
    {"checkpoint-race",
     "RuntimeError: PytorchStreamReader failed reading zip archive: failed finding central directory"},
    {"not-initialized",
     "RuntimeError: Default process group has not been initialized, please make sure to call init_process_group."},
    {"initialized-twice", "ValueError: trying to initialize the default process group twice!"},
    {"port-in-use",
     "torch.distributed.DistNetworkError: The server socket has failed to listen on any local network address. port: "
     "29500, useIpv6: true, "
     "code: -98, name: EADDRINUSE, message: address already in use"},
    {"port-in-use",
     "[W socket.cpp:464] [c10d] The server socket has failed to bind to [::]:29500 (errno: 98 - Address already in "
     "use)."},
    {"variable-missing",
     "ValueError: Error initializing torch.distributed using env:// rendezvous: environment variable MASTER_ADDR "
     "expected, but not set"},
    {"rendezvous-timeout",
     "torch.distributed.DistStoreError: Timed out after 601 seconds waiting for clients. 3/4 clients joined."},
    {"rendezvous-timeout",
     "[E socket.cpp:1011] [c10d] The client socket has timed out after 60000ms while trying to connect to (10.0.3.4, "
     "29500)."},
    {"store-timeout", "torch.distributed.DistStoreError: wait timeout after 300000ms, keys: /default_pg/0//cpu//0/3"},
    {"store-gone",
     "recvValue failed on SocketImpl(fd=97, addr=[localhost]:53748, remote=[localhost]:29500): Failed to recv, got 0 "
     "bytes. Connection was "
     "likely closed. Did the remote server shutdown or crash?"},
    {"device-without-backend", "RuntimeError: No backend type associated with device type cpu"},
    {"strided-view", "ValueError: Tensors must be contiguous"},
    {"barrier-device",
     "[rank0]:[W ProcessGroupNCCL.cpp:4115] [PG ID 0 PG GUID 0 Rank 0]  using GPU 0 to perform barrier as devices used "
     "by this process are "
     "currently unknown. This can potentially cause a hang if this rank to GPU mapping is incorrect."},
    {"rank-died",
     "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 3 (pid: 812917) of binary: "
     "/opt/conda/bin/python"},
    {"rank-died", "torch.multiprocessing.spawn.ProcessExitedException: process 0 terminated with signal SIGKILL"},
    {"rank-died",
     "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 3 has a total capacity of 79.11 GiB "
     "of which 1.56 GiB is "
     "free. Process 41233 has 77.53 GiB memory in use."},
    {"rank-died", "mpirun noticed that process rank 2 with PID 0 on node gpu-07 exited on signal 9 (Killed)."},
    {"rank-died", "MPI_ABORT was invoked on rank 3 in communicator MPI_COMM_WORLD\nwith errorcode 1."},
    {"parameter-mismatch", "[node1:12345] *** An error occurred in MPI_Recv\n*** MPI_ERR_TRUNCATE: message truncated"},
};

TEST(Symptoms, RealErrorTextsFindTheirEntry) {
  static_assert(std::size(pasted) >= 42);
  for (const Pasted& p : pasted) {
    const std::vector<SymptomMatch> found = match_symptoms(p.text);
    ASSERT_FALSE(found.empty()) << p.text;
    EXPECT_EQ(found.front().symptom->entry, p.entry) << p.text << "\nfound: " << found.front().symptom->text;
    EXPECT_NE(found.front().sureness, Sureness::near) << p.text << "\nshare " << found.front().share;
  }
}

TEST(Symptoms, EveryPatternFindsItsOwnEntryAndThatEntryExists) {
  for (const Symptom& symptom : symptom_table()) {
    const std::vector<SymptomMatch> found = match_symptoms(symptom.text);
    ASSERT_FALSE(found.empty()) << symptom.text;
    EXPECT_EQ(found.front().symptom->entry, symptom.entry) << symptom.text;
    EXPECT_EQ(found.front().sureness, Sureness::sure) << symptom.text;
    EXPECT_NE(entry_title(symptom.entry), symptom.entry) << "no such entry: " << symptom.entry;
    EXPECT_FALSE(symptom.says.empty()) << symptom.text;
  }
}

TEST(Symptoms, NumbersRanksAddressesAndPathsDoNotMatter) {
  EXPECT_EQ(symptom_words("[/a/b/pair.cc:534] Connection closed by peer [fe80::1%eth0]:34 [10.0.0.1]:5 rank3 0x7f80"),
            symptom_words("[../x/pair.cc:1] Connection closed by peer [fe80::9%eth0]:9 [192.168.1.1]:99 rank17 0x55"));
  EXPECT_EQ(symptom_words("send/recv from rank 0"), (std::vector<std::string>{"send", "recv", "from", "rank"}));
}

TEST(Symptoms, AnErrorIsFoundInTheLogAroundIt) {
  std::string log;
  for (int i = 0; i < 300; ++i) log += "epoch " + std::to_string(i) + " step done, loss is falling and all is well\n";
  log +=
      "RuntimeError: Expected to mark a variable ready only once. This error is caused by one of the following "
      "reasons: 1) Use of a module "
      "parameter outside the `forward` function.\n";
  for (int i = 0; i < 300; ++i) log += "frame of the stack in some library that nobody knows\n";
  const std::vector<SymptomMatch> found = match_symptoms(log);
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().symptom->entry, "marked-ready-twice");
}

TEST(Symptoms, TextsOfSomethingElseFindNothingSure) {
  for (const char* text : {"the printer is out of paper", "KeyError: 'learning_rate'", "hello", "", "0x7fff 12 34",
                           "ModuleNotFoundError: No module named 'transformers'", "SyntaxError: invalid syntax"}) {
    const std::vector<SymptomMatch> found = match_symptoms(text);
    EXPECT_TRUE(found.empty() || found.front().sureness == Sureness::near)
        << text << ": " << found.front().symptom->text;
  }
}

TEST(Symptoms, ThePageSaysHowSureItIsAndWhatTheTextProves) {
  const std::string page = symptom_page("Connection closed by peer [10.0.0.3]:41234");
  EXPECT_EQ(page.rfind("peer-closed: ", 0), 0U) << page;
  EXPECT_NE(page.find("sure: the text is one of this entry's"), std::string::npos) << page;
  EXPECT_NE(page.find("It proves that the process at the other end closed"), std::string::npos) << page;
  EXPECT_TRUE(symptom_page("the printer is out of paper").empty());
}

}  // namespace
}  // namespace pdsim::scenarios
