// How ranks of `pdsim run` end, and what is left of them: nobody, and no file.

#include "tests/cli/support/leftovers.h"
#include "tests/cli/support/program.h"
#include "tests/guests/python.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

namespace pdsim::guest_tests {
namespace {

using cli_tests::Ended;
using cli_tests::Folder;
using cli_tests::run_pdsim;

const std::string beginning = R"(import os, sys, time
import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank = dist.get_rank()
)";

Ended run_script(const std::string& script, std::vector<std::string> flags = {"-n", "2"}, cli_tests::RunOptions how = {}) {
  const Folder folder;
  folder.write("train.py", script);
  flags.insert(flags.begin(), "run");
  flags.insert(flags.end(), {"--", python_with_torch(), "train.py"});
  const cli_tests::Leftovers before;
  how.temporary_here = true;
  Ended run = run_pdsim(flags, folder.path(), how);
  EXPECT_TRUE(before.none_of(folder, {"train.py"}));
  return run;
}

bool shows(const Ended& run, const std::string& text) { return run.output.find(text) != std::string::npos; }

class GuestEndings : public testing::Test {
 protected:
  void SetUp() override {
    if (python_with_torch().empty()) GTEST_SKIP() << no_torch;
  }
};

TEST_F(GuestEndings, AScriptMayStartItsRanksItself) {
  const Ended run = run_script(R"(import torch
import torch.distributed as dist
import torch.multiprocessing as mp


def train(rank, size):
    dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29500", rank=rank, world_size=size)
    t = torch.ones(1) * rank
    dist.all_reduce(t)
    assert t.item() == 3


if __name__ == "__main__":
    mp.spawn(train, args=(3,), nprocs=3)
)",
                               {});
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
  EXPECT_TRUE(shows(run, "3 ranks, finished")) << run.output;
}

// With the switches that let PyTorch 1.13's torchrun start on Python 3.11.
TEST_F(GuestEndings, DISABLED_TorchrunMayStartTheRanks) {
  const Folder folder;
  folder.write("train.py", beginning + "dist.barrier()\nif rank == 0:\n    dist.barrier()\n");
  const Ended run = run_pdsim({"run", "--", python_with_torch(), "-m", "torch.distributed.run", "-r", "0:1", "-t", "0:1",
                               "--nproc_per_node", "2", "train.py"},
                              folder.path());
  EXPECT_EQ(run.status, 1) << run.output << run.problems;
  EXPECT_TRUE(shows(run, "missing-call]: rank 0 waits in barrier #2 for rank 1, which never called it")) << run.output << run.problems;
}

TEST_F(GuestEndings, AScriptMayUseAStoreOfItsOwnBeforeItMakesAGroupOfIt) {
  for (const std::string backend : {"gloo", "nccl"}) {
    const Ended run = run_script(R"(import os, torch.distributed as dist
rank = int(os.environ["RANK"])
store = dist.TCPStore("127.0.0.1", 29611, 2, rank == 0)
store.set(f"{rank}", "here")
store.wait(["0", "1"])
dist.init_process_group(")" + backend + R"(", store=store, rank=rank, world_size=2)
dist.barrier()
)");
    EXPECT_EQ(run.status, 0) << run.output << run.problems;
    EXPECT_TRUE(shows(run, "2 ranks, finished in")) << run.output << run.problems;
    EXPECT_EQ(run.problems.find("`pdsim run --backend nccl`") != std::string::npos, backend == "nccl") << run.problems;
  }
}

TEST_F(GuestEndings, AKilledRankIsADeadPeer) {
  const Ended run = run_script(beginning + "if rank == 1:\n    os.kill(os.getpid(), 9)\ndist.barrier()\n");
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run, "error[rank-died]: rank 0 waited for rank 1, which died by signal 9 after init_process_group\n"))
      << run.output;
  EXPECT_TRUE(shows(run, "^ rank 1 ended after this")) << run.output;
}

TEST_F(GuestEndings, ARankThatLeavesWithAStatusOfItsOwnFails) {
  const Ended run = run_script(beginning + "if rank == 1:\n    os._exit(3)\ndist.barrier()\n");
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run, "rank 1, which exited with status 3 after init_process_group at\ntrain.py:8\n")) << run.output;
  EXPECT_TRUE(shows(run, "8 |     os._exit(3)\n  |     ^ rank 1 ended here\n")) << run.output;
}

