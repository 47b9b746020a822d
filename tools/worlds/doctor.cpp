// pdsim doctor: which worlds work on this machine, what the others lack, whether the machine is fit for jobs, and what each library does
// itself.

#include "backends/availability.h"
#include "backends/net/machine_checks.h"
#include "scenarios/guests/interpreter.h"
#include "tools/command.h"
#include "tools/console/capability_tables.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::tools {
namespace {

struct World {
  std::string name;
  bool works = false;
  std::string about;  // its version, or what it lacks and how to get it
};

World world_of(std::string_view name, const Availability& here) {
  return {std::string(name), here.yes, here.yes ? here.version : here.reason};
}

// `pdsim run`, which needs an interpreter with PyTorch.
World scripts() {
  std::string without;
  for (const std::string_view program : scenarios::guests::usual_interpreters) {
    const scenarios::guests::Interpreter found = scenarios::guests::interpreter(std::string(program));
    if (!found.torch.empty())
      return {"run", true,
              fmt::format("{} (Python {}) has PyTorch {}{}", found.path, found.python, found.torch,
                          without.empty() ? "" : "; " + without + " has none")};
    if (!found.path.empty() && without.empty()) without = fmt::format("{} (Python {})", found.path, found.python);
  }
  return {"run", false,
          fmt::format("{}; apt-get install python3-torch, or pip install torch",
                      without.empty() ? "there is no python3" : without + " has no PyTorch")};
}

std::vector<World> all_worlds() {
  std::vector<World> worlds{{"sim", true, ""}};
  for (const RealWorldRow& world : real_worlds()) worlds.push_back(world_of(world.name, world.available()));
  worlds.push_back(scripts());
  return worlds;
}

std::string as_text(const std::vector<World>& worlds, const std::vector<MachineCheck>& checks) {
  std::string text = "pdsim " PDSIM_VERSION "\n";
  for (const World& world : worlds) {
    const std::string about = world.works && world.about.empty() ? "" : (world.works ? ", " : ": ") + world.about;
    text += fmt::format("{:<5} {}{}\n", world.name, world.works ? "works" : "not available", about);
  }
  text += "\nthis machine\n";
  for (const MachineCheck& check : checks) {
    text += fmt::format("  {:<14} {}\n", check.subject, check.found);
    if (!check.advice.empty()) text += fmt::format("  {:<14} -> {}\n", "", check.advice);
  }
  return text + "\n" + capability_tables();
}

std::string as_json(const std::vector<World>& worlds, const std::vector<MachineCheck>& checks) {
  using Json = nlohmann::ordered_json;
  Json object{{"version", 1}, {"pdsim", PDSIM_VERSION}, {"worlds", Json::array()}, {"machine", Json::array()}};
  for (const World& world : worlds)
    object["worlds"].push_back({{"name", world.name}, {"works", world.works}, {"about", world.about}});
  for (const MachineCheck& check : checks) {
    Json row{{"subject", check.subject}, {"found", check.found}};
    if (!check.advice.empty()) row["advice"] = check.advice;
    object["machine"].push_back(std::move(row));
  }
  return object.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Action declare_doctor(CLI::App& app) {
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON object: the worlds, and what was found of the machine");
  return [json](Console& console) {
    const auto checks = machine_checks(this_machine());
    console.print(*json ? as_json(all_worlds(), checks) : as_text(all_worlds(), checks));
    return exit_held;
  };
}

}  // namespace pdsim::tools
