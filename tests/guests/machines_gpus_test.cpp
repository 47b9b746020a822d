// `pdsim run` of scripts on GPUs that are really there, simulated and on their own library. Skipped on a machine without one;
// tools/gpu-check runs them. One GPU is enough: ranks share it, or are on nodes of their own.

#include "scenarios/guests/machines_gpus.h"
#include "tests/cli/support/program.h"
#include "tests/guests/python.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace pdsim::guest_tests {
namespace {

using Variables = std::vector<std::string>;

TEST(MachinesGpus, AreHiddenWhereTheyAreTooFewForTheRanksOfANode) {
  using scenarios::guests::gpu_variables;
  const Variables hidden{"PDSIM_CUDA=auto", "PDSIM_CUDA_DEVICES=0", "PDSIM_GPUS_HIDDEN=1", "CUDA_VISIBLE_DEVICES="};
  EXPECT_EQ(gpu_variables({{}, 0, 2}, 1), hidden);
  const Variables seen{"PDSIM_CUDA=auto", "PDSIM_CUDA_DEVICES=0"};
  EXPECT_EQ(gpu_variables({{}, 0, 2}, 2), seen);
  EXPECT_EQ(gpu_variables({{}, 0, 2}, 0), seen) << "there is none to hide";
  EXPECT_EQ(gpu_variables({{}, 0, 0}, 1), seen) << "the script starts its ranks itself";
  EXPECT_EQ(gpu_variables({{}, 1, 2}, 1), (Variables{"PDSIM_CUDA=auto", "PDSIM_CUDA_DEVICES=1"})) << "--world has one for a node";
  EXPECT_EQ(gpu_variables({false, 0, 2}, 1), (Variables{"PDSIM_CUDA=off", "PDSIM_CUDA_DEVICES=0"}));
  EXPECT_EQ(gpu_variables({true, 0, 2}, 1), (Variables{"PDSIM_CUDA=on", "PDSIM_CUDA_DEVICES=0"}));
}

TEST(MachinesGpus, AreCountedByTheDriversFiles) {
  const cli_tests::Folder folder;
  EXPECT_EQ(scenarios::guests::gpus_in(folder.path()), 0);
  for (const char* name : {"nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm"}) folder.write(name, "");
  EXPECT_EQ(scenarios::guests::gpus_in(folder.path()), 2);
}

bool has_a_gpu() {
  static const bool has =
      !python_with_torch().empty() &&
      std::system((python_with_torch() + " -c 'import torch, sys; sys.exit(not torch.cuda.is_available())' 2>/dev/null").c_str()) == 0;
  return has;
}

class OnMachinesGpus : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_a_gpu()) GTEST_SKIP() << "no python3 here has a PyTorch that finds a GPU";
  }

  cli_tests::Ended run(const std::string& script, std::vector<std::string> flags, int ranks = 2) {
    folder_.write("train.py", "import os\nimport torch\nimport torch.distributed as dist\nfrom torch import nn\n"
                              "from torch.nn.parallel import DistributedDataParallel\nrank = int(os.environ['RANK'])\n" + script);
    folder_.write("nodes.yaml", "nodes: 2\nranks_per_node: 1\ndevices: 1\n");
    flags.insert(flags.begin(), {"run", "-n", std::to_string(ranks)});
    flags.insert(flags.end(), {"--", python_with_torch(), "train.py"});
    return cli_tests::run_pdsim(flags, folder_.path());
  }

 private:
  const cli_tests::Folder folder_;
};

bool says(const cli_tests::Ended& run, const std::string& part) { return run.output.find(part) != std::string::npos; }

// Five steps; `step` is code of the loop's body before the optimizer's step.
std::string training(const std::string& backend, const std::string& step = "") {
  return R"(
torch.manual_seed(3)
torch.cuda.set_device(0)
dist.init_process_group(")" + backend + R"(")
class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(8, 8), nn.Linear(8, 8)
    def forward(self, x, both=True):
        x = self.first(x)
        return self.second(x) if both else x
model = DistributedDataParallel(Model().cuda(), device_ids=[0])
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for step in range(5):
    optimizer.zero_grad()
    both = True
)" + step + R"(
    loss = model(torch.full((4, 8), float(rank + step), device="cuda"), both).square().mean()
    loss.backward()
    optimizer.step()
    print("value:", step, round(loss.item(), 4), flush=True)
dist.destroy_process_group()
)";
}

