#include "scenarios/records/logs/line_forms.h"

#include "core/record/record_check.h"
#include "scenarios/records/logs/line_text.h"

#include <algorithm>

namespace pdsim::scenarios::logs {
namespace {

using Read = std::optional<FactBody>;

constexpr std::size_t most_shape = 16;

FingerprintSide side_of(std::string_view text) {
  FingerprintSide side;
  if (const auto rank = ranks_in(text); !rank.empty()) side.in_group = rank.front();
  const std::size_t at = text.find("CollectiveFingerPrint(");
  const std::string_view print = at == std::string_view::npos ? std::string_view() : text.substr(at);
  side.seq = number_after(print, "SequenceNumber=").value_or(-1);
  side.op = clipped(text_after(print, "OpType=", ",) .").value_or(""), 64);
  side.shape = numbers_in(text_after(print, "TensorShape=[", "]").value_or(""));
  if (side.shape.size() > most_shape) side.shape.clear();
  side.dtype = clipped(text_after(print, "TensorDtypes=", ",) ").value_or(""), 32);
  return side;
}

Read fingerprints(std::string_view line) {
  constexpr std::string_view first = "collectives on ranks. Rank ", second = "but Rank ";
  const std::size_t mine = line.find(first), theirs = line.find(second);
  if (mine == std::string_view::npos || theirs == std::string_view::npos || theirs < mine) return std::nullopt;
  const std::size_t begin = mine + first.size();
  FingerprintMismatch found{side_of(line.substr(begin, theirs - begin)), side_of(line.substr(theirs + second.size()))};
  if (found.mine.in_group == no_rank || found.theirs.in_group == no_rank) return std::nullopt;
  return found;
}

Read barrier_missed(std::string_view line) {
  const std::string_view before = line.substr(0, line.find(" failed to pass monitoredBarrier"));
  const std::size_t many = before.rfind("Ranks "), one = before.rfind("Rank ");
  BarrierMissed found;
  if (many != std::string_view::npos) {
    found.in_group = ranks_in(before.substr(many + 6));
  } else if (one != std::string_view::npos) {
    found.in_group = ranks_in(before.substr(one + 5));
  }
  found.timeout_ms = number_after(line, "monitoredBarrier in ").value_or(-1);
  if (found.in_group.empty()) return std::nullopt;
  return found;
}

Read barrier_reached(std::string_view line) {
  const auto blamed = number_after(line, "send/recv from rank ");
  if (!blamed || *blamed < 0 || *blamed >= most_recorded_ranks) return std::nullopt;
  BarrierReached found;
  found.blamed_in_group = static_cast<Rank>(*blamed);
  const std::string_view before = line.substr(0, line.find(" successfully reached"));
  if (const std::size_t at = before.rfind("Rank "); at != std::string_view::npos)
    if (const auto mine = ranks_in(before.substr(at + 5)); !mine.empty()) found.mine = mine.front();
  return found;
}

Read closed(std::string_view line) {
  PeerClosed found;
  for (const std::string_view before : {std::string_view("by peer "), std::string_view("by remote peer "),
                                        std::string_view("Read error "), std::string_view("writev ")})
    if (const auto address = text_after(line, before, " ,")) found.address = clipped(trimmed(*address), 80);
  if (found.address.ends_with(":")) found.address.pop_back();
  return found;
}

Read transfer(std::string_view line) {
  const auto ms = number_after(line, "Timed out waiting ");
  if (!ms) return std::nullopt;
  return TransferTimeout{line.find("for send") != std::string_view::npos, *ms};
}

Read too_long(std::string_view line) {
  MessageTooLong found;
  if (const auto bytes = number_after(line, "op.nbytes. ")) found.bytes = *bytes;
  if (const auto room = number_after(line, " vs ")) found.room = *room;
  return found;
}

Read missing_indices(std::string_view line) {
  GradientsMissing found;
  const auto rank = number_after(line, "for rank ");
  const std::size_t at = line.find("did not receive grad for rank ");
  const std::size_t colon = line.find(':', at);
  if (!rank || colon == std::string_view::npos || *rank < 0 || *rank >= most_recorded_ranks) return std::nullopt;
  found.in_group = static_cast<Rank>(*rank);
  const std::string_view list = line.substr(colon + 1);
  found.indices = numbers_in(list);
  constexpr std::size_t most_names = 64;
  if (found.indices.empty())
    for (std::string_view rest = list; !rest.empty() && found.names.size() < most_names;) {
      const std::size_t end = std::min(rest.find(','), rest.size());
      if (const std::string_view name = trimmed(rest.substr(0, end)); !name.empty())
        found.names.push_back(clipped(name, 120));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  if (found.indices.size() > most_names) found.indices.resize(most_names);
  return found;
}

Read marked_twice(std::string_view line) {
  MarkedTwice found;
  found.index = number_after(line, "Parameter at index ").value_or(-1);
  found.name = clipped(text_after(line, "with name ", " ").value_or(""), 120);
  return found;
}

Read store_wait(std::string_view line) {
  StoreTimeout found;
  found.timeout_ms = number_after(line, "wait timeout after ").value_or(number_after(line, " after ").value_or(-1));
  std::optional<std::string_view> keys = text_after(line, "keys: ", "\n");
  if (!keys) keys = text_after(line, "Timeout waiting for key: ", " ");
  if (!keys) keys = text_after(line, "by key '", "'");
  if (keys) found.keys = clipped(trimmed(*keys), 120);
  return found;
}

Read clients_joined(std::string_view line) {
  const std::size_t at = line.find("waiting for clients. ");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view counts = line.substr(at + 21);
  const auto joined = leading_number(counts), all = number_after(counts, "/");
  if (!joined || !all) return std::nullopt;
  return WorldSize{*all, *joined, false};
}

Read out_of_memory(std::string_view line) {
  constexpr std::size_t most_text = 240;
  return OutOfMemory{clipped(trimmed(line.substr(line.find("CUDA out of memory"))), most_text)};
}

constexpr LineForm others[] = {
    {"Detected mismatch between collectives on ranks. Rank ", fingerprints},
    {" failed to pass monitoredBarrier", barrier_missed},
    {" successfully reached monitoredBarrier", barrier_reached},
    {"Connection closed by peer", closed},
    {"Connection closed by remote peer", closed},
    {"Connection reset by peer", closed},
    {": Broken pipe", closed},
    {" operation to complete", transfer},
    {"op.preamble.length <= op.nbytes", too_long},
    {"did not receive grad for rank ", missing_indices},
    {"has been marked as ready twice", marked_twice},
    {"wait timeout after ", store_wait},
    {"got error: Timeout waiting for key", store_wait},
    {"waiting for clients. ", clients_joined},
    {"CUDA out of memory. Tried to allocate ", out_of_memory},
};

}  // namespace

std::span<const LineForm> other_forms() { return others; }

std::optional<FactBody> fact_of_line(std::string_view line) {
  for (const std::span<const LineForm> forms : {nccl_forms(), other_forms(), launcher_forms()})
    for (const LineForm& form : forms)
      if (line.find(form.mark) != std::string_view::npos)
        if (std::optional<FactBody> fact = form.read(line)) return fact;
  return std::nullopt;
}

}  // namespace pdsim::scenarios::logs