// Rank 1 leaves in line 11.
const std::string leaving = beginning + R"(t = torch.ones(1)
dist.all_reduce(t)
try:
    if rank == 1:
        LEAVE
finally:
    t.zero_()
dist.all_reduce(t)
)";

std::string leaving_by(const std::string& statement) {
  std::string script = leaving;
  return script.replace(script.find("LEAVE"), 5, statement);
}

TEST_F(GuestEndings, AnExitIsShownWithItsStatusAndItsLine) {
  for (const std::string statement : {"sys.exit(5)", "exit(5)"}) {
    const Ended run = run_script(leaving_by(statement));
    EXPECT_EQ(run.status, 1) << run.problems;
    EXPECT_TRUE(shows(run, "2 ranks, rank 1 exited with status 5\n")) << run.output;
    EXPECT_TRUE(shows(run, "rank 0 waited for rank 1, which exited with status 5 after all_reduce #1 at\ntrain.py:11\n")) << run.output;
    EXPECT_TRUE(shows(run, "11 |         " + statement + "\n   |         ^ rank 1 ended here\n")) << run.output;
    EXPECT_TRUE(shows(run, "rank 1: exited with status 5\n")) << run.output;
  }
}

TEST_F(GuestEndings, TheTextOfAnExitIsShown) {
  const Ended run = run_script(beginning + "dist.barrier()\nif rank == 1:\n    sys.exit('no data left')\n");
  EXPECT_TRUE(shows(run, "\nerror: rank 1 exited with status 1: no data left\n")) << run.output;
  EXPECT_TRUE(shows(run, "^ rank 1 exited here\n")) << run.output;
  EXPECT_TRUE(shows(run, "(exited)")) << run.output;
}

TEST_F(GuestEndings, AnExitWhoseLineNobodyKnowsIsAfterTheLastCall) {
  const Ended run = run_script(leaving_by("raise SystemExit(5)"));
  EXPECT_TRUE(shows(run, "exited with status 5 after all_reduce #1\n")) << run.output;
  EXPECT_TRUE(shows(run, "^ rank 1 ended after this\n")) << run.output;
}

TEST_F(GuestEndings, AnExceptionIsShownWithItsTypeAndItsLine) {
  const Ended run = run_script(leaving_by("raise ValueError('bad batch')"));
  EXPECT_TRUE(shows(run, "2 ranks, rank 1 raised ValueError\n")) << run.output;
  EXPECT_TRUE(shows(run, "which raised ValueError after all_reduce #1 at\ntrain.py:11\n")) << run.output;
  EXPECT_TRUE(shows(run, "The error was: ValueError: bad batch\n")) << run.output;
}

TEST_F(GuestEndings, ProgramsReadHowARankEndedInTheReports) {
  for (const auto& [statement, member, shown] :
       {std::tuple{"sys.exit(5)", R"("exit_status":5)", "exited with status 5"},
        std::tuple{"raise KeyError('lr')", R"("exception":"KeyError")", "KeyError"}}) {
    const Folder folder;
    folder.write("train.py", leaving_by(statement));
    const Ended run =
        run_pdsim({"run", "-n", "2", "--json", "--out", "out", "--", python_with_torch(), "train.py"}, folder.path());
    EXPECT_NE(run.output.find(member), std::string::npos) << run.output;
    EXPECT_NE(cli_tests::text_of(folder.path() / "out/train.py/report.html").find(shown), std::string::npos);
  }
}

TEST_F(GuestEndings, AnExitInAProcessOfTheScriptsOwnIsShownAndOneThatWasCaughtIsNot) {
  const Ended run = run_script(R"(import os, subprocess, sys
if "RANK" not in os.environ:
    ranks = [subprocess.Popen([sys.executable, "train.py"], env={**os.environ, "RANK": str(rank)}) for rank in range(2)]
    sys.exit(sum(rank.wait() for rank in ranks))
import torch.distributed as dist
dist.init_process_group("gloo", init_method="tcp://127.0.0.1:29500", world_size=2, rank=int(os.environ["RANK"]))
dist.barrier()
if dist.get_rank() == 1:
    sys.exit(6)
try:
    sys.exit(4)
except SystemExit:
    pass
)",
                               {});
  EXPECT_TRUE(shows(run, "\nerror: rank 1 exited with status 6\n")) << run.output << run.problems;
  EXPECT_TRUE(shows(run, "9 |     sys.exit(6)\n")) << run.output;
  EXPECT_TRUE(shows(run, "(finished)")) << run.output;
}

