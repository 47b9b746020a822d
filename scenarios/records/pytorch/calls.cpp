#include "scenarios/records/pytorch/calls.h"

#include "core/collectives/collective_shape.h"
#include "core/record/record_check.h"
#include "scenarios/records/pytorch/members.h"
#include "scenarios/records/pytorch/torch_frames.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace pdsim::scenarios::pytorch {
namespace {

constexpr std::string_view any_source_name = "recvAnySource";

struct TorchType {
  std::string_view name;
  DType dtype;
};
constexpr std::array dtype_names{
    TorchType{"Half", DType::f16},   TorchType{"BFloat16", DType::bf16}, TorchType{"Float", DType::f32},
    TorchType{"Double", DType::f64}, TorchType{"Char", DType::i8},       TorchType{"Byte", DType::u8},
    TorchType{"Int", DType::i32},    TorchType{"Long", DType::i64},      TorchType{"Bool", DType::boolean},
};

Time time_at(std::int64_t ns, std::int64_t epoch_ns) {
  if (ns <= epoch_ns) return {};
  return std::min(Time{1000} * (ns - epoch_ns), Time{latest_recorded_ps});
}

std::int64_t elements(const Sizes& sizes) {
  std::int64_t all = 0;
  for (const std::vector<std::int64_t>& shape : sizes) {
    std::int64_t product = 1;
    for (const std::int64_t size : shape)
      if (__builtin_mul_overflow(product, size, &product)) return -1;
    if (__builtin_add_overflow(all, product, &all)) return -1;
  }
  if (all > most_recorded_elements) return -1;
  return all;
}

// The side of a call that every rank fills alike, and that all must agree on. Also of functions that have no row of ours.
bool is_counted_by_output(const std::string& name) {
  const CollectiveRow* kind = collective_named(name);
  return kind != nullptr ? pdsim::is_counted_by_output(kind->kind) : name.starts_with("reduce_scatter_");
}

bool has_own_parts(const std::string& name) {
  const CollectiveRow* kind = collective_named(name);
  return kind != nullptr && kind->input_in_parts && kind->output_in_parts;
}

bool has_no_count(const std::string& name) {
  const CollectiveRow* kind = collective_named(name);
  if (kind == nullptr) return name.find("all_to_all") != std::string::npos;
  return (!kind->has_input && !kind->has_output) || has_own_parts(name);
}

// A tensor for each rank, or one that the record does not divide.
SplitSizes splits_of(const Sizes& sizes) {
  std::vector<std::int64_t> parts;
  std::int64_t all = 0;
  for (const std::vector<std::int64_t>& shape : sizes) {
    parts.push_back(elements({shape}));
    if (parts.back() < 0 || __builtin_add_overflow(all, parts.back(), &all) || all > most_recorded_elements) return {};
  }
  return split_sizes(std::move(parts));
}

std::string shape_text(const Sizes& sizes) {
  std::vector<std::string> shapes;
  for (const auto& shape : sizes) {
    if (shapes.size() == 4) {
      shapes.emplace_back("...");
      break;
    }
    shapes.push_back(fmt::format("[{}]", fmt::join(shape, ", ")));
  }
  return fmt::format("{}", fmt::join(shapes, " "));
}

class Converter {
 public:
  Converter(const Dump& dump, const CallOptions& options, const std::function<GroupView(const Entry&)>& group,
            Sites& sites)
      : dump_(dump), options_(options), epoch_ns_(options.epoch_ns), group_(group), sites_(sites) {}

  std::vector<Call> run() {
    std::vector<Call> calls;
    calls.reserve(dump_.entries.size());
    const std::vector<Entry>& entries = dump_.entries;
    const std::vector<std::size_t> ends = batch_ends();
    const bool only_active = lists_only_active();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const std::size_t end = ends[i];
      if (i == 0 && is_cut(end)) {
        i = end;
      } else if (end == i && only_active && is_of_done_batch(i)) {
        continue;
      } else if (end > i) {
        add_batch(calls, i, end);
        i = end;
      } else {
        calls.push_back(call_of(entries[i], entries[i]));
      }
    }
    for (std::size_t i = 0; i < calls.size(); ++i) calls[i].id = static_cast<std::int64_t>(i);
    return calls;
  }

