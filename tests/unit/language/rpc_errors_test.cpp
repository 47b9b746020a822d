// What a file may say of remote calls.

#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios {
namespace {

std::string problems_of(const std::string& operation) {
  return report_of("pdsim: 1\nname: mine\nsummary: s\nworld: {ranks: 2}\nprogram:\n  - init_rpc\n  - " + operation +
                   "\n  - shutdown\nexpect: {outcome: ok}\n");
}

void expect_problem(const std::string& operation, const std::string& text) {
  EXPECT_NE(problems_of(operation).find(text), std::string::npos) << operation << "\n" << problems_of(operation);
}

TEST(RpcErrors, AnUnknownWorkerFunctionOrMethodHasASuggestion) {
  expect_problem("rpc_sync: {to: worker3, function: add, args: [1, 2]}", "no worker is named `worker3`");
  expect_problem("rpc_sync: {to: worker1, function: ad, args: [1, 2]}", "did you mean `add`");
  expect_problem("rpc_sync: {to: worker1, function: call, args: [worker7, add, [1, 2]]}",
                 "no worker is named `worker7`");
  expect_problem("rpc_sync: {to: worker1, function: call, args: [worker0, nothing, []]}",
                 "registers a function `nothing`");
}

TEST(RpcErrors, ArgumentsHaveNumberAndTypesOfTheFunction) {
  expect_problem("rpc_sync: {to: worker1, function: add, args: [1]}", "1 argument for `add`, which takes 2");
  expect_problem("rpc_sync: {to: worker1, function: scale, args: [[1, 2], 3]}", "`tensor` of `scale` is not a tensor");
  expect_problem("rpc_sync: {to: worker1, function: compute, args: [soon]}", "is not a duration");
  expect_problem("rpc_sync: {to: worker1, function: add, args: [{number: 1}, 2]}", "neither a reference nor a tensor");
  expect_problem("rpc_sync: {to: worker1, function: add, args: 3}", "is not a list of values");
}

TEST(RpcErrors, ReferencesFuturesAndContextsAreThoseOfEarlierOperations) {
  expect_problem("to_here: {of: counter}", "no earlier `remote` has the label `counter`");
  expect_problem("wait_all: {for: [sum]}", "no earlier `rpc_async` has the label `sum`");
  expect_problem("rpc_sync: {to: worker1, rref: counter, function: step, args: [1]}", "`rref` beside `to`");
  expect_problem("rpc_sync: {function: add, args: [1, 2]}", "`to` is missing in rpc_sync");
  expect_problem("remote: {to: worker1, function: Counter, args: [1]}", "`remote` without a label");
  expect_problem("dist_backward: {of: y}", "`dist_backward` outside autograd_context");
}

TEST(RpcErrors, ACallThatIsRightHasNone) {
  EXPECT_EQ(problems_of("rpc_sync: {to: worker1, function: add, args: [1, 2.5], returns: 3.5}"), "");
}

}  // namespace
}  // namespace pdsim::scenarios