TEST_F(GuestEndings, AnEndlessLoopIsFoundWithItsLine) {
  const Ended run =
      run_script(beginning + "while rank == 1:\n    pass\ndist.barrier()\n", {"-n", "2", "--patience", "3s"});
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run, "deadlock[rank-hung]")) << run.output;
}

TEST_F(GuestEndings, ALoopThatOnlySleepsIsFoundWithItsLine) {
  const Ended run = run_script(beginning + R"(if rank == 0:
    dist.barrier()
    open("flag", "w").close()
while not os.path.exists("flag"):
    time.sleep(0.5)
dist.barrier()
)",
                               {"-n", "2", "--patience", "2s"});
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run, "deadlock[rank-hung]")) << run.output;
  EXPECT_TRUE(shows(run, "11 |     time.sleep(0.5)\n   |     ^ ")) << run.output;
}

TEST_F(GuestEndings, AnExceptionOfASignalsFunctionLeavesTheAnswerToItsCall) {
  const std::string signalled = R"(import signal


def late(number, frame):
    raise TimeoutError("step")


plain = os.readv


def read_late(*args):
    os.readv = plain
    signal.pthread_kill(receiver, signal.SIGUSR1)
    return plain(*args)


signal.signal(signal.SIGUSR1, late)
if rank == 0:
    os.readv = read_late
try:
    dist.all_reduce(torch.ones(1))
    while rank == 0:  # on a busy machine the signal may come this late
        pass
except TimeoutError as error:
    print("raised", error)
sums = torch.ones(2)
dist.all_reduce(sums)
print("then", sums.tolist())
)";
  const std::string main_thread = "import threading\nreceiver = threading.main_thread().ident\n";
  const std::string another = R"(import threading
beside = threading.Thread(target=threading.Event().wait, daemon=True)
beside.start()
receiver = beside.ident
)";
  for (const std::string& receiver : {main_thread, another}) {  // Python runs the function on the main thread, either way
    const Ended run = run_script(beginning + receiver + signalled);
    EXPECT_EQ(run.status, 0) << run.problems;
    EXPECT_TRUE(shows(run, "[rank 0] raised step\n")) << run.output << run.problems;
    EXPECT_TRUE(shows(run, "[rank 0] then [2.0, 2.0]\n")) << run.output << run.problems;
  }
}

TEST_F(GuestEndings, AnotherWorldSizeIsNamed) {
  const Ended run = run_script(R"(import os
import torch.distributed as dist

dist.init_process_group("gloo", rank=int(os.environ["RANK"]), world_size=3)
)");
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run, "[world-size]")) << run.output;
}

TEST_F(GuestEndings, AScriptWithoutRanksHasNothingToSimulate) {
  const Ended run = run_script("print('hello')\n");
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_NE(run.problems.find("no rank called init_process_group"), std::string::npos) << run.problems;
}

TEST_F(GuestEndings, AnInterruptEndsAllAtOnce) {
  cli_tests::RunOptions how;
  how.interrupt_after_bytes = 1;
  const Ended run =
      run_script(beginning + "print('ready', file=sys.stderr, flush=True)\nwhile True:\n    pass\n", {"-n", "2"}, how);
  EXPECT_EQ(run.status, 130) << run.output << run.problems;
}

TEST_F(GuestEndings, ASitecustomizeOfTheUsersStillRuns) {
  const Folder folder;
  folder.write("sitecustomize.py", "print('customized')\n");
  folder.write("train.py", beginning + "dist.barrier()\n");
  const Ended run =
      run_pdsim({"run", "-n", "1", "--", "sh", "-c",
                 "PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$PYTHONPATH:$PWD exec " + python_with_torch() + " train.py"},
                folder.path());
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
  EXPECT_TRUE(shows(run, "[rank 0] customized")) << run.output;
}

TEST_F(GuestEndings, AVersionThatWasNotTriedIsSaidAndCarried) {
  const Ended run = run_script(R"(import torch
torch.version.__version__ = str(torch.__version__).split(".")[0] + ".99.1"
import torch.distributed as dist
dist.init_process_group("gloo")
dist.barrier()
)");
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
  EXPECT_NE(run.problems.find(".99.1 has not been tested with pdsim run (1.13, 2.6, 2.11 and 2.14 have); the run continues\n"),
            std::string::npos)
      << run.problems;
}