 private:
  // A batch is recorded as its calls, which have no state of their own, and then one entry named coalesced. For every entry,
  // where that one is; itself when it is in no batch.
  std::vector<std::size_t> batch_ends() const {
    const std::vector<Entry>& entries = dump_.entries;
    const auto same = [](const Entry& a, const Entry& b) {
      return a.group == b.group && a.group_desc == b.group_desc && a.collective_seq == b.collective_seq &&
             a.p2p_seq == b.p2p_seq;
    };
    std::vector<std::size_t> ends(entries.size());
    bool before_end = false;  // whether the entry behind is in a batch, or ends one
    for (std::size_t i = entries.size(); i-- > 0;) {
      const bool is_end = ends_batch(entries[i]);
      before_end = is_end || (before_end && same(entries[i], entries[i + 1]));
      ends[i] = before_end && !is_end ? ends[i + 1] : i;
    }
    return ends;
  }

  // coalesced, ALLGATHER_coalesced: without tensors of its own, unlike the call all_reduce_coalesced.
  static bool ends_batch(const Entry& entry) {
    return entry.name.ends_with("coalesced") && entry.input_sizes.empty() && entry.output_sizes.empty();
  }

  // Whether a ring that forgot its beginning may have forgotten some of this batch, which is done: what is left of it compares with nothing.
  bool is_cut(std::size_t end) const {
    const Entry& last = dump_.entries[end];
    return dump_.entries.front().record_id > 0 && ends_batch(last) && is_done(last);
  }

  // A dump of what is active leaves out what is done, so that numbers are missing in between.
  bool lists_only_active() const {
    const std::vector<Entry>& entries = dump_.entries;
    if (entries.empty() || std::any_of(entries.begin(), entries.end(), [this](const Entry& e) { return is_done(e); })) return false;
    return entries.back().record_id - entries.front().record_id >= static_cast<std::int64_t>(entries.size()) || entries.front().record_id > 0;
  }

  // The calls of a batch have no state of their own, so such a dump keeps listing them; the end of the batch is listed only while it is open.
  bool is_of_done_batch(std::size_t i) const {
    const std::vector<Entry>& entries = dump_.entries;
    const Entry& entry = entries[i];
    if (entry.state != EntryState::scheduled || entry.started_ns != 0 || entry.retired || ends_batch(entry)) return false;
    const auto is_beside = [&](std::size_t other) {
      const Entry& o = entries[other];
      const bool same = entry.is_p2p ? o.p2p_seq == entry.p2p_seq && entry.p2p_seq >= 0 : o.collective_seq == entry.collective_seq && entry.collective_seq >= 0;
      return same && std::abs(o.record_id - entry.record_id) == 1 && o.is_p2p == entry.is_p2p && o.group == entry.group;
    };
    if ((i > 0 && is_beside(i - 1)) || (i + 1 < entries.size() && is_beside(i + 1))) return true;
    const std::vector<Frame>& frames = *entry.frames;
    if (!entry.is_p2p) return false;
    return std::any_of(frames.begin(), frames.end(), [](const Frame& frame) { return frame.name == "batch_isend_irecv"; });
  }

  bool is_done(const Entry& entry) const {
    return entry.state == EntryState::completed || (options_.ends_by_retiring && entry.retired);
  }

