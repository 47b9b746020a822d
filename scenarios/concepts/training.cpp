#include "scenarios/concepts/concepts.h"

namespace pdsim::scenarios {
namespace {

constexpr Concept training_concepts[] = {
    {"ddp",
     {"distributeddataparallel", "distributed_data_parallel", "wrapper", "reducer", "replicate"},
     "DistributedDataParallel: every rank has the whole model and its own part of the batch. The constructor "
     "broadcasts rank 0's parameters; in backward the gradients are averaged over the ranks, bucket by bucket, so that "
     "every optimizer makes the same step and the replicas stay equal. It compares nothing afterwards: replicas that "
     "drift apart keep training silently.",
     run_of("unused_params", "fixed"),
     {"unused-parameters", "replicas-differ", "gradients-not-reduced", "ddp-on-some-ranks"},
     {"ddp_equals_single_process", "unused_params", "module_bypass"},
     {"bucket", "ddp_step", "no_sync", "join"}},
    {"bucket",
     {"gradient_bucket", "bucket_cap_mb", "bucket_cap", "bucketing", "buckets", "gradient_as_bucket_view"},
     "A group of gradients that DDP reduces with one all_reduce: large messages use the network better than many small ones. Buckets "
     "are filled in the reverse order of the parameters, 25 MiB each (the first 1 MiB), so that the all_reduce of the last layers "
     "starts while backward still computes the first. A bucket is sent when every gradient in it has arrived; one missing gradient "
     "holds up that bucket and all after it.",
     run_of("unused_params", "broken"),
     {"unused-parameters", "gradients-not-reduced"},
     {"unused_params", "resnet50_buckets", "backward_overlap"},
     {"ddp", "overlap", "find_unused_parameters"}},
    {"ddp_step",
     {"training_step", "step"},
     "One iteration of training with DDP: forward (before it, rank 0's buffers are broadcast), backward (each bucket's "
     "all_reduce starts as soon as its gradients are ready, and backward ends when all are done), optimizer step (no "
     "messages: every rank makes the same step from the same gradients). So each step has at least as many collectives "
     "as buckets, in the same order everywhere.",
     run_of("unused_params", "fixed"),
     {"missing-call", "unused-parameters"},
     {"ddp_equals_single_process", "skipped_backward"},
     {"bucket", "buffers", "overlap"}},
    {"find_unused_parameters",
     {"unused_parameters"},
     "An option of DDP: after each forward it walks the graph from the outputs and marks parameters that the loss does "
     "not reach as ready, so that their buckets are sent anyway. It costs a walk and one more all_reduce per step; "
     "without it, if one rank does not use a parameter, the others wait for its bucket.",
     run_of("unused_params", "broken"),
     {"unused-parameters", "marked-ready-twice"},
     {"unused_params", "find_unused_for_nothing", "routed_experts"},
     {"bucket", "static_graph"}},
    {"static_graph",
     {},
     "An option of DDP: a promise that every step uses the same parameters in the same way. DDP learns in the first "
     "step which parameters the graph uses, and needs no walk later; checkpointed blocks that run twice become "
     "possible. If the graph changes anyway, buckets wait for gradients that never arrive.",
     {},
     {"unused-parameters", "marked-ready-twice"},
     {"changed_static_graph", "marked_ready_twice"},
     {"find_unused_parameters"}},
    {"no_sync",
     {"gradient_accumulation", "accumulation", "accumulate_gradients", "gradient_sync"},
     "A context of DDP in which backward only accumulates gradients and sends nothing; the next backward outside "
     "reduces the sum. The position of the forward counts: the last micro-batch's forward and backward must both be "
     "outside. DDP does not divide the sum by the number of micro-batches; divide the loss.",
     {},
     {"gradients-not-reduced", "accumulation-not-divided"},
     {"accumulate_gradients", "accumulation_not_divided"},
     {"ddp", "bucket"}},
    {"join",
     {"uneven_inputs", "join_context", "uneven_batches", "end_of_the_epoch", "last_batch"},
     "A context for ranks with different numbers of batches: a rank that has none left keeps answering the others' "
     "collectives with zeros until all are done. Without it, the rank with one batch fewer leaves the loop, and the "
     "others wait for its gradients. It answers only the collectives of classes that take part in it (such as DDP), "
     "not a metric's all_reduce.",
     run_of("uneven_inputs_ddp", "broken"),
     {"missing-call", "collective-mismatch"},
     {"uneven_inputs_ddp", "join_with_metric", "join_sync_batchnorm"},
     {"ddp", "sampler"}},
    {"buffers",
     {"buffer", "broadcast_buffers", "batch_norm"},
     "Tensors of a model that are not trained, such as the running mean of a batch norm. With broadcast_buffers (the "
     "default) rank 0's buffers overwrite all others in place before each forward in training mode. So a forward on "
     "only one rank is a broadcast that the others do not make, and a second forward can overwrite values that the "
     "first one's backward needs.",
     run_of("barrier_hang", "broken"),
     {"buffer-broadcast-inplace", "missing-call"},
     {"inplace_buffer_broadcast", "barrier_hang"},
     {"ddp", "sync_batchnorm"}},
    {"sync_batchnorm",
     {"syncbatchnorm"},
     "A batch norm whose mean and variance are taken over the rows of all ranks: it makes its own collectives in "
     "forward and in backward. If a rank skips the layer, or runs a different number of forwards, the others wait in "
     "it; join() does not answer for it.",
     {},
     {"missing-call", "collective-mismatch"},
     {"sync_batchnorm_skipped", "join_sync_batchnorm"},
     {"buffers", "join"}},
    {"sampler",
     {"distributed_sampler", "distributedsampler", "set_epoch", "drop_last", "dataloader", "data_loader"},
     "DistributedSampler gives each rank a different part of the data set, all of the same length: it repeats a few "
     "samples if the length does not divide evenly. Every rank must shuffle with the same seed, and set_epoch must be "
     "called before each epoch, or every epoch has the same order. Without it every rank trains on everything.",
     {},
     {"sampler-missing", "sampler-epoch", "sampler-seed", "sampler-length"},
     {"sampler_missing", "sampler_epoch", "sampler_seed_per_rank"},
     {"ddp", "join"}},
    {"checkpoint",
     {"state_dict", "checkpointing", "save_checkpoint", "torch_save"},
     "The state of model and optimizer in a file. One rank writes it while the others wait at a barrier, or continue "
     "and wait in the next collective; the time it takes counts against their timeout. Keys of a wrapped model begin "
     "with `module.`. Every rank must load the same file, and not before it is complete.",
     run_of("slow_checkpoint", "broken"),
     {"checkpoint-keys", "checkpoint-race", "delayed-enter"},
     {"slow_checkpoint", "checkpoint_prefix", "checkpoint_by_every_rank"},
     {"barrier", "timeouts"}},
    {"comm_hook",
     {"communication_hook", "powersgd", "fp16_compress"},
     "A function that DDP calls for each bucket instead of its all_reduce: it may send the gradients in f16 or bf16, or as two thin "
     "factors (PowerSGD). Every rank must register the same hook, and a hook that does not divide by the world size gives the sum.",
     {},
     {"collective-mismatch", "parameter-mismatch"},
     {"comm_hooks"},
     {"bucket"}},
    {"data_parallel",
     {"dataparallel", "dp"},
     "torch.nn.DataParallel: one process drives all GPUs of a machine with threads. In each forward it copies the "
     "model to every device, splits the batch, and gathers the outputs on the first device, which therefore holds more "
     "data and does more work than the others. DDP replaces it.",
     {},
     {"device-imbalance", "devices-idle"},
     {"data_parallel_imbalance", "data_parallel_memory", "data_parallel_small_batch"},
     {"ddp"}},
    {"fsdp",
     {"fully_shard", "fully_sharded_data_parallel", "zero", "sharding", "zero_3", "zero_stage_3", "fsdp2", "deepspeed", "reshard"},
     "Fully sharded training: every rank keeps a part of the parameters, gradients and optimizer state (ZeRO stage 3). Before a unit "
     "computes, its parameters are collected with all_gather; after its backward the gradients are reduced with reduce_scatter, and "
     "each rank updates its own part. Each forward is therefore a sequence of collectives: every rank must run the same units, in "
     "the same order, the same number of times.",
     plan_of(CollectiveKind::all_gather, "ring"),
     {"missing-call", "collective-mismatch", "shard-norm"},
     {"sharded_unit_order", "sharded_expert_skipped", "sharded_clip_norm"},
     {"all_gather", "reduce_scatter", "ddp", "tensor_parallel"}},
    {"tensor_parallel",
     {"colwise", "rowwise", "tensor_parallelism", "dtensor"},
     "A layer's weights are split across ranks: a column-wise linear layer gives each rank some of its outputs, a "
     "row-wise one takes them as its inputs and sums the partial results with an all_reduce. Every rank of the group "
     "sees the same batch and makes the same calls in each forward and backward.",
     {},
     {"swapped-parts", "collective-mismatch"},
     {"tensor_parallel_mesh", "mesh_coordinates_swapped"},
     {"mesh", "fsdp", "all_reduce"}},
    {"mesh",
     {"device_mesh", "init_device_mesh"},
     "The ranks as a grid whose dimensions have names, such as dp and tp: each rank has a place along each dimension, "
     "and the ranks that differ in only one dimension form a group of it. The last dimension varies fastest, so "
     "neighbours along it are on one machine.",
     {},
     {"swapped-parts", "group-cycle"},
     {"tensor_parallel_mesh", "mesh_coordinates_swapped"},
     {"new_group", "tensor_parallel"}},
    {"rpc",
     {"rpc_sync", "rpc_async", "remote_procedure_call", "remote", "init_rpc"},
     "Calling a function in another process by the worker's name: rpc_sync waits for the result, rpc_async returns a "
     "future, remote leaves the result there and returns an RRef. A limited number of threads serves calls: functions "
     "that wait for other calls can use them all up. Shutdown waits for every worker, so a worker that never calls it "
     "holds up the others.",
     run_of("rpc_server_threads", "broken"),
     {"rpc-server-threads", "rpc-worker-left", "rpc-function-missing", "rpc-timeout-too-short"},
     {"rpc_server_threads", "rpc_shutdown_without_all", "rpc_timeout_too_short"},
     {"rref", "dist_autograd", "pipeline"}},
    {"rref",
     {"remote_reference", "to_here"},
     "A reference to a value that lives on another worker, its owner. to_here() copies the value to the caller, "
     "rref.rpc_sync() calls a method where it lives. The owner keeps the value until every reference is gone; a "
     "reference that is kept past shutdown can no longer be used.",
     {},
     {"rpc-server-threads", "rpc-worker-left", "rpc-references-kept"},
     {"rpc_calls", "rpc_to_here_in_server", "rpc_references_kept"},
     {"rpc"}},
    {"dist_autograd",
     {"distributed_autograd", "autograd_context", "distributed_optimizer"},
     "Backward across several workers. Inside `with dist_autograd.context()` every remote call that carries tensors "
     "links the graphs of caller and callee; dist_autograd.backward follows the links, and the gradients stay with the "
     "context, on the worker where the parameter is. A DistributedOptimizer updates parameters behind RRefs with the "
     "gradients of one context. The context ends with the block, and its gradients with it.",
     {},
     {"autograd-context-ended", "optimizers-share-parameters"},
     {"rpc_calls", "rpc_context_ended", "rpc_two_optimizers"},
     {"rpc", "rref"}},
    {"pipeline",
     {"pipeline_parallel", "gpipe", "1f1b_schedule", "pipeline_parallelism", "1f1b", "stage"},
     "The layers of a model are spread across ranks, called stages; a batch is cut into micro-batches that follow each "
     "other through the stages, forwards one way and backwards the other. A schedule gives the order in which each "
     "stage runs them. The time that stages wait at the beginning and the end is the bubble.",
     schedule_of("1f1b"),
     {"send-cycle", "unmatched-message", "rpc-shards-together"},
     {"pipeline_sends", "interleaved_messages", "rpc_shards_together"},
     {"bubble", "send", "micro_batch"}},
    {"bubble",
     {"pipeline_bubble"},
     "The share of a pipeline's time in which a stage has nothing to do: with p stages and m micro-batches of equal cost, GPipe and "
     "1F1B lose (p-1)/(m+p-1) of it. More micro-batches make it smaller; 1F1B keeps fewer activations than GPipe for the same "
     "bubble, and interleaved and zero-bubble schedules lose less.",
     schedule_of("gpipe"),
     {},
     {"pipeline_sends"},
     {"pipeline", "micro_batch"}},
    {"micro_batch",
     {"microbatch"},
     "A part of the batch that goes through a pipeline, or through gradient accumulation, in one piece. Gradients of "
     "all micro-batches are added up before the optimizer steps, so the loss of each must be divided by their number, "
     "and every stage must use the same number: a stage that expects one more waits for a message that nobody sends.",
     {},
     {"unmatched-message", "accumulation-not-divided"},
     {"unmatched_message", "accumulation_not_divided"},
     {"pipeline", "no_sync"}},
};

}  // namespace

std::span<const Concept> concepts_of_training() { return training_concepts; }

}  // namespace pdsim::scenarios
