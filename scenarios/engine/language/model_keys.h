// The tables of `model`, `ddp` and `optimizer`. For sections.cpp alone.
#pragma once

#include "scenarios/engine/language/key.h"
#include "scenarios/engine/limits.h"

#include <array>
#include <string_view>

namespace pdsim::scenarios::language {

inline constexpr std::array<std::string_view, 2> model_dtype_words{"f32", "f64"};
inline constexpr std::array<std::string_view, 4> layer_dtype_words{"f32", "f64", "f16", "bf16"};
inline constexpr std::array<std::string_view, 1> none_word{"none"};
inline constexpr std::array<std::string_view, 2> noise_words{"per_rank", "same"};

// Small enough that products of all sizes of a layer can be taken.
constexpr std::int64_t most_pixels = 4096;
constexpr std::int64_t most_kernel = 256;

constexpr Key side_key(std::string_view name, std::string_view about, bool required = true, std::int64_t low = 1,
                       std::int64_t high = limits::width) {
  return {.name = name,
          .shape = Shape::integer,
          .about = about,
          .otherwise = required ? "" : (low == 0 ? "0" : "1"),
          .required = required,
          .low = low,
          .high = high};
}

inline constexpr Key embedding_keys[] = {
    side_key("rows", "of the table; indices are 0..rows-1"),
    side_key("columns", "of a row"),
    side_key("indices", "per row of the batch; their rows stand one after another", false),
};
inline constexpr Group embedding{.title = "embedding", .about = "rows of a table", .keys = embedding_keys};
inline constexpr Key conv2d_keys[] = {
    side_key("channels", "of the images it takes"),
    side_key("height", "of the images it takes", true, 1, most_pixels),
    side_key("width", "of the images it takes", true, 1, most_pixels),
    side_key("filters", "channels it gives"),
    side_key("kernel", "side of a filter", true, 1, most_kernel),
    side_key("stride", "between the places of a filter", false, 1, most_pixels),
    side_key("padding", "zeros around the image", false, 0, most_kernel),
};
inline constexpr Group conv2d{.title = "conv2d", .about = "a convolution of images", .keys = conv2d_keys};
inline constexpr Key batchnorm2d_keys[] = {
    side_key("channels", "of the images"),
    side_key("height", "of the images", true, 1, most_pixels),
    side_key("width", "of the images", true, 1, most_pixels),
};
inline constexpr Group batchnorm2d{
    .title = "batchnorm2d", .about = "batch normalisation of images", .keys = batchnorm2d_keys};

// In the order of nn::LayerKind.
inline constexpr std::array layer_rows{
    Key{.name = "linear", .shape = Shape::widths, .about = "y = x W^T + b; [in, out]"},
    Key{.name = "batchnorm",
        .shape = Shape::integer,
        .about = "batch normalisation of that many features, with running buffers",
        .low = 1,
        .high = limits::width},
    Key{.name = "relu", .shape = Shape::nothing, .about = "max(x, 0)"},
    Key{.name = "embedding",
        .shape = Shape::group,
        .about = "rows of a table, by index; first in a path, for its input are indices",
        .group = &embedding},
    Key{.name = "conv2d",
        .shape = Shape::group,
        .about = "a convolution of images, which lie in their rows channel by channel, line by line",
        .group = &conv2d},
    Key{.name = "batchnorm2d",
        .shape = Shape::group,
        .about = "batch normalisation with one feature per channel",
        .group = &batchnorm2d},
    Key{.name = "layernorm",
        .shape = Shape::integer,
        .about = "normalisation of that many columns of each row",
        .low = 1,
        .high = limits::width},
    Key{.name = "sync_batchnorm",
        .shape = Shape::integer,
        .about =
            "batchnorm over the rows of all ranks; as in PyTorch not on gloo and mpi, whose tensors are on the CPU",
        .low = 1,
        .high = limits::width},
    Key{.name = "dropout", .shape = Shape::decimal, .about = "zeros with this probability", .high = 1},
    Key{.name = "sized",
        .shape = Shape::shapes,
        .about = "parameters of these shapes, without values: they take part in buckets and on the wire, and need no "
                 "memory and no arithmetic; it gives what it takes, and costs nothing but what `compute` says"},
};
inline constexpr Key layer_keys[] = {
    {.name = "dtype",
     .shape = Shape::word,
     .about = "of its parameters; what it takes is cast; default: the model's; f16 and bf16 of `sized` ones only",
     .words = layer_dtype_words},
    {.name = "compute",
     .shape = Shape::duration,
     .about = "time of its forward; default: a toy's 20us, or what `flops` and `world.device_speed` come to"},
    {.name = "backward",
     .shape = Shape::duration,
     .about = "time of its backward, at whose end its gradients become ready; default: twice that of its forward"},
    {.name = "flops",
     .shape = Shape::flops,
     .about = "of a forward of the whole batch, with `world.device_speed`; default: what the shapes of the layer and "
              "the rows of the batch come to; 0 where it has none"},
    {.name = "device",
     .shape = Shape::integer,
     .about = "of the rank, on which it computes; activations are copied from device to device over the world's link",
     .otherwise = "0",
     .high = 63},
    {.name = "frozen", .shape = Shape::boolean, .about = "its parameters require no gradient", .otherwise = "false"},
};
inline constexpr Group layer{.title = "a layer",
                             .about = "one layer",
                             .keys = layer_keys,
                             .one_of = layer_rows,
                             .bare = true,
                             .noun = "kind of layer"};
inline constexpr Key layer_key{.name = "layer", .shape = Shape::group, .about = "a layer", .group = &layer};
inline constexpr Key part_key{.name = "part", .shape = Shape::names, .about = "its layers"};
inline constexpr Key path_key{.name = "path", .shape = Shape::names, .about = "layers, in order"};
inline constexpr Key take_keys[] = {
    {.name = "path", .shape = Shape::name, .about = "the path that is taken", .required = true},
    {.name = "when", .shape = Shape::selectors, .about = "by whom and in which steps; default: always"},
};
inline constexpr Group take{.title = "model.takes", .about = "who takes which path when", .keys = take_keys};
inline constexpr Key change_keys[] = {
    {.name = "when", .shape = Shape::selectors, .about = "on which ranks", .required = true},
    {.name = "layers",
     .shape = Shape::named,
     .about = "layers that they have instead of those of the same names",
     .element = &layer_key},
    {.name = "order", .shape = Shape::names, .about = "all layers, in the order in which they are registered"},
};
inline constexpr Group change{.title = "model.differs", .about = "what some ranks build instead", .keys = change_keys};
inline constexpr Key model_keys[] = {
    {.name = "layers",
     .shape = Shape::named,
     .about = "the layers, in definition order",
     .required = true,
     .element = &layer_key},
    {.name = "paths",
     .shape = Shape::named,
     .about = "ways through the layers; the first is the default",
     .element = &path_key},
    {.name = "parts",
     .shape = Shape::named,
     .about = "models of their own, as generator and critic: each has a wrapper and an optimizer; a path stays in one",
     .element = &part_key},
    {.name = "takes", .shape = Shape::groups, .about = "who takes which path when", .group = &take},
    {.name = "differs",
     .shape = Shape::groups,
     .about = "what some ranks build instead, as scripts with a branch do",
     .group = &change},
    {.name = "dtype",
     .shape = Shape::word,
     .about = "of parameters, inputs and gradients",
     .otherwise = "f32",
     .words = model_dtype_words},
    {.name = "recompute",
     .shape = Shape::names,
     .about = "layers that backward runs again, as torch.utils.checkpoint (reentrant) does"},
    {.name = "noise",
     .shape = Shape::word,
     .about = "dropout's masks; same: as if every rank had set one seed",
     .otherwise = "per_rank",
     .words = noise_words},
};
inline constexpr Group model{.title = "model", .about = "a toy model with real autograd", .keys = model_keys};

inline constexpr Key powersgd_keys[] = {
    {.name = "matrix_approximation_rank",
     .shape = Shape::integer,
     .about = "columns of P and Q",
     .otherwise = "1",
     .low = 1,
     .high = limits::width},
    {.name = "start_iter",
     .shape = Shape::integer,
     .about = "iterations with plain all_reduce before (start_powerSGD_iter)",
     .otherwise = "1000",
     .high = limits::steps},
    {.name = "min_compression_rate",
     .shape = Shape::decimal,
     .about = "gradients that would become less small than this are not compressed",
     .otherwise = "2"},
    {.name = "use_error_feedback",
     .shape = Shape::boolean,
     .about = "what is lost is added in the next iteration",
     .otherwise = "true"},
    {.name = "warm_start", .shape = Shape::boolean, .about = "Q begins as it was", .otherwise = "true"},
    {.name = "orthogonalization_epsilon",
     .shape = Shape::decimal,
     .about = "added to a column's length",
     .otherwise = "0"},
    {.name = "random_seed", .shape = Shape::integer, .about = "of the first Q", .otherwise = "0"},
};
inline constexpr Group powersgd{.title = "powersgd", .about = "PowerSGD, by PyTorch's names", .keys = powersgd_keys};
inline constexpr Group no_hook_options{.title = "ddp.comm_hook", .about = "takes no options"};
// In the order of CommHookSpec::Kind, from its second on.
inline constexpr std::array hook_rows{
    Key{.name = "allreduce",
        .shape = Shape::group,
        .about = "divides, then sums, as DDP itself",
        .group = &no_hook_options},
    Key{.name = "fp16_compress", .shape = Shape::group, .about = "gradients travel in f16", .group = &no_hook_options},
    Key{.name = "bf16_compress", .shape = Shape::group, .about = "gradients travel in bf16", .group = &no_hook_options},
    Key{.name = "powersgd", .shape = Shape::group, .about = "matrices travel as two thin factors", .group = &powersgd},
};
inline constexpr Group comm_hook{.title = "ddp.comm_hook",
                                 .about = "what brings gradients together instead of all_reduce",
                                 .one_of = hook_rows,
                                 .bare = true,
                                 .noun = "communication hook"};

inline constexpr Key ddp_keys[] = {
    {.name = "ranks",
     .shape = Shape::int_set,
     .about = "that construct it; the others have the model as it is",
     .otherwise = "all"},
    {.name = "bucket_cap", .shape = Shape::size, .about = "bucket_cap_mb", .otherwise = "25MiB"},
    {.name = "first_bucket", .shape = Shape::size, .about = "size of the first bucket", .otherwise = "1MiB"},
    {.name = "find_unused_parameters",
     .shape = Shape::boolean,
     .about = "look for parameters that a forward did not use",
     .otherwise = "false"},
    {.name = "broadcast_buffers",
     .shape = Shape::boolean,
     .about = "every forward broadcasts the buffers of rank 0",
     .otherwise = "true"},
    {.name = "static_graph", .shape = Shape::boolean, .about = "the graph never changes", .otherwise = "false"},
    {.name = "gradient_as_bucket_view",
     .shape = Shape::boolean,
     .about = "gradients live in the buckets",
     .otherwise = "false"},
    {.name = "check_reduction",
     .shape = Shape::boolean,
     .about = "deprecated in PyTorch, does nothing",
     .otherwise = "false"},
    {.name = "comm_hook",
     .shape = Shape::group,
     .about = "what brings gradients together instead of DDP's all_reduce",
     .group = &comm_hook},
};
inline constexpr Group ddp{.title = "ddp", .about = "options of DistributedDataParallel", .keys = ddp_keys};

inline constexpr Key data_parallel_keys[] = {
    {.name = "devices",
     .shape = Shape::integer,
     .about = "over which each batch is split",
     .required = true,
     .low = 1,
     .high = 64},
    {.name = "output_device",
     .shape = Shape::integer,
     .about = "where outputs come together and the loss is computed",
     .otherwise = "0",
     .high = 63},
};
inline constexpr Group data_parallel{.title = "data_parallel",
                                     .about = "torch.nn.DataParallel: one process, several devices",
                                     .keys = data_parallel_keys};

inline constexpr Key sgd_keys[] = {
    {.name = "lr", .shape = Shape::decimal, .about = "learning rate", .otherwise = "0.1"},
    {.name = "momentum", .shape = Shape::decimal, .about = "momentum", .otherwise = "0"},
};
inline constexpr Key adam_keys[] = {
    {.name = "lr", .shape = Shape::decimal, .about = "learning rate", .otherwise = "0.001"}};
inline constexpr Group sgd{.title = "optimizer.sgd", .about = "stochastic gradient descent", .keys = sgd_keys};
inline constexpr Group adam{.title = "optimizer.adam", .about = "Adam", .keys = adam_keys};
inline constexpr Key optimizer_rows[] = {
    {.name = "sgd", .shape = Shape::group, .about = "stochastic gradient descent", .group = &sgd},
    {.name = "adam", .shape = Shape::group, .about = "Adam", .group = &adam},
};
inline constexpr std::array<std::string_view, 2> made_words{"before_wrapper", "after_wrapper"};
inline constexpr Key optimizer_keys[] = {
    {.name = "compute", .shape = Shape::duration, .about = "time of a step", .otherwise = "10us"},
    {.name = "copies",
     .shape = Shape::boolean,
     .about = "it works on copies of the parameters that it took when it was made, as with master weights",
     .otherwise = "false"},
    {.name = "made",
     .shape = Shape::word,
     .about = "before or after DDP gave every rank the parameters of rank 0",
     .otherwise = "after_wrapper",
     .words = made_words},
};
inline constexpr Group optimizer{.title = "optimizer",
                                 .about = "the optimizer",
                                 .keys = optimizer_keys,
                                 .one_of = optimizer_rows,
                                 .bare = true,
                                 .noun = "optimizer"};

inline constexpr std::array<std::string_view, 2> sampler_words{"distributed", "none"};
inline constexpr std::array<std::string_view, 2> sampler_seed_words{"same", "per_rank"};
constexpr std::int64_t most_samples = 4096;
inline constexpr Key data_keys[] = {
    {.name = "samples",
     .shape = Shape::integer,
     .about = "of the data set that the loader reads",
     .required = true,
     .low = 1,
     .high = most_samples},
    {.name = "sampler",
     .shape = Shape::word,
     .about = "DistributedSampler, or none: every rank reads everything in one order",
     .otherwise = "distributed",
     .words = sampler_words},
    {.name = "over",
     .shape = Shape::integer,
     .about = "samples of the data set that the sampler was made for; default: the loader's",
     .low = 1,
     .high = most_samples},
    {.name = "shuffle", .shape = Shape::boolean, .about = "of the sampler", .otherwise = "true"},
    {.name = "drop_last", .shape = Shape::boolean, .about = "of the sampler", .otherwise = "false"},
    {.name = "set_epoch",
     .shape = Shape::boolean,
     .about = "sampler.set_epoch(epoch) is called before each epoch",
     .otherwise = "false"},
    {.name = "seeds",
     .shape = Shape::word,
     .about = "of the sampler: one for all ranks, or each rank its own",
     .otherwise = "same",
     .words = sampler_seed_words},
};
inline constexpr Group data{.title = "data",
                            .about = "the data set of the training; without it every batch is one of its own",
                            .keys = data_keys};

}  // namespace pdsim::scenarios::language