  void add_batch(std::vector<Call>& calls, std::size_t begin, std::size_t end) const {
    const Entry& whole = dump_.entries[end];
    Call all;
    std::size_t members = 0;
    for (std::size_t i = begin; i < end; ++i) {
      Call call = call_of(dump_.entries[i], whole);
      if (call.layer == Layer::point_to_point) {
        CallDetails details = *call.details;
        details.batch = whole.record_id;  // its calls progress together
        call.details = std::move(details);
        calls.push_back(std::move(call));
        continue;
      }
      if (members++ == 0) {
        all = std::move(call);
        continue;
      }
      if (call.name != all.name && all.name.find(call.name) == std::string::npos) all.name += "+" + call.name;
      if (all.count >= 0 && call.count >= 0) all.count += call.count;
      if (members == 2) {  // of several calls the shape and the parts of one say nothing
        CallDetails details = *all.details;
        details.sends = details.receives = {};
        details.shape.clear();
        all.details = std::move(details);
      }
    }
    if (members == 0) return;
    all.purpose = {PurposeKind::coalesced, static_cast<std::int64_t>(members)};
    calls.push_back(std::move(all));
  }

  Call call_of(const Entry& entry, const Entry& state) const {
    const OpName op = op_name_of(entry.name);
    const GroupView group = group_(entry);
    Call call;
    call.name = op.name;
    call.group = group.label;
    call.async = true;  // launched in order, and waited for later
    const bool is_message = entry.is_p2p || op.name == "send" || op.name == "recv";
    call.layer = is_message ? Layer::point_to_point : Layer::collective;
    call.seq = is_message ? -1 : entry.collective_seq;
    if (is_message) call.peer = peer_of(op, group);
    CallDetails details;
    details.record = entry.record_id;
    add_sizes(call, details, entry);
    call.details = std::move(details);
    call.site = sites_.of(entry.frames);
    if (options_.reads_frames && !is_message)
      call.purpose = options_.has_wrapper && is_of_autograd(entry) ? bucket_purpose() : sites_.purpose_of(entry.frames);
    add_state(call, entry, state);
    return call;
  }

  Rank peer_of(const OpName& op, const GroupView& group) const {
    if (op.any_source) return any_source;
    const auto& ranks = *group.ranks;
    const std::int64_t peer = op.name == "send" ? op.to : op.from;
    if (peer >= 0 && static_cast<std::size_t>(peer) < ranks.size())
      return static_cast<Rank>(ranks[static_cast<std::size_t>(peer)]);
    if (peer < 0 && ranks.size() == 2) return static_cast<Rank>(ranks[0] == dump_.rank ? ranks[1] : ranks[0]);
    return no_rank;
  }

  static void add_sizes(Call& call, CallDetails& details, const Entry& entry) {
    const bool by_output = is_counted_by_output(call.name);
    const bool swap = (by_output ? entry.output_sizes : entry.input_sizes).empty();
    const Sizes& sizes = by_output != swap ? entry.output_sizes : entry.input_sizes;
    const std::vector<std::string>& types = by_output != swap ? *entry.output_dtypes : *entry.input_dtypes;
    if (!has_no_count(call.name) && !sizes.empty()) {
      call.count = elements(sizes);
      details.shape = shape_text(sizes);
    }
    if (has_own_parts(call.name)) {
      details.sends = splits_of(entry.input_sizes);
      details.receives = splits_of(entry.output_sizes);
    }
    if (types.empty() || call.name == "barrier") return;
    const auto* const known = std::find_if(dtype_names.begin(), dtype_names.end(),
                                           [&](const TorchType& t) { return t.name == types.front(); });
    if (known != dtype_names.end()) {
      call.dtype = known->dtype;
    } else {
      details.dtype = types.front();
    }
  }

  void add_state(Call& call, const Entry& entry, const Entry& state) const {
    call.issued = time_at(entry.created_ns, epoch_ns_);
    if (state.started_ns != 0) call.started = time_at(state.started_ns, epoch_ns_);
    if (is_done(state)) {
      call.state = entry.failed || took_its_timeout(state) ? CallState::timed_out : CallState::completed;
      call.finished = std::max(call.issued, time_at(state.completed_ns, epoch_ns_));
      return;
    }
    switch (state.state) {
      case EntryState::scheduled:
        call.state = CallState::issued;
        break;
      case EntryState::started:
        call.state = CallState::started;
        break;
      case EntryState::completed:
        break;
    }
  }

