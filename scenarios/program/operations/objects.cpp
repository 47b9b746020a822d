// broadcast_object_list, all_gather_object, gather_object, scatter_object_list: as torch.distributed does them, with the
// sizes of the pickled objects first and then their bytes, padded to the largest where ranks receive several.
//
//   payload: none   nothing arrives, so every rank takes its own size for everybody's
//   source          torch/distributed/distributed_c10d.py
#include "scenarios/language/check/limits.h"
#include "scenarios/program/operations/collectives.h"
#include "scenarios/program/operations/devices.h"
#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/operations/shared_keys.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

namespace pdsim::scenarios::operations {
namespace {

using Bytes8 = std::vector<std::byte>;

class ObjectCall {
 public:
  // `root`: of the group.
  ObjectCall(Session& s, const Operation& op, ProcessGroup& group, Rank root)
      : s_(s), op_(op), group_(group), root_(root), own_size_(op.as<CollectiveOptions>().size.count) {}

  Status broadcast_list() {
    std::vector<std::int64_t> sizes{is_root() ? own_size_ : 0};
    PDSIM_TRY(call(CollectiveKind::broadcast, DType::i64, 1, bytes_of(sizes), sizes));
    if (!group_.is_member()) return {};
    PDSIM_TRY(check_sizes(sizes));
    const std::int64_t size = s_.moves_data() ? sizes.front() : own_size_;
    Bytes8 object = is_root() ? object_of(root_, size) : Bytes8(static_cast<std::size_t>(size));
    PDSIM_TRY(exchange(CollectiveKind::broadcast, DType::u8, size, {}, object));
    return check(object, root_, 0, size);
  }

  Status all_gather() {
    std::vector<std::int64_t> sizes;
    PDSIM_TRY(all_sizes(sizes));
    if (!group_.is_member()) return {};
    const std::int64_t largest = largest_of(sizes);
    Bytes8 all(static_cast<std::size_t>(largest) * sizes.size());
    PDSIM_TRY(exchange(CollectiveKind::all_gather, DType::u8, largest, padded(largest), all));
    return check_all(all, sizes, largest);
  }

  Status gather() {
    std::vector<std::int64_t> sizes;
    PDSIM_TRY(all_sizes(sizes));
    if (!group_.is_member()) return {};
    const std::int64_t largest = largest_of(sizes);
    Bytes8 all(is_root() ? static_cast<std::size_t>(largest) * sizes.size() : 0);
    PDSIM_TRY(exchange(CollectiveKind::gather, DType::u8, largest, padded(largest), all));
    return is_root() ? check_all(all, sizes, largest) : Status{};
  }

  Status scatter_list() {
    std::vector<std::int64_t> largest{is_root() ? own_size_ : 0};
    PDSIM_TRY(call(CollectiveKind::broadcast, DType::i64, 1, bytes_of(largest), largest));
    if (!group_.is_member()) return {};
    PDSIM_TRY(check_sizes(largest));
    const std::int64_t size = s_.moves_data() ? largest.front() : own_size_;
    const auto ranks = static_cast<std::size_t>(group_.size());
    Bytes8 objects, object(static_cast<std::size_t>(size));
    for (std::size_t i = 0; is_root() && i < ranks; ++i) append(objects, object_of(root_, size));
    PDSIM_TRY(exchange(CollectiveKind::scatter, DType::u8, size, objects, object));
    std::vector<std::int64_t> sizes(is_root() ? ranks : 0, size), mine(1);
    PDSIM_TRY(call(CollectiveKind::scatter, DType::i64, 1, bytes_of(sizes), mine));
    return check(object, root_, 0, size);
  }

 private:
  bool is_root() const { return group_.is_member() && group_.rank() == root_; }

  static void append(Bytes8& to, const Bytes8& from) { to.insert(to.end(), from.begin(), from.end()); }

  static Bytes8 bytes_of(const std::vector<std::int64_t>& numbers) {
    Bytes8 bytes(numbers.size() * sizeof(std::int64_t));
    if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
    return bytes;
  }

