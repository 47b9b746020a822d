#include "tests/unit/robustness/healthy_program.h"

#include "core/base/random.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace pdsim::scenarios {
namespace {

class Writer {
 public:
  explicit Writer(std::uint64_t seed) : random_(Random(seed).stream("healthy", seed)), seed_(seed) {
    two_level_ = chance(5);
    ranks_ = two_level_ ? 4 : 2 + below(5);
    backend_ = pick<4>({"gloo", "nccl", "mpi", "ideal"});
    trains_ = chance(2);
    norm_ = trains_ && chance(3);
    samples_ = trains_ && !norm_ && chance(4);  // batch-norm takes no last batch of one row
  }

  std::string text() {
    std::string out = fmt::format("pdsim: 1\nname: healthy\nsummary: Nothing is wrong here.\nseed: {}\n", seed_);
    out += world();
    if (trains_) out += model();
    const std::string_view method = pick<2>({"tcp", "env"});
    out += fmt::format("program:\n{}  - init_process_group: {{method: {}}}\n", devices_, method);
    out += groups();
    const int parts = 2 + below(5);
    for (int i = 0; i < parts; ++i) out += part(i);
    if (trains_) out += training();
    // Rank 0 serves the store, and must not end before the others are done with it.
    out += "  - barrier: " + barrier_options() + "\n";
    if (chance(4)) out += "  - destroy_process_group\n";
    return out + "expect: {outcome: ok, diagnosis: none}\n";
  }

 private:
  int below(int n) { return static_cast<int>(random_.below(static_cast<std::uint64_t>(n))); }
  bool chance(int one_in) { return below(one_in) == 0; }
  template <std::size_t n>
  std::string_view pick(std::array<std::string_view, n> words) {
    return words[static_cast<std::size_t>(below(static_cast<int>(n)))];
  }
  int rank() { return below(ranks_); }

  std::string world() {
    const int latency = 1 + below(20), jitter = below(8);
    const std::string link = fmt::format("latency: {}us, bandwidth: 25GB/s, jitter: {}us", latency, jitter);
    std::string out = two_level_ ? fmt::format(
                                       "world:\n  nodes: 2\n  ranks_per_node: 2\n  intra: {{{}}}\n  inter: "
                                       "{{{}}}\n",
                                       link, link)
                                 : fmt::format("world:\n  ranks: {}\n  link: {{{}}}\n", ranks_, link);
    out += fmt::format("  backend: {}\n", backend_);
    if (chance(4)) out += "  profile: pytorch-1.13\n";
    if (chance(4)) out += "  debug: detail\n";
    if (chance(3)) {
      const int slow = rank();
      out += fmt::format("  speeds: [{{rank: {}, work: {}}}]\n", slow, 2 + below(6));
    }
    if (chance(5)) {
      out += "  devices: 8\n";
      devices_ = "  - set_device: {index: local_rank}\n";
    }
    return out;
  }

  std::string groups() {
    if (!chance(2)) return {};
    has_group_ = true;
    low_ = below(ranks_ - 1);
    return fmt::format("  - new_group: {{name: part, ranks: {}..{}}}\n", low_, low_ + 1);
  }

  std::string part(int number) {
    switch (below(7)) {
      case 0:
        return message(number);
      case 1:
        return asynchronous(number);
      case 2:
        return stored(number);
      case 3:
        return work();
      case 4:
        return has_group_ ? in_group() : collective();
      default:
        return collective();
    }
  }

  // Where GPUs are counted a first barrier has to be told its own.
  std::string barrier_options() const { return devices_.empty() ? "{}" : "{device_ids: local_rank}"; }

  std::string options(std::string_view kind) {
    if (kind == "barrier") return barrier_options();
    std::string out = fmt::format("count: {}", 1 + below(3000));
    out += fmt::format(", dtype: {}", pick<4>({"f32", "f64", "i32", "i64"}));
    if (kind == "all_reduce" || kind == "reduce") out += fmt::format(", op: {}", pick<3>({"sum", "max", "min"}));
    return "{" + out + "}";
  }

  std::string collective() {
    std::string_view kind =
        pick<8>({"all_reduce", "broadcast", "reduce", "all_gather", "gather", "scatter", "reduce_scatter", "barrier"});
    // c10d's gloo and mpi have no reduce_scatter.
    if (kind == "reduce_scatter" && (backend_ == "gloo" || backend_ == "mpi")) kind = "all_gather";
    std::string text = options(kind);
    if (kind == "broadcast" || kind == "scatter") text.insert(1, fmt::format("src: {}, ", rank()));
    if (kind == "reduce" || kind == "gather") text.insert(1, fmt::format("dst: {}, ", rank()));
    return fmt::format("  - {}: {}\n", kind, text);
  }

  std::string in_group() {
    return fmt::format("  - all_reduce: {{count: {}, group: part}}\n    when: {{rank: {}..{}}}\n", 1 + below(500), low_,
                       low_ + 1);
  }

