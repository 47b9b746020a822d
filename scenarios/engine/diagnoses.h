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
std::optional<Diagnosis> connection_lost(const Report& report);
std::optional<Diagnosis> missing_exit(const Report& report);
std::optional<Diagnosis> all_stuck(const Report& report);
std::optional<Diagnosis> sampler_seed(const Report& report);
std::optional<Diagnosis> sampler_epoch(const Report& report);
std::optional<Diagnosis> sampler_missing(const Report& report);
std::optional<Diagnosis> optimizer_before_wrapper(const Report& report);
std::optional<Diagnosis> loss_times_world(const Report& report);
std::optional<Diagnosis> gradients_not_reduced(const Report& report);
std::optional<Diagnosis> parameter_order(const Report& report);
std::optional<Diagnosis> read_before_synchronize(const Report& report);
std::optional<Diagnosis> write_before_wait(const Report& report);
std::optional<Diagnosis> read_before_wait(const Report& report);
std::optional<Diagnosis> store_key_missing(const Report& report);
std::optional<Diagnosis> world_size(const Report& report);
std::optional<Diagnosis> interface_counts(const Report& report);
std::optional<Diagnosis> sampler_length(const Report& report);
std::optional<Diagnosis> model_differs(const Report& report);
std::optional<Diagnosis> strided_view(const Report& report);
std::optional<Diagnosis> device_shared(const Report& report);
std::optional<Diagnosis> device_without_backend(const Report& report);
std::optional<Diagnosis> outside_of_group(const Report& report);
std::optional<Diagnosis> not_initialized(const Report& report);
std::optional<Diagnosis> root_not_in_group(const Report& report);
std::optional<Diagnosis> nothing_to_train(const Report& report);
std::optional<Diagnosis> device_imbalance(const Report& report);
std::optional<Diagnosis> devices_idle(const Report& report);
std::optional<Diagnosis> barrier_device(const Report& report);
std::optional<Diagnosis> result_in_copy(const Report& report);
std::optional<Diagnosis> unfrozen_after_wrapping(const Report& report);
std::optional<Diagnosis> store_gone(const Report& report);
std::optional<Diagnosis> checkpoint_race(const Report& report);
std::optional<Diagnosis> port_in_use(const Report& report);
std::optional<Diagnosis> variable_missing(const Report& report);
std::optional<Diagnosis> rank_claimed_twice(const Report& report);
std::optional<Diagnosis> store_not_shared(const Report& report);
std::optional<Diagnosis> initialized_twice(const Report& report);
std::optional<Diagnosis> call_not_offered(const Report& report);
std::optional<Diagnosis> ddp_on_some_ranks(const Report& report);
std::optional<Diagnosis> models_in_two_orders(const Report& report);
std::optional<Diagnosis> accumulation_not_divided(const Report& report);
std::optional<Diagnosis> batch_sizes_differ(const Report& report);
std::optional<Diagnosis> result_elsewhere(const Report& report);

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
extern const std::string_view connection_lost_text;
extern const std::string_view missing_exit_text;
extern const std::string_view all_stuck_text;
extern const std::string_view sampler_seed_text;
extern const std::string_view sampler_epoch_text;
extern const std::string_view sampler_missing_text;
extern const std::string_view optimizer_before_wrapper_text;
extern const std::string_view loss_times_world_text;
extern const std::string_view gradients_not_reduced_text;
extern const std::string_view parameter_order_text;
extern const std::string_view read_before_synchronize_text;
extern const std::string_view write_before_wait_text;
extern const std::string_view read_before_wait_text;
extern const std::string_view store_key_missing_text;
extern const std::string_view world_size_text;
extern const std::string_view interface_counts_text;
extern const std::string_view sampler_length_text;
extern const std::string_view model_differs_text;
extern const std::string_view strided_view_text;
extern const std::string_view device_shared_text;
extern const std::string_view device_without_backend_text;
extern const std::string_view outside_of_group_text;
extern const std::string_view not_initialized_text;
extern const std::string_view root_not_in_group_text;
extern const std::string_view nothing_to_train_text;
extern const std::string_view device_imbalance_text;
extern const std::string_view devices_idle_text;
extern const std::string_view barrier_device_text;
extern const std::string_view result_in_copy_text;
extern const std::string_view unfrozen_after_wrapping_text;
extern const std::string_view store_gone_text;
extern const std::string_view checkpoint_race_text;
extern const std::string_view port_in_use_text;
extern const std::string_view variable_missing_text;
extern const std::string_view rank_claimed_twice_text;
extern const std::string_view store_not_shared_text;
extern const std::string_view initialized_twice_text;
extern const std::string_view call_not_offered_text;
extern const std::string_view ddp_on_some_ranks_text;
extern const std::string_view models_in_two_orders_text;
extern const std::string_view accumulation_not_divided_text;
extern const std::string_view batch_sizes_differ_text;
extern const std::string_view result_elsewhere_text;
}  // namespace diagnoses

