#include "core/collectives/plan_room.h"

#include "core/collectives/collective_shape.h"

#include <fmt/format.h>

#include <exception>

namespace pdsim {
namespace {

std::string_view name_of(BufferId buffer) {
  constexpr std::array<std::string_view, 3> names{"input", "output", "scratch"};
  return names[static_cast<std::size_t>(buffer)];
}

std::string slice_problem(const Slice& s, std::int64_t room) {
  if (room < 0) return fmt::format("uses its {}, for which its row requests {} elements", name_of(s.buffer), room);
  const std::string elements = s.count == 1 ? "1 element" : fmt::format("{} elements", s.count);
  return fmt::format("uses {} from {} on of its {}, which has {}", elements, s.offset, name_of(s.buffer), room);
}

Error broken(const PlanRoom& room, std::string_view problem) {
  return {Code::invalid_argument,
          fmt::format("the plan of {} {} is wrong: rank {} of {} {}", name_of(room.algorithm->kind),
                      room.algorithm->name, room.rank, room.size, problem),
          {{"algorithm", std::string(room.algorithm->name)}}};
}

}  // namespace

std::string PlanRoom::problem(const Step& step) const {
  const bool local = step.kind == Step::Kind::copy || step.kind == Step::Kind::reduce;
  if (!holds(step.slice)) return slice_problem(step.slice, of(step.slice.buffer));
  if (local && !holds(step.from)) return slice_problem(step.from, of(step.from.buffer));
  if (step.kind != Step::Kind::send && step.slice.buffer == BufferId::input && step.slice.count > 0)
    return "writes into its input";
  if (local)
    return fmt::format("{} {} elements {} {}", step.kind == Step::Kind::copy ? "copies" : "combines", step.from.count,
                       step.kind == Step::Kind::copy ? "into" : "with", step.slice.count);
  if (step.peer == rank) return fmt::format("names itself, rank {}, as its peer", step.peer);
  return fmt::format("names rank {} as its peer, and the ranks are 0..{}", step.peer, size - 1);
}

PlanRoom room_of(const Collective& call, const Algorithm& algorithm, const PlanArgs& args) {
  return {&algorithm,
          {input_elements(call, args.rank, args.size), output_elements(call, args.rank, args.size),
           algorithm.scratch_elements(args)},
          args.rank,
          args.size,
          !row(call.kind).point_to_point};
}

Error refused_step(const PlanRoom& room, const Step& step) { return broken(room, room.problem(step)); }

Error thrown_by_plan(const PlanRoom& room) {
  try {
    throw;
  } catch (const std::exception& e) {
    return broken(room, fmt::format("throws: {}", e.what()));
  } catch (...) {
    return broken(room, "throws an object that is not a std::exception");
  }
}

}  // namespace pdsim