  std::string message(int number) {
    const int from = rank();
    const int to = (from + 1 + below(ranks_ - 1)) % ranks_;
    const int count = 1 + below(4000);
    return fmt::format(
        "  - send: {{dst: {1}, count: {2}, tag: {3}}}\n    when: {{rank: {0}}}\n"
        "  - recv: {{src: {0}, count: {2}, tag: {3}}}\n    when: {{rank: {1}}}\n",
        from, to, count, number);
  }

  std::string asynchronous(int number) {
    std::string out =
        fmt::format("  - all_reduce: {{count: {}, async: true}}\n    label: work{}\n", 1 + below(2000), number);
    if (chance(2)) out += work();
    out += fmt::format("  - wait: {{for: work{}}}\n", number);
    if (chance(2)) out += fmt::format("  - read: {{of: work{}}}\n", number);
    if (chance(3)) out += fmt::format("  - write: {{to: work{}}}\n", number);
    return out;
  }

  std::string stored(int number) {
    const int writer = rank();
    return fmt::format(
        "  - store_set: {{key: step/{0}, value: \"1\"}}\n    when: {{rank: {1}}}\n"
        "  - store_get: {{key: step/{0}}}\n",
        number, writer);
  }

  std::string work() {
    const int busy = rank();
    const int time = 1 + below(900);
    return fmt::format("  - compute: {{time: {}us}}\n    when: {{rank: {}}}\n", time, busy);
  }

  std::string model() {
    std::string out = "model:\n  layers:\n    body: {linear: [4, 8]}\n";
    if (norm_) out += "    norm: {batchnorm: 8}\n";
    out += "    aux: {linear: [8, 8]}\n    head: {linear: [8, 1]}\n";
    const std::string norm = norm_ ? "norm, " : "";
    unused_ = chance(3);
    if (unused_) {
      out += fmt::format("  paths: {{full: [body, {0}aux, head], short: [body, {0}head]}}\n", norm);
      const int skips = rank();
      out += fmt::format("  branches: [{{path: short, when: {{rank: {}, step: {}}}}}]\n", skips, below(3));
    }
    const std::string_view cap = pick<3>({"64B", "1KiB", "25MiB"});
    const std::string_view buffers = pick<2>({"true", "false"});
    const std::string_view views = pick<2>({"true", "false"});
    out += fmt::format(
        "ddp: {{bucket_cap: {}, find_unused_parameters: {}, broadcast_buffers: {}, "
        "gradient_as_bucket_view: {}}}\n",
        cap, unused_ ? "true" : "false", buffers, views);
    const std::string_view optimizer = pick<2>({"sgd", "adam"});
    const std::string_view copies = pick<2>({"true", "false"});
    out += fmt::format("optimizer: {{{}: {{}}, copies: {}}}\n", optimizer, copies);
    if (samples_) out += "data: {samples: 24, set_epoch: true}\n";
    return out;
  }

  std::string step() {
    constexpr std::string_view usual = "zero_grad, forward, backward";
    if (chance(4) && !samples_)
      return "zero_grad, {no_sync: {do: [{forward: {input: first}}, {backward: {divided_by: 2}}]}}, "
             "{forward: {input: second}}, {backward: {divided_by: 2}}";
    return std::string(usual);
  }

  std::string training() {
    std::string body = step();
    if (chance(4)) body += ", {clip_grad_norm: {max_norm: 1}}";
    body += ", optimizer_step";
    if (chance(4)) body += ", {all_reduce: {count: 1}}";
    const int steps = 2 + below(3);
    std::string out;
    if (!norm_ && !unused_ && backend_ != "mpi" && chance(5)) {
      const int first = rank();
      out = fmt::format(
          "  - join:\n      do:\n        - train: {{steps: {}}}\n        - train: {{steps: 1}}\n          "
          "when: {{rank: not {}}}\n",
          steps, first);
    } else {
      out = fmt::format("  - train:\n      steps: {}\n      do: [{}]\n", steps, body);
    }
    if (chance(3)) out += "  - eval: {through: ddp}\n";
    if (chance(3)) out += "  - eval: {through: module}\n    when: {rank: 0}\n";
    if (chance(3))
      out += "  - checkpoint: {path: run/model}\n    when: {rank: 0}\n  - barrier: " + barrier_options() +
             "\n  - load_checkpoint: {path: run/model}\n";
    return out;
  }

  Random random_;
  std::uint64_t seed_;
  int ranks_ = 2, low_ = 0;
  std::string_view backend_;
  std::string devices_;
  bool two_level_ = false, trains_ = false, norm_ = false, samples_ = false, unused_ = false, has_group_ = false;
};

}  // namespace

std::string healthy_program(std::uint64_t seed) { return Writer(seed).text(); }

}  // namespace pdsim::scenarios