// NCCL takes two processes on one GPU for processes of two machines.
const std::string sharing = R"(
os.environ.update(NCCL_HOSTID=f"rank-{rank}", NCCL_NET="Socket", NCCL_IB_DISABLE="1", NCCL_SOCKET_IFNAME="lo")
)";

TEST_F(OnMachinesGpus, ADdpScriptTrainsOnThemInTheSimulatedWorld) {
  for (const std::vector<std::string>& flags : {std::vector<std::string>{"--no-cuda-on-cpu"}, {"--no-cuda-on-cpu", "--no-fork"}}) {
    const cli_tests::Ended simulated = run(training("gloo"), flags);
    EXPECT_EQ(simulated.status, 0) << simulated.output << simulated.problems;
    EXPECT_TRUE(says(simulated, "value: 4 ")) << simulated.output;
  }
  const cli_tests::Ended nodes = run(training("nccl"), {"--world", "nodes.yaml"});
  EXPECT_EQ(nodes.status, 0) << nodes.output << nodes.problems;
  EXPECT_EQ(nodes.problems.find("emulated"), std::string::npos) << nodes.problems;
}

TEST_F(OnMachinesGpus, TooFewOfThemAreEmulated) {
  const cli_tests::Ended many = run(R"(
torch.cuda.set_device(rank)
dist.init_process_group("nccl")
x = torch.ones(3, device="cuda")
dist.all_reduce(x)
print("value:", x.tolist(), x.device.type)
)", {}, 12);
  EXPECT_EQ(many.status, 0) << many.output << many.problems;
  EXPECT_NE(many.problems.find("for 12 ranks: 12 are emulated on the CPU"), std::string::npos) << many.problems;
}

TEST_F(OnMachinesGpus, EveryCollectiveTakesTheirTensors) {
  const cli_tests::Ended all = run(R"(
torch.cuda.set_device(0)
dist.init_process_group("nccl")
me = torch.full((3,), rank + 1.0, device="cuda")
def is_right(tensor, *wanted):
    assert tensor.is_cuda and tensor.flatten().tolist() == list(wanted), (tensor, wanted)
x = me.clone(); dist.all_reduce(x); is_right(x, 3, 3, 3)
x = me.clone(); dist.broadcast(x, 1); is_right(x, 2, 2, 2)
x = me.clone(); dist.reduce(x, 0); rank == 0 and is_right(x, 3, 3, 3)
parts = [torch.empty_like(me) for _ in range(2)]; dist.all_gather(parts, me); is_right(parts[1], 2, 2, 2)
whole = torch.empty(6, device="cuda"); dist.all_gather_into_tensor(whole, me); is_right(whole, 1, 1, 1, 2, 2, 2)
part = torch.empty(3, device="cuda"); dist.reduce_scatter_tensor(part, whole); is_right(part, *[2 * (rank + 1)] * 3)
x = torch.empty(2, device="cuda"); dist.all_to_all_single(x, me[:2].contiguous()); is_right(x, 1, 2)
strided = torch.zeros(3, 2, device="cuda").t(); dist.all_reduce(strided.add_(1)); is_right(strided.contiguous(), *[2] * 6)
big = torch.ones(1 << 20, device="cuda", dtype=torch.bfloat16); dist.all_reduce(big, async_op=True).wait(); is_right(big[:2], 2, 2)
dist.send(me, 1) if rank == 0 else dist.recv(me, 0); is_right(me, 1, 1, 1)
found = [None, None]; dist.all_gather_object(found, rank); assert found == [0, 1]
sent = [rank]; dist.broadcast_object_list(sent, 0); assert sent == [0]
dist.barrier()
torch.cuda.synchronize()
)", {"--world", "nodes.yaml"});
  EXPECT_EQ(all.status, 0) << all.output << all.problems;
}