TEST_F(GuestEndings, AnExceptionAtImportIsToldWithItsLine) {
  const Ended run = run_script("import torch.distributed as dist\nimport no_such_module_anywhere\n");
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run, "\nerror: ranks 0, 1: ModuleNotFoundError: No module named 'no_such_module_anywhere'\n  --> ")) << run.output;
  EXPECT_TRUE(shows(run, "2 | import no_such_module_anywhere\n")) << run.output;
}

TEST_F(GuestEndings, AnExceptionBeforeAnyRankHasStartedIsToldWithItsLine) {
  const Ended run = run_script("def settings():\n    raise KeyError('epochs')\n\nsettings()\n", {});
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run, "\nerror: rank 0: KeyError: 'epochs'\n  --> ")) << run.output;
  EXPECT_TRUE(shows(run, "2 |     raise KeyError('epochs')\n")) << run.output;
}

TEST_F(GuestEndings, ARankThatIsKilledInInitSaysSo) {
  const Ended run = run_script(R"(import os
import torch.distributed as dist

if os.environ["RANK"] == "1":
    dist.distributed_c10d._new_process_group_helper = lambda *unused, **named: os.kill(os.getpid(), 9)
dist.init_process_group("gloo")
)");
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run, "rank 1, which died by signal 9 in init_process_group\n")) << run.output;
  EXPECT_TRUE(shows(run, "^ rank 1 ended here")) << run.output;
}

TEST_F(GuestEndings, ARankThatExitsInsideOfACollectiveFails) {
  const Ended run = run_script(beginning + R"(import threading
if rank == 1:
    threading.Timer(0.3, lambda: os._exit(4)).start()
else:
    began = os.times().elapsed
    while os.times().elapsed < began + 1:
        pass
dist.barrier()
dist.barrier()
)");
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run, "exited with status 4")) << run.output;
}

TEST_F(GuestEndings, AProcessThatARankForkedMayNotCallAndLeavesTheRankAsItWas) {
  const Ended run = run_script(beginning + R"(child = os.fork()
if child == 0:
    try:
        dist.barrier()
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
dist.barrier()
)");
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
  EXPECT_TRUE(shows(run, "was forked from a rank and calls torch.distributed too")) << run.output;
}

TEST_F(GuestEndings, MegabytesThatRanksPrintAreAllShown) {
  const Ended run = run_script(beginning + "for line in range(20000):\n    print('x' * 100)\ndist.barrier()\n");
  EXPECT_EQ(run.status, 0) << run.problems;
  EXPECT_GT(run.output.size(), 2U * 20'000 * 100);
}

TEST_F(GuestEndings, RpcIsNamedAsWhatCannotBeCarried) {
  const Ended run = run_script(beginning + "from torch.distributed import rpc\nrpc.init_rpc(f'worker{rank}', rank=rank, world_size=2)\n");
  EXPECT_EQ(run.status, 1) << run.problems;
  EXPECT_TRUE(shows(run, "pdsim run does not support torch.distributed.rpc")) << run.output;
}

TEST_F(GuestEndings, AStrangerOnTheSocketIsIgnored) {
  const Ended run = run_script(R"(import os, socket
for garbage in (b"\xff" * 64, b"\x02\0\0\0" + b"\0" * 8 + b"{}", b"\x01"):
    stranger = socket.socket(socket.AF_UNIX)
    stranger.connect(os.environ["PDSIM_GUEST"])
    stranger.send(garbage)
    stranger.close()
)" + beginning + "dist.barrier()\n",
                               {"-n", "2", "--no-fork"});
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
}

TEST(GuestInput, AScriptThatIsNotThereIsWrongInput) {
  for (const std::vector<std::string>& command : {std::vector<std::string>{"no_such.py"}, {"-u", "no_such.py", "--epochs", "1"}}) {
    std::vector<std::string> arguments{"run", "-n", "2", "--", "python3"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const Ended run = run_pdsim(arguments, "/");
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.problems, "pdsim: there is no script no_such.py; nothing was run\n");
  }
}

TEST(GuestInput, AFolderIsAScriptOnlyWithItsMain) {
  const Ended run = run_pdsim({"run", "-n", "2", "--", "python3", "/usr"}, "/");
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.problems, "pdsim: /usr is a folder without __main__.py; nothing was run\n");
}

