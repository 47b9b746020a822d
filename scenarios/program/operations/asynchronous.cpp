// Operations on an asynchronous operation and its tensor: wait, synchronize, read, write.
#include "scenarios/program/operations/asynchronous.h"

#include "scenarios/program/operations/operation_row.h"
#include "scenarios/program/rpc_session.h"

#include <fmt/format.h>

#include <algorithm>

namespace pdsim::scenarios::operations {
namespace {

struct ReadOptions {
  std::string label;
  bool non_blocking = false;
};

struct WriteOptions {
  std::string label;
};

// A result that is not what it should be ends no program: nobody looks at it. It is what the rank's run comes to, in the end.
Status finish(Session& s, Pending& pending) {
  PDSIM_TRY(pending.work->wait());
  if (pending.result) s.results[pending.label] = pending.result();
  const Status right = pending.check ? pending.check() : Status{};
  if (right.ok()) return {};
  if (s.wrong.ok()) s.wrong_site = s.env.recorder.site();
  if (s.wrong.ok()) s.wrong = right;
  s.wrong_now = right;
  return {};
}

// Looks at what arrived behind the program's back.
Status look(Session& s) {
  const auto done = [](const auto& entry) { return entry.second->work->done(); };
  Status first;
  for (const auto& entry : s.on_stream)
    if (Status status = done(entry) ? finish(s, *entry.second) : Status{}; !status.ok() && first.ok())
      first = std::move(status);
  s.on_stream.erase(std::remove_if(s.on_stream.begin(), s.on_stream.end(), done), s.on_stream.end());
  return first;
}

using notes::Waited;

struct Started {
  Waited waited = Waited::no;
  Pending* pending = nullptr;  // while nobody waited for it
};

// The operation that the label stands for.
Result<Started> started_as(Session& s, const std::string& label, std::string_view what) {
  if (const auto found = s.pending.find(label); found != s.pending.end())
    return found->second->synchronised ? Started{Waited::yes, nullptr} : Started{Waited::no, found->second.get()};
  for (const auto& [name, pending] : s.on_stream)
    if (name == label && !pending->work->done()) return Started{Waited::by_stream, nullptr};
  if (s.waited.count(label) != 0) return Started{Waited::yes, nullptr};
  return Error{Code::invalid_argument,
               fmt::format("{}: rank {} has not started an operation with the label `{}`", what, s.env.rank, label),
               {{"label", label}}};
}

}  // namespace

Status wait_on(Session& s, const std::string& label, std::unique_ptr<Pending> pending) {
  s.waited.insert(label);
  if (!s.env.waits_on_stream || pending->blocks_host) {
    PDSIM_TRY(finish(s, *pending));
    return look(s);
  }
  s.env.device->wait_for(pending->work);
  PDSIM_TRY(look(s));
  s.on_stream.emplace_back(label, std::move(pending));
  return {};
}

Status synchronize(Session& s) {
  if (s.env.device == nullptr) return {};
  s.env.device->synchronize();
  for (auto& [label, pending] : s.pending) pending->synchronised = s.env.waits_on_stream;
  return look(s);
}

Status synchronize(Session& s, const Operation&) { return synchronize(s); }

namespace {

Status wait(Session& s, const Operation& op) {
  const std::string& label = op.as<WaitOptions>().label;
  if (const std::optional<Status> waited = wait_for_future(s, label)) return *waited;
  const auto found = s.pending.find(label);
  if (found == s.pending.end())
    return Error{Code::invalid_argument,
                 fmt::format("wait: rank {} has not started an operation with the label `{}`", s.env.rank, label),
                 {{"label", label}}};
  std::unique_ptr<Pending> pending = std::move(found->second);
  s.pending.erase(found);
  return wait_on(s, label, std::move(pending));
}

Status read(Session& s, const Operation& op) {
  const auto& [label, copies_behind] = op.as<ReadOptions>();
  if (s.env.device != nullptr && !copies_behind) s.env.device->synchronize_stream();
  const Result<Started> started = started_as(s, label, op.name);
  if (!started.ok()) return started.error();
  s.env.recorder.note(notes::ResultRead{label, started->waited, s.outside.count(label) == 0});
  return look(s);
}

Status write(Session& s, const Operation& op) {
  const std::string& label = op.as<WriteOptions>().label;
  const Result<Started> started = started_as(s, label, op.name);
  if (!started.ok()) return started.error();
  const bool waited = started->waited != Waited::no;  // what writes is launched behind what the stream waits for
  s.env.recorder.note(notes::BufferWritten{label, waited ? Waited::yes : Waited::no});
  if (started->pending == nullptr) return {};
  for (std::byte& byte : started->pending->input) byte ^= std::byte{1};  // t += 1, or the next batch
  return {};
}

constexpr std::array wait_keys{
    Key{.name = "for",
        .type = Type::name,
        .help = "label of an earlier operation with `async: true`",
        .required = true,
        .bind = to<&WaitOptions::label>},
};

constexpr std::array read_keys{
    Key{.name = "of",
        .type = Type::name,
        .help = "label of an earlier collective or recv",
        .required = true,
        .bind = to<&ReadOptions::label>},
    Key{.name = "non_blocking",
        .type = Type::boolean,
        .help = "like a copy to the host that does not wait for the stream; false: like `.item()`, which does",
        .bind = to<&ReadOptions::non_blocking>},
};

constexpr std::array write_keys{
    Key{.name = "to",
        .type = Type::name,
        .help = "label of an earlier operation with `async: true`",
        .required = true,
        .bind = to<&WriteOptions::label>},
};

constexpr std::array asynchronous_rows{
    OperationRow{.name = "wait",
                 .help = "waits for an asynchronous operation",
                 .title_help = "waits for an asynchronous operation",
                 .keys = wait_keys,
                 .options = options_of<WaitOptions>,
                 .traits = language::in_train,
                 .run = wait},
    OperationRow{.name = "synchronize",
                 .help = "torch.cuda.synchronize: the program waits for its own device, without communication",
                 .traits = language::in_train,
                 .run = synchronize},
    OperationRow{.name = "read",
                 .help = "uses the result of an operation, waited for or not",
                 .title_help = "uses the result of an operation",
                 .keys = read_keys,
                 .options = options_of<ReadOptions>,
                 .traits = language::in_train,
                 .run = read},
    OperationRow{.name = "write",
                 .help = "overwrites the tensor that an asynchronous operation sends, in flight or not",
                 .title_help = "overwrites the tensor of an asynchronous operation",
                 .keys = write_keys,
                 .options = options_of<WriteOptions>,
                 .traits = language::in_train,
                 .run = write},
};

}  // namespace

const Operations asynchronous_operations{asynchronous_rows};

}  // namespace pdsim::scenarios::operations
