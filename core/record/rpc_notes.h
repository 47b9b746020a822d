// Notes of remote procedure calls (docs/rpc.md).
#pragma once

#include "core/base/quantity.h"
#include "core/record/note_field.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pdsim::notes {

// This rank has joined RPC.
struct RpcJoined {
  std::string worker;
  int server_threads = 0;
  Time timeout{};  // for calls that name none
  static constexpr std::string_view kind = "rpc-joined";
  static constexpr void fields(auto field) {
    field("worker", &RpcJoined::worker), field("server_threads", &RpcJoined::server_threads), field("timeout_ps", &RpcJoined::timeout);
  }
  bool operator==(const RpcJoined&) const = default;
};

// It left: together with all others, or alone.
struct RpcLeft {
  bool graceful = false;
  static constexpr std::string_view kind = "rpc-left";
  static constexpr void fields(auto field) { field("graceful", &RpcLeft::graceful); }
  bool operator==(const RpcLeft&) const = default;
};

// It was asked for a function or method that it has not registered.
struct RpcFunctionMissing {
  std::string function;
  std::string nearest;  // registered name; empty: none is close
  std::int64_t registered = 0;
  int asked_by = -1;    // rank
  std::int64_t request = -1;
  static constexpr std::string_view kind = "rpc-function-missing";
  static constexpr void fields(auto field) {
    field("function", &RpcFunctionMissing::function), field("nearest", &RpcFunctionMissing::nearest),
    field("registered", &RpcFunctionMissing::registered), field("asked_by", &RpcFunctionMissing::asked_by),
    field("request", &RpcFunctionMissing::request);
  }
  bool operator==(const RpcFunctionMissing&) const = default;
};

// A reference that was still in use when RPC was shut down; this rank is its user.
struct RpcReferenceLeft {
  std::string owner;  // worker
  int rref_on = -1;
  std::int64_t rref = -1;
  static constexpr std::string_view kind = "rpc-reference-left";
  static constexpr void fields(auto field) {
    field("owner", &RpcReferenceLeft::owner), field("rref_on", &RpcReferenceLeft::rref_on), field("rref", &RpcReferenceLeft::rref);
  }
  bool operator==(const RpcReferenceLeft&) const = default;
};

// A context of distributed autograd that this rank began has ended.
struct AutogradContextLeft {
  int begun_on = -1;  // rank
  std::int64_t context = -1;
  static constexpr std::string_view kind = "autograd-context-left";
  static constexpr void fields(auto field) {
    field("begun_on", &AutogradContextLeft::begun_on), field("context", &AutogradContextLeft::context);
  }
  bool operator==(const AutogradContextLeft&) const = default;
};

// backward, get_gradients or a step of an optimizer asked for a context that this rank does not have.
struct AutogradContextMissing {
  int begun_on = -1;  // rank
  std::int64_t context = -1;
  static constexpr std::string_view kind = "autograd-context-missing";
  static constexpr void fields(auto field) {
    field("begun_on", &AutogradContextMissing::begun_on), field("context", &AutogradContextMissing::context);
  }
  bool operator==(const AutogradContextMissing&) const = default;
};

// A step of a DistributedOptimizer: the references of its parameters, by where each was made and its number there.
struct DistributedStep {
  int begun_on = -1;
  std::int64_t context = -1;
  std::int64_t optimizer = 0;  // this rank's number of it
  std::vector<std::int64_t> made_on, numbers;
  static constexpr std::string_view kind = "distributed-step";
  static constexpr void fields(auto field) {
    field("begun_on", &DistributedStep::begun_on), field("context", &DistributedStep::context),
    field("optimizer", &DistributedStep::optimizer), field("made_on", &DistributedStep::made_on),
    field("numbers", &DistributedStep::numbers);
  }
  bool operator==(const DistributedStep&) const = default;
};

}  // namespace pdsim::notes
