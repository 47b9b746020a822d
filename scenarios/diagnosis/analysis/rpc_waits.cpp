#include "scenarios/diagnosis/analysis/rpc_waits.h"

#include "scenarios/records/log_view.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios {
namespace {

bool has_begun(const Call& call, Time moment) {
  return call.state != CallState::issued && call.started.ps > 0 && call.started <= moment;
}

const Call* served_record(const RankLog& callee, Rank caller, const RpcDetails& asked, Time moment) {
  const auto it = std::find_if(callee.calls.begin(), callee.calls.end(), [&](const Call& c) {
    return c.layer == Layer::rpc && c.details->rpc.side == RpcSide::callee && c.peer == caller &&
           c.details->rpc.request == asked.request && c.issued <= moment;
  });
  return it == callee.calls.end() ? nullptr : &*it;
}

// The call that makes the value of this reference, at its owner.
const Call* maker_of(const RankLog& owner, const RpcDetails& wanted, Time moment) {
  const auto it = std::find_if(owner.calls.begin(), owner.calls.end(), [&](const Call& c) {
    const RpcDetails& rpc = c.details->rpc;
    return c.layer == Layer::rpc && rpc.side == RpcSide::callee && rpc.function != "to_here" &&
           rpc.rref_on == wanted.rref_on && rpc.rref == wanted.rref && is_open_at(c, moment);
  });
  return it == owner.calls.end() ? nullptr : &*it;
}

// A backward gives its thread back when it has passed its gradients on, and is over when those are.
bool keeps_its_thread(const Call& served) { return served.details->rpc.function != "backward"; }

// The call in which a server thread waits inside of what it serves, or the oldest that keeps a backward.
const Call* waits_inside(const RankLog& log, const Call& served, Time moment) {
  const Call* found = nullptr;
  for (const Call& call : log.calls)
    if (call.layer == Layer::rpc && call.parent == served.id && is_open_at(call, moment) &&
        (!call.async || (found == nullptr && !keeps_its_thread(served))))
      found = &call;
  return found;
}

class Chain {
 public:
  Chain(const RunRecord& run, Time moment) : run_(run), moment_(moment) {}

  RpcChain from(Rank rank, const Call& call) {
    const Call* next = &call;
    while (next != nullptr && !closes_circle(next)) {
      chain_.hops.push_back(hop_of(rank, *next));
      next = follow(rank, chain_.hops.back());
    }
    return std::move(chain_);
  }

 private:
  bool closes_circle(const Call* call) {
    for (std::size_t i = 0; i < chain_.hops.size(); ++i)
      if (chain_.hops[i].call == call) chain_.back_to = i;
    return chain_.back_to.has_value();
  }

  RpcHop hop_of(Rank rank, const Call& call) const {
    const RpcDetails& asked = call.details->rpc;
    RpcHop hop{rank, call.peer, &call, nullptr, RpcWait::on_its_way, {}, 0};
    const Call* request = call.name == "wait" ? request_of(rank, asked) : &call;
    if (request != nullptr && has_begun(*request, moment_)) {
      hop.wait = RpcWait::for_own_server;
      hop.busy = served_at(log(rank), moment_);
      hop.servers = server_threads_of(log(rank));
      return hop;
    }
    if (asked.request >= 0) hop.served = served_record(log(call.peer), rank, asked, moment_);
    const bool wants_value = asked.request < 0 || asked.function == "to_here";
    if (wants_value && (hop.served != nullptr || asked.request < 0)) {
      const Call* maker = maker_of(log(call.peer), asked, moment_);
      if (asked.request >= 0) hop.wait = RpcWait::for_the_value;
      if (maker != nullptr) return at_server(hop, *maker);
      hop.wait = RpcWait::for_the_value;
      return hop;
    }
    if (hop.served != nullptr) return at_server(hop, *hop.served);
    hop.wait = absence_of(call.peer);
    return hop;
  }

  // Where the server side of it stands.
  RpcHop at_server(RpcHop hop, const Call& served) const {
    hop.served = &served;
    if (served.details->rpc.server >= 0 && has_begun(served, moment_)) {
      hop.wait = waits_inside(log(hop.callee), served, moment_) != nullptr ? RpcWait::in_function : RpcWait::at_work;
      return hop;
    }
    hop.wait = RpcWait::for_a_server;
    hop.busy = served_at(log(hop.callee), moment_);
    hop.servers = server_threads_of(log(hop.callee));
    return hop;
  }

  RpcWait absence_of(Rank callee) const {
    const RankLog& theirs = log(callee);
    if (!is_running_at(theirs, moment_)) return RpcWait::ended;
    const Note* left = first_note<notes::RpcLeft>(theirs);
    if (left != nullptr && left->at <= moment_) return RpcWait::left;
    const Note* joined = first_note<notes::RpcJoined>(theirs);
    return joined == nullptr || joined->at > moment_ ? RpcWait::not_joined : RpcWait::on_its_way;
  }

