// Texts that users search for, and the page that each must reach: one that is about their machine, network or launcher, not about pdsim.

#include "core/base/errors.h"
#include "scenarios/diagnosis/diagnoses.h"
#include "scenarios/diagnosis/explain/outside_causes.h"
#include "scenarios/diagnosis/explain/symptom_match.h"
#include "scenarios/reports/text/symptom_text.h"
#include "tests/unit/logs/pasted_texts.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace pdsim::scenarios {
namespace {

constexpr PastedText searched_rows[] = {
    {"nccl", "shared-memory-small", "NCCL WARN Error while creating shared memory segment /dev/shm/nccl-abc (size 9637888)"},
    {"torch", "gpu-missing", "ProcessGroupNCCL is only supported with GPUs, no GPUs found!"},
    {"torch", "gpu-missing", "CUDA error: invalid device ordinal"},
    {"nccl", "interface-missing", "NCCL WARN Bootstrap : no socket interface found"},
    {"nccl", "store-gone",
     "[3] is setting up NCCL communicator and retrieving ncclUniqueId from [0] via c10d key-value store by key '0', but store->get('0') got "
     "error: Connection reset by peer"},
    {"store", "host-unreachable", "client socket has failed to connect to [10.1.2.3]:29500 (errno: 110 - Connection timed out)"},
    {"store", "connection-refused", "client socket has failed to connect to [10.1.2.3]:29500 (errno: 111 - Connection refused)"},
    {"ddp", "gradient-layout", "Grad strides do not match bucket view strides."},
    {"torch", "scaler-half-precision", "Attempting to unscale FP16 gradients."},
    {"launcher", "rendezvous-closed", "RendezvousClosedError"},
    {"gloo", "interface-missing", "Unable to find address for: eth0"},
    {"torch", "devices-differ",
     "Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cuda:1!"},
    {"horovod", "missing-call",
     "One or more tensors were submitted to be reduced, gathered or broadcasted by subset of ranks and are waiting for remainder of ranks"},
    {"nccl", "host-unreachable",
     "NCCL WARN socketStartConnect: Connect to 10.0.0.1<1234> failed : Software caused connection abort"},
    {"nccl", "connection-lost", "NCCL WARN Call to ibv_modify_qp failed with error Connection timed out"},
    {"slurm", "rank-died", "srun: error: gpu20-15: task 0: Out Of Memory"},
    {"kernel", "rank-died", "Out of memory: Killed process 3214 (python3)"},
    {"deepspeed", "rank-died",
     "[2024-01-05 10:11:12,345] [ERROR] [launch.py:321:sigkill_handler] ['/usr/bin/python', '-u', 'train.py', '--local_rank=7'] exits with "
     "return code = -9"},
    {"deepspeed", "rank-died", "exits with return code = -9"},
    {"lightning", "unused-parameters",
     "It looks like your LightningModule has parameters that were not used in producing the loss returned by training_step."},
    {"fsdp", "collective-mismatch",
     "All-gather order differs from that of the first iteration on rank 0 -- collectives are unsynchronized and may hang"},
    {"fsdp", "collective-mismatch", "Expected no more all-gathers but got ['layers.3.weight']"},
    {"fsdp", "collective-mismatch", "Expects the number of all-gathers to be 12 but got 11"},
    {"fsdp", "collective-mismatch",
     "Forward order differs from that of the first iteration on rank 2. Collectives are unchecked and may give incorrect results or hang."},
    {"deepspeed", "marked-ready-twice",
     "The parameter 827 has already been reduced. Gradient computed twice for this partition. Multiple gradient reduction is currently not "
     "supported"},
    {"deepspeed", "marked-ready-twice",
     "assert len(set(p.ds_id for p in self.params_in_ipg_bucket)) == len(self.params_in_ipg_bucket)"},
    {"nccl", "not-destroyed", "destroy_process_group() was not called before program exit"},
    {"accelerate", "parameter-mismatch",
     "Cannot apply desired operation due to shape mismatches. All shapes across devices must be valid."},
    {"slurm", "job-cancelled", "slurmstepd: error: *** STEP 123.0 ON n1 CANCELLED AT 2024-05-02T11:04:37 DUE TO TIME LIMIT ***"},
    {"slurm", "job-cancelled", "CANCELLED AT 2024-05-02T11:04:37 DUE TO TIME LIMIT"},
    {"lightning", "program-raised", "pytorch_lightning.utilities.exceptions.DeadlockDetectedException: DeadLock detected from rank: 0"},
    {"lightning", "program-raised", "DeadLock detected from rank: 0"},
    {"store", "not-in-build", "torch.distributed.DistStoreError: use_libuv was requested but PyTorch was built without libuv support"},
    {"store", "store-gone", "torch.distributed.DistStoreError: Connection reset by peer"},
    {"nccl", "process-aborted", "terminate called after throwing an instance of 'c10::DistBackendError'"},
};

TEST(Symptoms, TextsThatUsersSearchForReachThePageOfTheirCause) {
  for (const PastedText& p : searched_rows) {
    const std::vector<SymptomMatch> found = match_symptoms(p.text);
    ASSERT_FALSE(found.empty()) << p.text;
    EXPECT_EQ(found.front().symptom->entry, p.entry) << p.text << "\nfound: " << found.front().symptom->text;
    EXPECT_NE(found.front().sureness, Sureness::near) << p.text << "\nshare " << found.front().share;
  }
}

TEST(Symptoms, NoTextOfALibraryFindsAnEntryAboutPdsimItself) {
  for (const Symptom* row : symptom_table())
    for (const std::string_view own : {"limit-exceeded", "unavailable", "input-invalid", "internal", "wrong-data"})
      EXPECT_NE(row->entry, own) << row->text;
}

TEST(Symptoms, OutsideCausesHaveTheirOwnNamesTextsAndFixes) {
  for (const OutsideCause& cause : outside_causes()) {
    EXPECT_EQ(diagnosis_named(cause.name), nullptr) << cause.name;
    EXPECT_FALSE(code_named(cause.name).has_value()) << cause.name;
    EXPECT_NE(cause.text.find("\n\nFix: "), std::string_view::npos) << cause.name;
    EXPECT_EQ(outside_cause_named(cause.name), &cause);
  }
}

TEST(Symptoms, OnlyATextThatIsTheMessageProvesAnything) {
  int near = 0;
  for (const Symptom* row : symptom_table()) {
    std::string cut(row->text.substr(0, row->text.size() / 2));
    for (int i = 0; i < 12; ++i) cut += " meadow river";
    const std::vector<SymptomMatch> found = match_symptoms(cut);
    if (found.empty() || found.front().sureness != Sureness::near) continue;
    ++near;
    const std::string page = symptom_page(cut);
    EXPECT_NE(page.find("not sure: "), std::string::npos) << page;
    EXPECT_EQ(page.find("It proves"), std::string::npos) << page;
  }
  EXPECT_GT(near, 5);
}

}  // namespace
}  // namespace pdsim::scenarios