TEST_F(OnMachinesGpus, UnusedParametersAreFoundWithTheLineOfTheBackward) {
  const std::string script = training("nccl", "    both = rank == 0 or step < 2\n");
  const cli_tests::Ended simulated = run(script, {"--world", "nodes.yaml"});
  EXPECT_EQ(simulated.status, 1) << simulated.problems;
  EXPECT_TRUE(says(simulated, "[unused-parameters]")) << simulated.output << simulated.problems;
  EXPECT_TRUE(says(simulated, "second.weight")) << simulated.output;
  EXPECT_TRUE(says(simulated, "loss.backward()")) << simulated.output;
  const cli_tests::Ended real = run(sharing + script, {"--on", "real", "--patience", "8s"});
  EXPECT_EQ(real.status, 1) << real.problems;
  EXPECT_TRUE(says(real, "[unused-parameters]")) << real.output << real.problems;
  EXPECT_TRUE(says(real, "second.weight")) << real.output;
}

TEST_F(OnMachinesGpus, ReplicasThatDifferAreNamed) {
  const std::string change = R"(
    if rank == 1 and step == 2:
        with torch.no_grad():
            model.module.second.weight.add_(1)
)";
  const cli_tests::Ended simulated = run(training("nccl", change), {"--world", "nodes.yaml"});
  EXPECT_TRUE(says(simulated, "[replicas-differ]")) << simulated.output << simulated.problems;
  EXPECT_TRUE(says(simulated, "second.weight")) << simulated.output;
  const std::string compared = "os.environ['PDSIM_REPLICAS'] = 'all'\n";
  const cli_tests::Ended real = run(compared + sharing + training("nccl", change), {"--on", "real"});
  EXPECT_TRUE(says(real, "[replicas-differ]")) << real.output << real.problems;
  const cli_tests::Ended left_out = run(sharing + training("nccl", change), {"--on", "real"});
  EXPECT_EQ(left_out.status, 0) << left_out.output << left_out.problems;
}

TEST_F(OnMachinesGpus, OneForTwoRanksOfANodeIsWhatNcclRefuses) {
  const cli_tests::Ended simulated = run(training("nccl"), {"--no-cuda-on-cpu"});
  EXPECT_TRUE(says(simulated, "[device-shared]")) << simulated.output << simulated.problems;
  const cli_tests::Ended real = run(training("nccl"), {"--on", "real"});
  EXPECT_EQ(real.status, 1) << real.output << real.problems;
  EXPECT_TRUE(says(real, "Duplicate GPU detected")) << real.output << real.problems;
}

TEST_F(OnMachinesGpus, ATensorOnTheCpuIsRefusedAsByNccl) {
  const cli_tests::Ended simulated = run(
      "torch.cuda.set_device(0)\ndist.init_process_group('nccl')\ndist.all_reduce(torch.ones(2))\n", {"--world", "nodes.yaml"});
  EXPECT_TRUE(says(simulated, "[device-without-backend]")) << simulated.output << simulated.problems;
}

TEST_F(OnMachinesGpus, ABarrierThatARankLeavesOutIsFoundOnRealNccl) {
  const cli_tests::Ended real = run(sharing + training("nccl", R"(
    if step == 3 and rank == 0:
        dist.barrier()
        torch.cuda.synchronize()
)"), {"--on", "real", "--patience", "8s"});
  EXPECT_EQ(real.status, 1) << real.problems;
  EXPECT_TRUE(says(real, "dist.barrier()")) << real.output << real.problems;
}

TEST_F(OnMachinesGpus, AHealthyRunOnRealNcclAndGlooHasNoFinding) {
  for (const std::string backend : {"nccl", "gloo", "cpu:gloo,cuda:nccl"}) {
    const cli_tests::Ended real = run(sharing + training(backend), {"--on", "real"});
    EXPECT_EQ(real.status, 0) << backend << "\n" << real.output << real.problems;
  }
}

}  // namespace
}  // namespace pdsim::guest_tests