  // The watchdog aborts a communicator then, and the calls on it are done, as far as the recorder can see.
  static bool took_its_timeout(const Entry& entry) {
    return entry.timeout_ms > 0 && entry.created_ns > 0 &&
           (entry.completed_ns - entry.created_ns) / 1'000'000 >= entry.timeout_ms;
  }

  const Dump& dump_;
  CallOptions options_;
  std::int64_t epoch_ns_;
  const std::function<GroupView(const Entry&)>& group_;
  Sites& sites_;
};

// The frames from the innermost outside of PyTorch on.
Site site_of(const std::vector<Frame>& frames) {
  constexpr std::size_t most_frames = 24;  // frameworks put a dozen of their own around a call
  Site site;
  CallOrigin origin;
  const auto first = std::find_if_not(frames.begin(), frames.end(), is_torch_frame);
  for (auto frame = first; frame != frames.end() && origin.frames.size() < most_frames; ++frame)
    origin.frames.push_back({frame->name, frame->file, static_cast<int>(frame->line)});
  if (origin.frames.empty()) return site;
  origin.file = origin.frames.front().file;
  site.phase = phase_of(frames);
  site.origin = std::move(origin);
  return site;
}

}  // namespace

bool Sites::Older::operator()(const std::vector<Frame>& a, const std::vector<Frame>& b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), [](const Frame& x, const Frame& y) {
    return std::tie(x.line, x.name, x.file) < std::tie(y.line, y.name, y.file);
  });
}

const Site& Sites::of(const SharedValue<std::vector<Frame>>& frames) {
  const Site*& known = of_dump_[&*frames];
  if (known == nullptr) {
    const auto [at, is_new] = of_job_.try_emplace(*frames);
    if (is_new) at->second = site_of(*frames);
    known = &at->second;
  }
  return *known;
}

const Purpose& Sites::purpose_of(const SharedValue<std::vector<Frame>>& frames) {
  const Purpose*& known = purposes_of_dump_[&*frames];
  if (known == nullptr) {
    const TorchPart* part = torch_part_of(*frames);
    known = part == nullptr ? &none_ : &part->purpose;
  }
  return *known;
}

bool is_of_autograd(const Entry& entry) {
  return entry.frames->empty() && !entry.is_p2p && op_name_of(entry.name).name == "all_reduce";
}

std::string_view torch_dtype_name(const Call& call) {
  const auto* const row =
      std::find_if(dtype_names.begin(), dtype_names.end(), [&](const TorchType& t) { return t.dtype == call.dtype; });
  return row->name;
}

OpName op_name_of(std::string_view profiling_name) {
  OpName op;
  if (const std::size_t colon = profiling_name.find(':'); colon != std::string_view::npos) {
    op.backend = std::string(profiling_name.substr(0, colon));
    profiling_name.remove_prefix(colon + 1);
  }
  const std::size_t space = profiling_name.find(' ');
  op.name = std::string(profiling_name.substr(0, space));
  op.any_source = op.name == any_source_name;
  if (const CollectiveRow* kind = collective_of_torch(op.name)) op.name = std::string(kind->name);
  if (op.name.empty()) op.name = "unnamed";
  if (space == std::string_view::npos) return op;
  const std::string_view ranks = profiling_name.substr(space + 1);
  if (const std::size_t arrow = ranks.find("->"); arrow != std::string_view::npos) {
    op.from = number_in(ranks.substr(0, arrow)).value_or(-1);
    op.to = number_in(ranks.substr(arrow + 2)).value_or(-1);
  } else if (const std::size_t back = ranks.find("<-"); back != std::string_view::npos) {
    op.to = number_in(ranks.substr(0, back)).value_or(-1);
    op.from = number_in(ranks.substr(back + 2)).value_or(-1);
  }
  return op;
}

std::vector<Call> calls_of(const Dump& dump, const CallOptions& options,
                           const std::function<GroupView(const Entry&)>& group, Sites& sites) {
  sites.begin_dump();
  return Converter(dump, options, group, sites).run();
}

}  // namespace pdsim::scenarios::pytorch
