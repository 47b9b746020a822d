// The tables of `model`, `ddp` and `optimizer`. For sections.cpp alone.
#pragma once

#include "core/semantics/ddp_options.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/language/tables/bind.h"

#include <array>
#include <string_view>

namespace pdsim::scenarios::language {

inline constexpr std::array<std::string_view, 2> model_dtype_words{"f32", "f64"};
inline constexpr std::array<std::string_view, 4> layer_dtype_words{"f32", "f64", "f16", "bf16"};
inline constexpr std::array<std::string_view, 1> none_word{"none"};
inline constexpr std::array<std::string_view, 2> noise_words{"per_rank", "same"};

// Small enough that products of all sizes of a layer do not overflow.
constexpr std::int64_t most_pixels = 4096;
constexpr std::int64_t most_kernel = 256;

constexpr Key side_key(std::string_view name, std::string_view about, bool required = true, std::int64_t low = 1,
                       std::int64_t high = limits::width) {
  return {.name = name,
          .type = Type::integer,
          .help = about,
          .default_value = required ? "" : (low == 0 ? "0" : "1"),
          .required = required,
          .low = low,
          .high = high};
}

inline constexpr Key embedding_keys[] = {
    side_key("rows", "rows of the table; indices are 0..rows-1"),
    side_key("columns", "numbers in a row"),
    side_key("indices", "indices per row of the batch; their rows are concatenated", false),
};
inline constexpr Group embedding{.title = "embedding", .help = "rows of a table", .keys = embedding_keys};
inline constexpr Key conv2d_keys[] = {
    side_key("channels", "channels of the input images"),
    side_key("height", "height of the input images", true, 1, most_pixels),
    side_key("width", "width of the input images", true, 1, most_pixels),
    side_key("filters", "output channels"),
    side_key("kernel", "side of a filter", true, 1, most_kernel),
    side_key("stride", "distance between positions of the filter", false, 1, most_pixels),
    side_key("padding", "zeros around the image", false, 0, most_kernel),
};
inline constexpr Group conv2d{.title = "conv2d", .help = "a convolution of images", .keys = conv2d_keys};
inline constexpr Key batchnorm2d_keys[] = {
    side_key("channels", "channels of the images"),
    side_key("height", "height of the images", true, 1, most_pixels),
    side_key("width", "width of the images", true, 1, most_pixels),
};
inline constexpr Group batchnorm2d{
    .title = "batchnorm2d", .help = "batch normalisation of images", .keys = batchnorm2d_keys};

// In the order of nn::LayerKind.
inline constexpr std::array layer_rows{
    Key{.name = "linear", .type = Type::widths, .help = "y = x W^T + b; [in, out]"},
    Key{.name = "batchnorm",
        .type = Type::integer,
        .help = "batch normalisation of this many features, with running buffers",
        .low = 1,
        .high = limits::width},
    Key{.name = "relu", .type = Type::nothing, .help = "max(x, 0)"},
    Key{.name = "embedding",
        .type = Type::group,
        .help = "rows of a table, by index; must be first in a path, because its input are indices",
        .group = &embedding},
    Key{.name = "conv2d",
        .type = Type::group,
        .help = "a convolution of images, stored in rows channel by channel, line by line",
        .group = &conv2d},
    Key{.name = "batchnorm2d",
        .type = Type::group,
        .help = "batch normalisation with one feature per channel",
        .group = &batchnorm2d},
    Key{.name = "layernorm",
        .type = Type::integer,
        .help = "normalisation over this many columns of each row",
        .low = 1,
        .high = limits::width},
    Key{.name = "sync_batchnorm",
        .type = Type::integer,
        .help = "batchnorm over the rows of all ranks; as in PyTorch, not available on gloo and mpi, whose tensors are "
                "on the CPU",
        .low = 1,
        .high = limits::width},
    Key{.name = "dropout", .type = Type::decimal, .help = "replaces values by zero with this probability", .high = 1},
    Key{.name = "meta",
        .type = Type::shapes,
        .help = "parameters of these shapes without values: they take part in buckets and messages, but need no memory "
                "and no arithmetic; the output has the shape of the input, and the only cost is `compute`",
        .formerly = "sized"},
};
inline constexpr Key layer_keys[] = {
    {.name = "dtype",
     .type = Type::word,
     .help = "element type of its parameters; its input is cast; default: the model's; f16 and bf16 only for `meta` "
             "layers",
     .choices = layer_dtype_words},
    {.name = "compute",
     .type = Type::duration,
     .help = "time of its forward; default: 20us, or the time that follows from `flops` and `world.device_speed`"},
    {.name = "backward",
     .type = Type::duration,
     .help = "time of its backward, after which its gradients are ready; default: twice its forward"},
    {.name = "flops",
     .type = Type::flops,
     .help = "arithmetic of a forward of the whole batch, with `world.device_speed`; default: computed from the shapes "
             "of the layer and the rows of the batch; 0: none"},
    {.name = "traffic",
     .type = Type::size,
     .help = "bytes that a forward of the whole batch reads and writes, with `world.memory_speed`; their time is added to that of the "
             "arithmetic"},
    {.name = "gives",
     .type = Type::integer,
     .help = "for a `meta` layer: elements per output row, which has no values; default: the same as its input",
     .low = 1,
     .high = limits::count},
    {.name = "device",
     .type = Type::integer,
     .help = "device of the rank on which it computes; activations are copied between devices over the world's link",
     .default_value = "0",
     .high = 63},
    {.name = "frozen", .type = Type::boolean, .help = "its parameters require no gradient", .default_value = "false"},
};
inline constexpr Group layer{.title = "a layer",
                             .help = "one layer",
                             .keys = layer_keys,
                             .one_of = layer_rows,
                             .bare = true,
                             .noun = "kind of layer"};
inline constexpr Key layer_key{.name = "layer", .type = Type::group, .help = "a layer", .group = &layer};
inline constexpr Key part_key{.name = "part", .type = Type::names, .help = "its layers"};
inline constexpr Key path_key{.name = "path", .type = Type::names, .help = "layers, in order"};
inline constexpr Key branch_keys[] = {
    {.name = "path", .type = Type::name, .help = "the path to take", .required = true},
    {.name = "when", .type = Type::selectors, .help = "on which ranks and in which steps; default: always"},
};
inline constexpr Group branch{.title = "model.branches", .help = "the path of each rank, by step", .keys = branch_keys};
inline constexpr Key change_keys[] = {
    {.name = "when", .type = Type::selectors, .help = "the ranks", .required = true},
    {.name = "layers",
     .type = Type::named,
     .help = "layers that replace those of the same names",
     .element = &layer_key},
    {.name = "order", .type = Type::names, .help = "all layers, in the order in which they are registered"},
};
inline constexpr Group change{.title = "model.per_rank", .help = "differences in the model that some ranks build", .keys = change_keys};
inline constexpr Key model_keys[] = {
    {.name = "layers",
     .type = Type::named,
     .help = "the layers, in definition order",
     .required = true,
     .element = &layer_key},
    {.name = "paths",
     .type = Type::named,
     .help = "sequences of layers that a forward can take; the first is the default",
     .element = &path_key},
    {.name = "parts",
     .type = Type::named,
     .help = "separate models, such as generator and critic: each has a wrapper and an optimizer; a path stays within "
             "one",
     .element = &part_key},
    {.name = "branches",
     .type = Type::groups,
     .help = "the path of each rank, by step",
     .group = &branch,
     .formerly = "takes"},
    {.name = "per_rank",
     .type = Type::groups,
     .help = "differences in the model that some ranks build, as a script with a branch would",
     .group = &change,
     .formerly = "differs"},
    {.name = "dtype",
     .type = Type::word,
     .help = "element type of parameters, inputs and gradients",
     .default_value = "f32",
     .choices = model_dtype_words},
    {.name = "recompute",
     .type = Type::names,
     .help = "layers that backward runs again, like torch.utils.checkpoint (reentrant)"},
    {.name = "initial_values",
     .type = Type::word,
     .help = "values of the parameters before the wrapper shares rank 0's; same: as if every rank had set the same "
             "seed before it built the model",
     .default_value = "per_rank",
     .choices = noise_words},
    {.name = "noise",
     .type = Type::word,
     .help = "dropout's masks; same: as if every rank had set the same seed",
     .default_value = "per_rank",
     .choices = noise_words},
};
inline constexpr Group model{.title = "model", .help = "a toy model with real autograd", .keys = model_keys};

inline constexpr auto powersgd_keys = keys_of<powersgd_option_table>();
inline constexpr Group powersgd{.title = "powersgd", .help = "PowerSGD, by PyTorch's names", .keys = powersgd_keys};
inline constexpr Group no_hook_options{.title = "ddp.comm_hook", .help = "takes no options"};
constexpr Key hook_row(const CommHookRow& hook) {
  const Group* options = hook.kind == CommHookSpec::Kind::powersgd ? &powersgd : &no_hook_options;
  return {.name = hook.name, .type = Type::group, .help = hook.help, .group = options};
}
inline constexpr auto hook_rows = rows_of(comm_hook_table, hook_row);
inline constexpr Group comm_hook{.title = "ddp.comm_hook",
                                 .help = "a communication hook, which combines gradients instead of all_reduce",
                                 .one_of = hook_rows,
                                 .bare = true,
                                 .noun = "communication hook"};

inline constexpr std::array ddp_wrapper_keys{
    Key{.name = "ranks",
        .type = Type::int_set,
        .help = "ranks that construct it; the others use the unwrapped model",
        .default_value = "all"},
    Key{.name = "group",
        .type = Type::name,
        .help = "the ranks with replicas of one model: world, or a dimension of the mesh",
        .default_value = "world"},
};
inline constexpr std::array ddp_hook_keys{
    Key{.name = "comm_hook",
        .type = Type::group,
        .help = "a communication hook, which combines gradients instead of DDP's all_reduce",
        .group = &comm_hook},
};
inline constexpr auto ddp_keys = joined(ddp_wrapper_keys, keys_of<ddp_option_table>(), ddp_hook_keys);
inline constexpr Group ddp{.title = "ddp", .help = "options of DistributedDataParallel", .keys = ddp_keys};

inline constexpr Key data_parallel_keys[] = {
    {.name = "devices",
     .type = Type::integer,
     .help = "devices across which each batch is split",
     .required = true,
     .low = 1,
     .high = 64},
    {.name = "output_device",
     .type = Type::integer,
     .help = "device that gathers the outputs and computes the loss",
     .default_value = "0",
     .high = 63},
};
inline constexpr Group data_parallel{.title = "data_parallel",
                                     .help = "torch.nn.DataParallel: one process, several devices",
                                     .keys = data_parallel_keys};

inline constexpr Key sgd_keys[] = {
    {.name = "lr", .type = Type::decimal, .help = "learning rate", .default_value = "0.1"},
    {.name = "momentum", .type = Type::decimal, .help = "momentum", .default_value = "0"},
};
inline constexpr Key adam_keys[] = {
    {.name = "lr", .type = Type::decimal, .help = "learning rate", .default_value = "0.001"}};
inline constexpr Group sgd{.title = "optimizer.sgd", .help = "stochastic gradient descent", .keys = sgd_keys};
inline constexpr Group adam{.title = "optimizer.adam", .help = "Adam", .keys = adam_keys};
inline constexpr Key optimizer_rows[] = {
    {.name = "sgd", .type = Type::group, .help = "stochastic gradient descent", .group = &sgd},
    {.name = "adam", .type = Type::group, .help = "Adam", .group = &adam},
};
inline constexpr std::array<std::string_view, 2> made_words{"before_wrapper", "after_wrapper"};
inline constexpr Key optimizer_keys[] = {
    {.name = "compute", .type = Type::duration, .help = "time of a step", .default_value = "10us"},
    {.name = "copies",
     .type = Type::boolean,
     .help = "it works on copies of the parameters, made when it was constructed, like master weights",
     .default_value = "false"},
    {.name = "made",
     .type = Type::word,
     .help = "constructed before or after DDP gives every rank the parameters of rank 0",
     .default_value = "after_wrapper",
     .choices = made_words},
};
inline constexpr Group optimizer{.title = "optimizer",
                                 .help = "the optimizer",
                                 .keys = optimizer_keys,
                                 .one_of = optimizer_rows,
                                 .bare = true,
                                 .noun = "optimizer"};

inline constexpr std::array<std::string_view, 2> sampler_words{"distributed", "none"};
inline constexpr std::array<std::string_view, 2> sampler_seed_words{"same", "per_rank"};
constexpr std::int64_t most_samples = 4096;
inline constexpr Key data_keys[] = {
    {.name = "samples",
     .type = Type::integer,
     .help = "number of samples in the loader's data set",
     .required = true,
     .low = 1,
     .high = most_samples},
    {.name = "sampler",
     .type = Type::word,
     .help = "DistributedSampler, or none: every rank reads all samples in the same order",
     .default_value = "distributed",
     .choices = sampler_words},
    {.name = "over",
     .type = Type::integer,
     .help = "number of samples in the sampler's data set; default: the loader's",
     .low = 1,
     .high = most_samples},
    {.name = "shuffle", .type = Type::boolean, .help = "of the sampler", .default_value = "true"},
    {.name = "drop_last", .type = Type::boolean, .help = "of the sampler", .default_value = "false"},
    {.name = "set_epoch",
     .type = Type::boolean,
     .help = "sampler.set_epoch(epoch) is called before each epoch",
     .default_value = "false"},
    {.name = "seeds",
     .type = Type::word,
     .help = "the sampler's seed: the same on all ranks, or different on each",
     .default_value = "same",
     .choices = sampler_seed_words},
};
inline constexpr Group data{.title = "data",
                            .help = "the data set of the training; without it, every batch is generated",
                            .keys = data_keys};

}  // namespace pdsim::scenarios::language