TEST(GuestInput, AScenarioFileIsRunAsOne) {
  const Ended run = run_pdsim({"run", "rank_zero_barrier.yaml", "--seed", "3"}, "/");
  const Ended scenario = run_pdsim({"scenario", "rank_zero_barrier.yaml", "--seed", "3"}, "/");
  EXPECT_EQ(run.status, 0) << run.problems;
  const auto without_wall_time = [](const std::string& text) { return text.substr(0, text.rfind(" in ")); };
  EXPECT_EQ(without_wall_time(run.output), without_wall_time(scenario.output));
}

TEST(GuestInput, FlagsOfScriptsAreRefusedForAScenarioFile) {
  const Ended run = run_pdsim({"run", "-n", "2", "mine.yaml"}, "/");
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.problems,
            "pdsim: -n is for scripts, but mine.yaml is a scenario file, which sets it itself: `pdsim scenario "
            "mine.yaml`; nothing was run\n");
}

TEST(GuestInput, AWorldThatIsWrongIsRefusedWithItsPlace) {
  const Folder folder;
  folder.write("train.py", "");
  folder.write("world.yaml", "nodes: 2\nranks_per_node: 1\nlnk: {}\n");
  const Ended run =
      run_pdsim({"run", "-n", "2", "--world", "world.yaml", "--fault", "hang: {}", "--", "python3", "train.py"}, folder.path());
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.problems, R"(error[world]: unknown key `lnk` in world
  --> world.yaml:3:1
  |
3 | lnk: {}
  | ^^^ did you mean `link`?
)");
  const Ended fault = run_pdsim({"run", "-n", "2", "--fault", "crash: {rnk: 1}", "--", "python3", "train.py"}, folder.path());
  EXPECT_EQ(fault.status, 2);
  EXPECT_EQ(fault.problems, R"(error[option]: unknown key `rnk`
  --> --fault:1:9
  |
1 | crash: {rnk: 1}
  |         ^^^ it takes no options
)");
  const Ended open = run_pdsim({"run", "-n", "2", "--fault", "crash: {", "--", "python3", "train.py"}, folder.path());
  EXPECT_EQ(open.status, 2);
  EXPECT_EQ(open.problems, R"(error[option]: a key that is a list or a mapping
  --> --fault:1:1
  |
1 | crash: {
  | ^ keys are plain words; is a bracket not closed?
)");
  const Ended json = run_pdsim({"run", "--json", "-n", "2", "--world", "world.yaml", "--", "python3", "train.py"}, folder.path());
  EXPECT_EQ(json.status, 2);
  EXPECT_NE(json.output.find(R"("message":"unknown key `lnk` in world","file":"world.yaml","line":3,"column":1,)"), std::string::npos)
      << json.output;
  EXPECT_EQ(run_pdsim({"run", "-n", "2", "--cuda-on-cpu", "--no-cuda-on-cpu", "--", "python3", "train.py"}, folder.path()).status, 2);
}

TEST(GuestInput, AWorldWithoutASizeHasThatOfTheRanks) {
  const Folder folder;
  folder.write("world.yaml", "link: {latency: 1us, bandwidth: 1GB/s}");
  const Ended sized = run_pdsim({"run", "-n", "2", "--world", "world.yaml", "--", "true"}, folder.path());
  EXPECT_EQ(sized.problems, "pdsim: no rank called init_process_group, so there was nothing to simulate\n");
  const Ended alone = run_pdsim({"run", "--world", "world.yaml", "--", "true"}, folder.path());
  EXPECT_EQ(alone.status, 2);
  EXPECT_EQ(alone.problems.find("error[world]: the world has no size"), 0U) << alone.problems;
}

TEST(GuestInput, AFileToSaveIntoThatCannotBeOneIsWrongInput) {
  for (const std::string file : {"my-calls.yaml", "calls.json", "no/such/folder/calls.yaml"}) {
    const Ended run = run_pdsim({"run", "-n", "2", "--save", file, "--", "true"}, "/");
    EXPECT_EQ(run.status, 2) << file;
    EXPECT_NE(run.problems.find("nothing was run"), std::string::npos) << run.problems;
  }
}

TEST(GuestInput, AProgramThatIsNotThereIsWrongInput) {
  const Ended run = run_pdsim({"run", "-n", "2", "--", "./no-such-program"}, "/");
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(run.problems, "pdsim: there is no program ./no-such-program; nothing was run\n");
}

}  // namespace
}  // namespace pdsim::guest_tests
