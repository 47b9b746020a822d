// THE table of diagnoses. Adding one: a file in diagnoses/, its declaration and a row here, the most specific first.
//
//   speaks   only if it can cite recorded events (Diagnosis::evidence); reads flight records, never names of scenarios
//   silent   returns nothing; the report then shows the first divergence and says that no known cause matches
//   healthy  runs, stragglers among them, get none
#pragma once

#include "scenarios/engine/report.h"

#include <array>
#include <optional>
#include <string_view>

namespace pdsim::scenarios {

namespace diagnoses {
std::optional<Diagnosis> unused_parameters(const Report& report);
std::optional<Diagnosis> buffer_broadcast_inplace(const Report& report);
std::optional<Diagnosis> marked_ready_twice(const Report& report);
std::optional<Diagnosis> checkpoint_keys(const Report& report);
std::optional<Diagnosis> stale_rendezvous(const Report& report);
std::optional<Diagnosis> message_lost(const Report& report);
std::optional<Diagnosis> message_corrupted(const Report& report);
std::optional<Diagnosis> unmatched_message(const Report& report);
std::optional<Diagnosis> timeout_too_short(const Report& report);
std::optional<Diagnosis> rank_hung(const Report& report);
std::optional<Diagnosis> rank_died(const Report& report);
std::optional<Diagnosis> send_cycle(const Report& report);
std::optional<Diagnosis> collective_mismatch(const Report& report);
std::optional<Diagnosis> missing_call(const Report& report);
std::optional<Diagnosis> new_group_mismatch(const Report& report);
std::optional<Diagnosis> delayed_enter(const Report& report);
std::optional<Diagnosis> group_cycle(const Report& report);
std::optional<Diagnosis> parameter_mismatch(const Report& report);
std::optional<Diagnosis> root_mismatch(const Report& report);
std::optional<Diagnosis> missing_record(const Report& report);
std::optional<Diagnosis> missing_exit(const Report& report);
std::optional<Diagnosis> all_stuck(const Report& report);

// The long texts of `pdsim explain`: what happens, how to recognise it, the fix.
extern const std::string_view unused_parameters_text;
extern const std::string_view buffer_broadcast_inplace_text;
extern const std::string_view marked_ready_twice_text;
extern const std::string_view checkpoint_keys_text;
extern const std::string_view stale_rendezvous_text;
extern const std::string_view message_lost_text;
extern const std::string_view message_corrupted_text;
extern const std::string_view unmatched_message_text;
extern const std::string_view timeout_too_short_text;
extern const std::string_view rank_hung_text;
extern const std::string_view rank_died_text;
extern const std::string_view send_cycle_text;
extern const std::string_view collective_mismatch_text;
extern const std::string_view missing_call_text;
extern const std::string_view new_group_mismatch_text;
extern const std::string_view delayed_enter_text;
extern const std::string_view group_cycle_text;
extern const std::string_view parameter_mismatch_text;
extern const std::string_view root_mismatch_text;
extern const std::string_view missing_record_text;
extern const std::string_view missing_exit_text;
extern const std::string_view all_stuck_text;
}  // namespace diagnoses

struct DiagnosisRow {
  std::string_view id;     // as scenario files, reports and `pdsim explain` write it
  std::string_view title;  // one line
  std::optional<Diagnosis> (*find)(const Report& report);
  const std::string_view* text;
};

inline constexpr std::array<DiagnosisRow, 22> diagnosis_table{{
    {"unused-parameters", "a parameter got no gradient, so DDP never reduced its bucket", diagnoses::unused_parameters,
     &diagnoses::unused_parameters_text},
    {"buffer-broadcast-inplace", "DDP's buffer broadcast overwrote what an earlier forward saved for backward",
     diagnoses::buffer_broadcast_inplace, &diagnoses::buffer_broadcast_inplace_text},
    {"marked-ready-twice", "backward accumulated twice into a parameter that DDP counts once",
     diagnoses::marked_ready_twice, &diagnoses::marked_ready_twice_text},
    {"checkpoint-keys", "the keys or shapes of a checkpoint are not the model's", diagnoses::checkpoint_keys,
     &diagnoses::checkpoint_keys_text},
    {"stale-rendezvous", "a rank read what a run before this one left in the store", diagnoses::stale_rendezvous,
     &diagnoses::stale_rendezvous_text},
    {"new-group-mismatch", "a process group was not made by all its members, or in different orders",
     diagnoses::new_group_mismatch, &diagnoses::new_group_mismatch_text},
    {"message-lost", "every rank made its call, and a message between them never arrived", diagnoses::message_lost,
     &diagnoses::message_lost_text},
    {"message-corrupted", "a message arrived with other bytes than were sent", diagnoses::message_corrupted,
     &diagnoses::message_corrupted_text},
    {"delayed-enter", "a call timed out while a rank it waited for was still at work elsewhere",
     diagnoses::delayed_enter, &diagnoses::delayed_enter_text},
    {"timeout-too-short", "a call timed out while every rank was in it and it was at work",
     diagnoses::timeout_too_short, &diagnoses::timeout_too_short_text},
    {"rank-hung", "a rank stopped, alive and silent, and the others wait for it", diagnoses::rank_hung,
     &diagnoses::rank_hung_text},
    {"rank-died", "a rank ended with an error and the others waited for it", diagnoses::rank_died,
     &diagnoses::rank_died_text},
    {"send-cycle", "ranks send to each other in a circle and nobody receives", diagnoses::send_cycle,
     &diagnoses::send_cycle_text},
    {"unmatched-message", "a rank waits in send or recv for a peer that did not make the matching call",
     diagnoses::unmatched_message, &diagnoses::unmatched_message_text},
    {"group-cycle", "ranks wait for each other in a circle across process groups", diagnoses::group_cycle,
     &diagnoses::group_cycle_text},
    {"collective-mismatch", "ranks called different collectives at one sequence number", diagnoses::collective_mismatch,
     &diagnoses::collective_mismatch_text},
    {"parameter-mismatch", "ranks passed one collective different counts, dtypes or reduce operations",
     diagnoses::parameter_mismatch, &diagnoses::parameter_mismatch_text},
    {"root-mismatch", "ranks named different roots in one collective", diagnoses::root_mismatch,
     &diagnoses::root_mismatch_text},
    {"missing-record", "ranks wait in a call that needs a rank of which there is no record", diagnoses::missing_record,
     &diagnoses::missing_record_text},
    {"missing-exit", "all ranks entered a call, and some never left it", diagnoses::missing_exit,
     &diagnoses::missing_exit_text},
    {"all-stuck", "every rank is in the same call, nothing differs, and it does not end", diagnoses::all_stuck,
     &diagnoses::all_stuck_text},
    {"missing-call", "a rank never made a call that the others wait in", diagnoses::missing_call,
     &diagnoses::missing_call_text},
}};

// The first row that speaks; its id is filled in.
std::optional<Diagnosis> diagnose(const Report& report);
// The row with this id; null when there is none.
const DiagnosisRow* diagnosis_named(std::string_view id);

}  // namespace pdsim::scenarios