  static Bytes8 object_of(Rank rank, std::int64_t size) {
    Bytes8 bytes(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::byte>((static_cast<std::size_t>(rank) * 31 + i) & 0xff);
    return bytes;
  }

  Bytes8 padded(std::int64_t size) const {
    Bytes8 bytes = object_of(group_.rank(), own_size_);
    bytes.resize(static_cast<std::size_t>(std::max(size, own_size_)));
    return bytes;
  }

  std::int64_t largest_of(const std::vector<std::int64_t>& sizes) const {
    return s_.moves_data() ? *std::max_element(sizes.begin(), sizes.end()) : own_size_;
  }

  Status all_sizes(std::vector<std::int64_t>& sizes) {
    sizes.assign(static_cast<std::size_t>(group_.size()), 0);
    PDSIM_TRY(call(CollectiveKind::all_gather, DType::i64, 1, bytes_of({own_size_}), sizes));
    return check_sizes(sizes);
  }

  // The sizes that arrived decide how much memory is requested.
  Status check_sizes(const std::vector<std::int64_t>& sizes) const {
    for (const std::int64_t size : sizes)
      if (size < 0 || size > limits::memory_bytes / group_.size())
        return Error{Code::wrong_data, fmt::format("{}: an object of {} bytes was announced", op_.name, size), {}};
    return {};
  }

  Status check(const Bytes8& bytes, Rank from, std::int64_t begin, std::int64_t size) const {
    if (!s_.moves_data()) return {};
    const Bytes8 sent = object_of(from, size);
    if (std::equal(sent.begin(), sent.end(), bytes.begin() + static_cast<std::ptrdiff_t>(begin))) return {};
    return Error{Code::wrong_data,
                 fmt::format("{}: the received object of rank {} differs from the sent one", op_.name, group_.global_rank(from)),
                 {}};
  }

  Status check_all(const Bytes8& bytes, const std::vector<std::int64_t>& sizes, std::int64_t largest) const {
    if (!s_.moves_data()) return {};
    for (std::size_t i = 0; i < sizes.size(); ++i)
      PDSIM_TRY(check(bytes, static_cast<Rank>(i), static_cast<std::int64_t>(i) * largest, sizes[i]));
    return {};
  }

  // An exchange of numbers.
  Status call(CollectiveKind kind, DType dtype, std::int64_t count, const Bytes8& input,
              std::vector<std::int64_t>& numbers) {
    Bytes8 output = bytes_of(numbers);
    PDSIM_TRY(exchange(kind, dtype, count, input, output));
    if (!output.empty()) std::memcpy(numbers.data(), output.data(), output.size());
    return {};
  }

  Status exchange(CollectiveKind kind, DType dtype, std::int64_t count, const Bytes8& input, Bytes8& output) {
    const bool moves = s_.moves_data() && group_.is_member();
    const auto elements = [dtype](const Bytes8& bytes) {
      return static_cast<std::int64_t>(bytes.size() / size_of(dtype));
    };
    Collective c;
    c.kind = kind;
    c.dtype = dtype;
    c.count = count;
    c.root = root_;
    c.output = {moves ? output.data() : nullptr, dtype, elements(output)};
    c.input = {moves ? input.data() : nullptr, dtype, elements(input)};
    if (kind == CollectiveKind::broadcast) c.input = {c.output.data, dtype, c.output.count};
    CallOptions options;
    options.async = s_.env.waits_on_stream;
    return wait_on_host(group_.start(std::move(c), std::move(options)));
  }

  static Status wait_on_host(const Result<WorkPtr>& work) { return pdsim::wait(work); }

  Session& s_;
  const Operation& op_;
  ProcessGroup& group_;
  Rank root_;
  std::int64_t own_size_;
};

using Run = Status (ObjectCall::*)();

Status run(Session& s, const Operation& op, CollectiveKind rooted, Run function) {
  const Result<ProcessGroup*> group = s.group_for(op);
  if (!group.ok()) return group.error();
  PDSIM_TRY(check_tensor(s, op, **group));
  const Result<Rank> root = root_of(op, **group, rooted);
  if (!root.ok()) return root.error();
  return (ObjectCall(s, op, **group, *root).*function)();
}

Status broadcast_object_list(Session& s, const Operation& op) {
  return run(s, op, CollectiveKind::broadcast, &ObjectCall::broadcast_list);
}

Status all_gather_object(Session& s, const Operation& op) {
  return run(s, op, CollectiveKind::all_gather, &ObjectCall::all_gather);
}

Status gather_object(Session& s, const Operation& op) {
  return run(s, op, CollectiveKind::gather, &ObjectCall::gather);
}

Status scatter_object_list(Session& s, const Operation& op) {
  return run(s, op, CollectiveKind::scatter, &ObjectCall::scatter_list);
}

constexpr Key object_size_key{
    .name = "size", .type = Type::size, .help = "size of this rank's pickled object", .bind = to<&CollectiveOptions::size>};

constexpr std::array object_keys{object_size_key, group_key};

constexpr std::array object_from_one_keys{object_size_key, src_key, group_src_key, group_key};

constexpr std::array object_to_one_keys{object_size_key, dst_key, group_dst_key, group_key};

constexpr std::array object_rows{
    OperationRow{.name = "broadcast_object_list",
                 .help = "sends objects of rank `src` to every rank: their sizes, then their bytes",
                 .title_help = "an object collective",
                 .keys = object_from_one_keys,
                 .options = options_of<CollectiveOptions>,
                 .traits = language::collective | language::in_train,
                 .collectives = made_of<CollectiveKind::broadcast, CollectiveKind::broadcast>,
                 .run = broadcast_object_list},
    OperationRow{.name = "all_gather_object",
                 .help = "every rank gets every rank's object: the sizes, then the bytes, padded to the largest",
                 .title_help = "an object collective",
                 .keys = object_keys,
                 .options = options_of<CollectiveOptions>,
                 .traits = language::collective | language::in_train,
                 .collectives = made_of<CollectiveKind::all_gather, CollectiveKind::all_gather>,
                 .run = all_gather_object},
    OperationRow{.name = "gather_object",
                 .help = "rank `dst` gets every rank's object: the sizes to all, then the bytes",
                 .title_help = "an object collective",
                 .keys = object_to_one_keys,
                 .options = options_of<CollectiveOptions>,
                 .traits = language::collective | language::in_train,
                 .collectives = made_of<CollectiveKind::all_gather, CollectiveKind::gather>,
                 .run = gather_object},
    OperationRow{.name = "scatter_object_list",
                 .help = "sends an object of rank `src` to each rank: the largest size, the bytes, the sizes",
                 .title_help = "an object collective",
                 .keys = object_from_one_keys,
                 .options = options_of<CollectiveOptions>,
                 .traits = language::collective | language::in_train,
                 .collectives = made_of<CollectiveKind::broadcast, CollectiveKind::scatter, CollectiveKind::scatter>,
                 .run = scatter_object_list},
};

}  // namespace

const Operations object_operations{object_rows};

}  // namespace pdsim::scenarios::operations
