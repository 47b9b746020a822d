// Interpreters and libraries that `pdsim run` cannot carry: one line that names them, and the status of it.

#include "tests/cli/support/program.h"
#include "tests/guests/python.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace pdsim::guest_tests {
namespace {

using cli_tests::Ended;
using cli_tests::Folder;
using cli_tests::run_pdsim;

TEST(Unusable, AnInterpreterWithoutPyTorchIsSaidInOneLine) {
  const Folder folder;
  folder.write("train.py", "import sys\nsys.modules['torch'] = None\nimport torch\n");
  const Ended run = run_pdsim({"run", "-n", "2", "--", "python3", "train.py"}, folder.path());
  EXPECT_EQ(run.status, 3) << run.output << run.problems;
  EXPECT_NE(run.problems.find("pdsim: python3 finds no PyTorch"), std::string::npos) << run.problems;
}

// Stands for a PyTorch of another version; what matters of it is only that.
void write_torch(const Folder& folder, const std::string& version) {
  std::filesystem::create_directories(folder.path() / "torch/distributed");
  folder.write("torch/__init__.py", "from . import version\n");
  folder.write("torch/version.py", "__version__ = '" + version + "'\n");
  folder.write("torch/distributed/__init__.py", "from . import distributed_c10d\n");
  folder.write("torch/distributed/distributed_c10d.py", "");
  folder.write("train.py", "import torch.distributed\nprint('begins')\n");
}

TEST(Unusable, APyTorchThatIsTooOldIsSaidInOneLine) {
  const std::vector<std::vector<std::string>> ways{{"-n", "2"}, {}, {"-n", "2", "--no-fork"}};
  for (const std::string version : {"1.9.0", "1.12.1"})
    for (std::vector<std::string> arguments : ways) {
      const Folder folder;
      write_torch(folder, version);
      arguments.insert(arguments.begin(), "run");
      arguments.insert(arguments.end(), {"--", "python3", "train.py"});
      const Ended run = run_pdsim(arguments, folder.path());
      EXPECT_EQ(run.status, 3) << run.output;
      EXPECT_EQ(run.problems,
                "pdsim: python3 has PyTorch " + version + ", which pdsim run does not support; use 1.13 or 2.x\n");
      EXPECT_EQ(run.output, "") << "nothing of the script has run";
    }
}

TEST(Unusable, APyTorchThatCannotBeHookedIntoIsSaidInOneLine) {
  const Folder folder;
  write_torch(folder, "2.99");
  const Ended run = run_pdsim({"run", "-n", "2", "--", "python3", "train.py"}, folder.path());
  EXPECT_EQ(run.status, 3) << run.output;
  EXPECT_EQ(run.problems, "pdsim: python3 has PyTorch 2.99, which pdsim run does not support; use 1.13 or 2.x\n");
}

// A package that only says when it is imported.
void write_package(const Folder& folder, const std::string& name, const std::string& module) {
  std::filesystem::create_directories(folder.path() / name);
  folder.write(name + "/__init__.py", "");
  folder.write(name + "/" + module + ".py", "print('imported')\n");
}

TEST(Unusable, LibrariesBesideTorchDistributedAreNamedOnce) {
  const std::vector<std::pair<std::string, std::string>> libraries{{"mpi4py", "MPI"}, {"horovod", "torch"}, {"byteps", "torch"}};
  const Folder folder;
  std::string script;
  for (const auto& [name, module] : libraries) {
    write_package(folder, name, module);
    script += "import " + name + "." + module + "\n";
  }
  folder.write("train.py", script);
  const Ended run = run_pdsim({"run", "-n", "2", "--no-fork", "--", "python3", "train.py"}, folder.path());
  EXPECT_EQ(run.status, 0) << run.output << run.problems;
  for (const auto& [name, module] : libraries) {
    const std::string line = "pdsim: " + name + " communicates outside torch.distributed: its calls are not simulated "
                                                "and not part of any finding\n";
    const std::size_t at = run.problems.find(line);
    ASSERT_NE(at, std::string::npos) << run.problems;
    EXPECT_EQ(run.problems.find(line, at + 1), std::string::npos) << run.problems;
  }
}

}  // namespace
}  // namespace pdsim::guest_tests