  // Returns the call that the awaited thread waits in; null: the chain ends here. `rank` becomes that thread's.
  const Call* follow(Rank& rank, const RpcHop& hop) const {
    switch (hop.wait) {
      case RpcWait::in_function:
        rank = hop.callee;
        return waits_inside(log(rank), *hop.served, moment_);
      case RpcWait::for_a_server:
        rank = hop.callee;
        return first_wait(rank, hop.busy);
      case RpcWait::for_own_server:
        return first_wait(rank, hop.busy);
      default:
        return nullptr;
    }
  }

  // One that works will be free.
  const Call* first_wait(Rank rank, const std::vector<const Call*>& busy) const {
    const Call* first = nullptr;
    for (const Call* served : busy) {
      const Call* inside = waits_inside(log(rank), *served, moment_);
      if (inside == nullptr) return nullptr;
      if (first == nullptr) first = inside;
    }
    return first;
  }

  const Call* request_of(Rank rank, const RpcDetails& asked) const {
    for (const Call& call : log(rank).calls)
      if (call.layer == Layer::rpc && call.name != "wait" && call.details->rpc.side == RpcSide::caller &&
          call.details->rpc.request == asked.request)
        return &call;
    return nullptr;
  }

  const RankLog& log(Rank rank) const { return log_of(run_, rank); }

  const RunRecord& run_;
  Time moment_;
  RpcChain chain_;
};

std::string served_text(const std::vector<const Call*>& busy) {
  std::string text;
  for (const Call* served : busy)
    text += fmt::format("{}{} for {}", text.empty() ? "" : ", ", served->details->rpc.function,
                        served->details->rpc.worker);
  return text;
}

std::string servers_text(const RpcHop& hop) {
  const std::string serving = hop.busy.empty() ? std::string() : " (" + served_text(hop.busy) + ")";
  if (hop.servers == 1) return "only server thread is busy" + serving;
  return fmt::format("{} server threads are busy{}", hop.servers, serving);
}

}  // namespace

RpcChain rpc_chain(const RunRecord& run, Rank rank, const Call& call, Time moment) {
  return Chain(run, moment).from(rank, call);
}

std::vector<const Call*> served_at(const RankLog& log, Time moment) {
  std::vector<const Call*> served;
  for (const Call& call : log.calls)
    if (call.layer == Layer::rpc && call.details->rpc.side == RpcSide::callee && call.details->rpc.server >= 0 &&
        has_begun(call, moment) && is_open_at(call, moment) &&
        (keeps_its_thread(call) || waits_inside(log, call, moment) == nullptr))
      served.push_back(&call);
  return served;
}

int server_threads_of(const RankLog& log) {
  const Note* joined = first_note<notes::RpcJoined>(log);
  return joined == nullptr ? 0 : joined->as<notes::RpcJoined>().server_threads;
}

std::string worker_name_of(const RunRecord& run, Rank rank) {
  const Note* joined = first_note<notes::RpcJoined>(log_of(run, rank));
  return joined == nullptr ? fmt::format("rank {}", rank) : joined->as<notes::RpcJoined>().worker;
}

std::string rpc_call_text(const RunRecord& run, const RpcHop& hop) {
  const std::string& function = hop.call->details->rpc.function;
  return fmt::format("{} of {}", function, worker_name_of(run, hop.callee));
}

std::string why_of(const RunRecord& run, const RpcChain& chain) {
  std::string why = "which";
  for (const RpcHop& hop : chain.hops) {
    const std::string of = hop.served == nullptr ? std::string() : hop.served->details->rpc.function;
    switch (hop.wait) {
      case RpcWait::not_joined:
        return why + " has not joined RPC";
      case RpcWait::left:
        return why + " has shut down RPC";
      case RpcWait::ended:
        return why + " has ended";
      case RpcWait::on_its_way:
        return why + " has not received the call";
      case RpcWait::at_work:
        return why + " is at work in " + of;
      case RpcWait::for_the_value:
        return why + " does not have the value yet";
      case RpcWait::in_function:
        why += fmt::format(" is in {} and waits there", of);
        break;
      case RpcWait::for_a_server:
        why += fmt::format(" has received the call, and its {}", servers_text(hop));
        break;
      case RpcWait::for_own_server:
        why += fmt::format(" has replied, and the {} of {}", servers_text(hop), worker_name_of(run, hop.caller));
        break;
    }
    const std::size_t next = static_cast<std::size_t>(&hop - chain.hops.data()) + 1;
    if (next < chain.hops.size())
      why += fmt::format("{} for {}, which", hop.wait == RpcWait::in_function ? "" : " and waits",
                         worker_name_of(run, chain.hops[next].callee));
  }
  return chain.back_to ? why + ": they wait in a circle" : why;
}

}  // namespace pdsim::scenarios