struct DiagnosisRow {
  std::string_view id;     // as scenario files, reports and `pdsim explain` write it
  std::string_view title;  // one line
  std::optional<Diagnosis> (*find)(const Report& report);
  const std::string_view* text;
};

inline constexpr auto diagnosis_table = std::to_array<DiagnosisRow>({
    {"unused-parameters", "a parameter got no gradient, so DDP never reduced its bucket", diagnoses::unused_parameters,
     &diagnoses::unused_parameters_text},
    {"buffer-broadcast-inplace", "DDP's buffer broadcast overwrote what an earlier forward saved for backward",
     diagnoses::buffer_broadcast_inplace, &diagnoses::buffer_broadcast_inplace_text},
    {"marked-ready-twice", "backward accumulated twice into a parameter that DDP counts once",
     diagnoses::marked_ready_twice, &diagnoses::marked_ready_twice_text},
    {"checkpoint-keys", "the keys or shapes of a checkpoint are not the model's", diagnoses::checkpoint_keys,
     &diagnoses::checkpoint_keys_text},
    {"checkpoint-race", "several ranks write one file, or one reads it while another writes",
     diagnoses::checkpoint_race, &diagnoses::checkpoint_race_text},
    {"stale-rendezvous", "a rank read what a run before this one left in the store", diagnoses::stale_rendezvous,
     &diagnoses::stale_rendezvous_text},
    {"device-without-backend", "a call's tensor is on a device that the backend does not serve",
     diagnoses::device_without_backend, &diagnoses::device_without_backend_text},
    {"device-shared", "two ranks of a node use one GPU", diagnoses::device_shared, &diagnoses::device_shared_text},
    {"strided-view", "a tensor that is not contiguous was passed to a collective", diagnoses::strided_view,
     &diagnoses::strided_view_text},
    {"nothing-to-train", "DDP was given a model of which nothing trains", diagnoses::nothing_to_train,
     &diagnoses::nothing_to_train_text},
    {"ddp-on-some-ranks", "some ranks constructed DDP and others have the bare model", diagnoses::ddp_on_some_ranks,
     &diagnoses::ddp_on_some_ranks_text},
    {"models-in-two-orders", "ranks work on the models of one group in different orders",
     diagnoses::models_in_two_orders, &diagnoses::models_in_two_orders_text},
    {"model-differs", "ranks wrapped models with other parameters", diagnoses::model_differs,
     &diagnoses::model_differs_text},
    {"sampler-length", "sampler and loader have different data sets", diagnoses::sampler_length,
     &diagnoses::sampler_length_text},
    {"port-in-use", "two jobs use one MASTER_PORT", diagnoses::port_in_use, &diagnoses::port_in_use_text},
    {"variable-missing", "init by env:// lacks a variable of the launcher's", diagnoses::variable_missing,
     &diagnoses::variable_missing_text},
    {"rank-claimed-twice", "two processes say that they are the same rank", diagnoses::rank_claimed_twice,
     &diagnoses::rank_claimed_twice_text},
    {"store-not-shared", "ranks opened different store files", diagnoses::store_not_shared,
     &diagnoses::store_not_shared_text},
    {"interface-counts", "ranks gave Gloo different numbers of interfaces", diagnoses::interface_counts,
     &diagnoses::interface_counts_text},
    {"world-size", "a rank expects another number of ranks than were started", diagnoses::world_size, &diagnoses::world_size_text},
    {"store-gone", "the process that serves the store ended while others needed it", diagnoses::store_gone,
     &diagnoses::store_gone_text},
    {"store-key-missing", "a rank waits for a key of the store that nobody has set", diagnoses::store_key_missing,
     &diagnoses::store_key_missing_text},
    {"read-before-wait", "the result of an asynchronous call was used before a wait", diagnoses::read_before_wait,
     &diagnoses::read_before_wait_text},
    {"read-before-synchronize", "the host used a result for which only a stream had waited",
     diagnoses::read_before_synchronize, &diagnoses::read_before_synchronize_text},
    {"write-before-wait", "the tensor of an asynchronous call was overwritten before a wait",
     diagnoses::write_before_wait, &diagnoses::write_before_wait_text},
    {"root-not-in-group", "a call on a group names a rank that is not in it", diagnoses::root_not_in_group,
     &diagnoses::root_not_in_group_text},
    {"not-initialized", "a rank used the process group before it had called init", diagnoses::not_initialized,
     &diagnoses::not_initialized_text},
    {"initialized-twice", "init was called while the process group existed", diagnoses::initialized_twice,
     &diagnoses::initialized_twice_text},
    {"call-not-offered", "the backend does not offer the call", diagnoses::call_not_offered,
     &diagnoses::call_not_offered_text},
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
    {"connection-lost", "a connection broke between ranks that lived on", diagnoses::connection_lost,
     &diagnoses::connection_lost_text},
    {"missing-exit", "all ranks entered a call, and some never left it", diagnoses::missing_exit,
     &diagnoses::missing_exit_text},
    {"all-stuck", "every rank is in the same call, nothing differs, and it does not end", diagnoses::all_stuck,
     &diagnoses::all_stuck_text},
    {"missing-call", "a rank never made a call that the others wait in", diagnoses::missing_call,
     &diagnoses::missing_call_text},
    {"parameter-order", "ranks registered the same parameters in different orders", diagnoses::parameter_order,
     &diagnoses::parameter_order_text},
    {"gradients-not-reduced", "the optimizer stepped on gradients that DDP did not reduce",
     diagnoses::gradients_not_reduced, &diagnoses::gradients_not_reduced_text},
    {"loss-times-world", "a mean loss was multiplied by the world size", diagnoses::loss_times_world,
     &diagnoses::loss_times_world_text},
    {"accumulation-not-divided", "gradients of several batches were added up and not averaged over them",
     diagnoses::accumulation_not_divided, &diagnoses::accumulation_not_divided_text},
    {"batch-sizes-differ", "ranks have batches of different sizes, and DDP weighs the ranks alike",
     diagnoses::batch_sizes_differ, &diagnoses::batch_sizes_differ_text},
    {"optimizer-before-wrapper", "the optimizer copied parameters before DDP shared them",
     diagnoses::optimizer_before_wrapper, &diagnoses::optimizer_before_wrapper_text},
    {"sampler-missing", "every rank draws the same samples", diagnoses::sampler_missing,
     &diagnoses::sampler_missing_text},
    {"sampler-epoch", "every epoch draws in the same order", diagnoses::sampler_epoch, &diagnoses::sampler_epoch_text},
    {"sampler-seed", "ranks shuffle with different seeds", diagnoses::sampler_seed, &diagnoses::sampler_seed_text},
    {"outside-of-group", "a rank used the result of a group to which it does not belong", diagnoses::outside_of_group,
     &diagnoses::outside_of_group_text},
    {"unfrozen-after-wrapping", "parameters that DDP does not know were let train", diagnoses::unfrozen_after_wrapping,
     &diagnoses::unfrozen_after_wrapping_text},
    {"result-in-copy", "a call worked on a copy, and the tensor itself was used", diagnoses::result_in_copy,
     &diagnoses::result_in_copy_text},
    {"result-elsewhere", "a rank used the tensor of a reduce whose result another rank has",
     diagnoses::result_elsewhere, &diagnoses::result_elsewhere_text},
    {"barrier-device", "a barrier guessed a GPU that is not the rank's own", diagnoses::barrier_device,
     &diagnoses::barrier_device_text},
    {"devices-idle", "DataParallel has fewer pieces than devices", diagnoses::devices_idle,
     &diagnoses::devices_idle_text},
    {"device-imbalance", "DataParallel loads one device more than the others", diagnoses::device_imbalance,
     &diagnoses::device_imbalance_text},
});

// The first row that speaks; its id is filled in.
std::optional<Diagnosis> diagnose(const Report& report);
// The row with this id; null when there is none.
const DiagnosisRow* diagnosis_named(std::string_view id);

}  // namespace pdsim::scenarios
