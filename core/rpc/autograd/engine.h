// DistributedPass: one worker's part of one backward over a context.
//
//   fast mode   every message of the context is assumed to get its gradient: a node runs when the gradients of all paths to it
//               have arrived, counted over the roots and every send of this worker. A message that the loss does not depend on
//               never gets one, and nodes that wait for it never run
//   order       nodes made ready by one message run before those of the next, as PyTorch's threads each have a queue of their
//               own; within it as the local engine (core/nn/autograd.h): by descending sequence number, then as they became
//               ready. Gradients of received tensors leave at once
//   threads     one thread of the worker runs nodes at a time, as PyTorch's of a device does: gradients that arrive while it
//               waits in a node are left to it
//   ends        gradients of leaves go to the context; those of received tensors to `send_back`, once per message
#pragma once

#include "core/rpc/autograd/context.h"

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace pdsim {

class DistributedPass {
 public:
  // The gradients of the message's tensors, in order; undefined where there is none.
  using SendBack = std::function<void(const ReceiveFunction&, std::vector<nn::Tensor> gradients)>;
  // `context` must outlive it.
  DistributedPass(AutogradContext& context, std::span<const nn::Tensor> roots, SendBack send_back);

  // Gives each root the gradient one, and runs the nodes that are ready then.
  Status start(std::span<const nn::Tensor> roots);
  // Takes the gradients of message `number`, which this worker has sent. Error: invalid_argument, where the context has none.
  Status receive(std::int64_t number, const std::vector<nn::Tensor>& gradients);
  // Whether a thread is running nodes: it also runs those that start() and receive() make ready.
  bool running() const { return running_; }

 private:
  struct Returning {
    std::vector<nn::Tensor> gradients;
    std::size_t missing = 0;
  };
  void reach(const nn::Edge& edge);
  void deliver(const nn::Edge& to, const nn::Tensor& gradient);
  Status run();
  Status run_node(std::size_t i);
  void return_gradient(const ReceiveNode& node, const nn::Tensor& gradient);

  AutogradContext& context_;
  SendBack send_back_;
  std::vector<nn::Edge> nodes_;                      // in the order of discovery
  std::map<const nn::Node*, std::size_t> position_;  // looked up only: the order of addresses decides nothing
  std::vector<int> waiting_;
  std::vector<nn::Tensor> gradients_;
  std::map<std::pair<std::int64_t, std::int64_t>, Returning> returning_;  // by worker and number
  std::set<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::size_t>> ready_;
  std::uint64_t arrivals_ = 0, messages_ = 0;
  std::uint64_t message_ = 0;  // makes ready the nodes added now; 0: the roots
  bool running_ = false;
};

}  // namespace pdsim
