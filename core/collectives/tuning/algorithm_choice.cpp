#include "core/collectives/tuning/algorithm_choice.h"

#include "core/collectives/proof/apart.h"
#include "core/collectives/proof/plan_proof.h"
#include "core/collectives/tuning/tuning.h"

#include <fmt/format.h>

namespace pdsim {
namespace {

constexpr int most_ranks_proven = 128;

// Elements that every rank agrees on: of uneven parts, the average, where all ranks know all parts.
std::int64_t agreed_count(const Collective& call, int size) {
  if (call.kind == CollectiveKind::all_to_all_v) return 0;
  if (!call.splits) return call.count;
  const std::vector<std::int64_t>& parts =
      call.kind == CollectiveKind::all_gather_v ? call.splits->output : call.splits->input;
  return parts.empty() ? call.count : parts.back() / size;
}

// A caller may build its row again for each call, so rows are compared by value.
bool is_same(const Algorithm& a, const Algorithm& b) {
  return a.kind == b.kind && a.plan == b.plan && a.rounds == b.rounds && a.scratch == b.scratch && a.closed_form == b.closed_form;
}

Status refuse(const Algorithm& own, const std::string& problem, const std::string& drawn) {
  Error error{Code::invalid_argument,
              fmt::format("the plan checker refuses {}", problem),
              {{"algorithm", std::string(own.name)}}};
  if (!drawn.empty()) error.facts.push_back({"counterexample", drawn});
  return error;
}

Status proven(const Algorithm& own, int size, int ranks_per_node) {
  if (!own.has_plan()) return refuse(own, fmt::format("{} {}: it has no plan", name_of(own.kind), own.name), {});
  if (row(own.kind).point_to_point) return {};
  while (size > most_ranks_proven) size = (size + 1) / 2;
  ProofOptions options;
  options.min_size = options.max_size = size;
  options.ranks_per_node = ranks_per_node;
  const PlanProof proof = own.rounds != nullptr ? prove(own, options) : prove_apart(own, options);
  if (proof.ok && proof.cases == 0)
    return refuse(own, fmt::format("{} {}: its `needs` excludes every call on {} ranks", name_of(own.kind), own.name, size), {});
  if (proof.ok) return {};
  const std::string place = own.rounds == nullptr ? "" : own.rounds->place({proof.rank, proof.at.size, proof.at.count, proof.at.root}, proof.round);
  return refuse(own, place.empty() ? proof.problem : fmt::format("{} ({})", proof.problem, place), proof.drawn);
}

}  // namespace

Status AlgorithmProofs::check(const Algorithm& own, int size, int ranks_per_node) {
  for (const Known& known : known_)
    if (known.size == size && known.ranks_per_node == ranks_per_node && known.name == own.name &&
        is_same(known.row, own))
      return known.verdict;
  Known now{own, std::string(own.name), size, ranks_per_node, proven(own, size, ranks_per_node)};
  now.row.name = now.row.formula = {};
  known_.push_back(std::move(now));
  return known_.back().verdict;
}

Result<const Algorithm*> find_algorithm(const Collective& call, AlgorithmProofs& proofs, int size, int ranks_per_node) {
  const Algorithm* own = call.own_algorithm;
  if (own == nullptr) {
    const Tuning* tuning = tuning_named(call.algorithm);
    if (tuning == nullptr) return find_algorithm(call.kind, call.algorithm);
    const auto element = static_cast<std::int64_t>(size_of(call.dtype));
    return find_algorithm(call.kind,
                          chosen_by(*tuning, {call.kind, size, agreed_count(call, size), element, ranks_per_node}));
  }
  if (own->kind != call.kind)
    return Error{Code::invalid_argument,
                 fmt::format("{}: the call's algorithm {} is one of {}", name_of(call.kind), own->name,
                             name_of(own->kind)),
                 {{"algorithm", std::string(own->name)}}};
  if (!call.unproven) PDSIM_TRY(proofs.check(*own, size, ranks_per_node));
  return own;
}

Result<const Algorithm*> find_plan(const Collective& call, AlgorithmProofs& proofs, int size, bool has_native,
                                   std::string_view library) {
  if (call.own_algorithm != nullptr) return find_algorithm(call, proofs, size);
  const bool wants_native = call.algorithm == "native";
  if (has_native && (wants_native || call.algorithm == "auto")) return static_cast<const Algorithm*>(nullptr);
  if (wants_native)
    return Error{
        Code::unsupported, fmt::format("{} has no native {}; use a plan (auto)", library, name_of(call.kind)), {}};
  return find_algorithm(call, proofs, size);
}

}  // namespace pdsim
