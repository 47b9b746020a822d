// A process's claimed identity: RANK, WORLD_SIZE and MASTER_PORT, which nobody compares with anything.
#include "scenarios/program/identity.h"

#include "core/semantics/library.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>
#include <string>

namespace pdsim::scenarios::operations {
namespace {

constexpr std::int64_t usual_port = 29500;

std::int64_t milliseconds(Time t) { return t.ns() / 1'000'000; }

Rank number_in(std::string_view text) {
  Rank rank = 0;
  std::from_chars(text.data(), text.data() + text.size(), rank);
  return rank;
}

// The server of a TCPStore is a socket of the process that says it is rank 0, on its own host.
Status listen(Session& s, std::int64_t port) {
  const std::string key = fmt::format("listener/{}/{}", s.env.node, port);
  const Result<std::string> holder = s.store->compare_set(key, "", std::to_string(s.env.rank));
  if (!holder.ok()) return holder.error();
  if (*holder == std::to_string(s.env.rank)) return {};
  s.env.recorder.note(notes::PortTaken{port, number_in(*holder)});
  return Error{
      Code::io_error,
      fmt::format("init_process_group: rank 0 cannot listen on port {}: address already in use on this host", port),
      {{"port", std::to_string(port)}}};
}

Error nobody_is(Rank rank, Time timeout) {
  return {Code::store_timeout,
          fmt::format("Wait timeout: rank {} had set no address in the store after {}ms", rank, milliseconds(timeout)),
          {{"peer", std::to_string(rank)}}};
}

}  // namespace

namespace {
bool any_tells(const std::vector<Operation>& program) {
  return std::any_of(program.begin(), program.end(), [](const Operation& op) {
    const auto* init = op.if_is<InitOptions>();
    return (init != nullptr && (init->rank || init->port)) || any_tells(op.body);
  });
}
}  // namespace

bool tells_identity(const Scenario& scenario) { return any_tells(scenario.program); }

Result<Identity> claim_identity(Session& s, const InitOptions& init, int expected, Time timeout) {
  if (s.world == WorldKind::real)
    return Error{Code::unsupported,
                 "init_process_group: `rank` and `port` apply to simulated worlds; real ranks use their launcher's",
                 {}};
  const std::int64_t port = init.port.value_or(usual_port);
  const Rank local_rank = s.env.rank - s.env.node * s.scenario.world.spec.ranks_per_node;
  Identity me;
  const LibrarySemantics* library = library_named(s.scenario.world.spec.backend);
  if (library != nullptr && library->ranks_from_launcher) {  // and it only warns
    me = {s.env.rank, {}, "world"};
    for (Rank rank = 0; rank < s.env.world_size; ++rank) me.members.push_back(rank);
    s.env.recorder.note(notes::Warning{notes::WarningKind::rank_ignored, 0});
    return me;
  }
  const NumberOrWord said = init.rank.value_or(NumberOrWord{s.env.rank});
  me.rank = said.word ? local_rank : static_cast<Rank>(said.number);
  PDSIM_TRY(check_rank(me.rank, expected));
  me.group = fmt::format("world:{}", port);
  if (me.rank == 0 && init.method != InitMethod::file) PDSIM_TRY(listen(s, port));
  const auto key_of = [port](Rank rank) { return fmt::format("process/{}/{}", port, rank); };
  const std::string mine = std::to_string(s.env.rank);
  const Result<std::string> holder = s.store->compare_set(key_of(me.rank), "", mine);
  if (!holder.ok()) return holder.error();
  s.env.recorder.note(notes::IdentityClaimed{me.rank, expected, port, *holder == mine ? no_rank : number_in(*holder),
                                             me.rank == local_rank});
  if (*holder != mine) {  // the others have met somebody else by this number, and expect nobody more
    const std::string nobody = fmt::format("process/{}/who meets {}", port, s.env.rank);
    if (const Status waited = s.store->wait(std::span(&nobody, 1), timeout); waited.error().code != Code::store_timeout)
      return waited.error();
    return nobody_is(me.rank == 0 ? 1 : 0, timeout);
  }
  for (Rank rank = 0; rank < expected; ++rank) {
    const Result<std::string> process = s.store->get(key_of(rank));
    if (!process.ok() && process.error().code == Code::store_timeout) return nobody_is(rank, timeout);
    if (!process.ok()) return process.error();
    me.members.push_back(number_in(*process));
  }
  return me;
}

}  // namespace pdsim::scenarios::operations
