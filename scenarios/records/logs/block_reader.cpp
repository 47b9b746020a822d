#include "scenarios/records/logs/block_reader.h"

#include "core/record/record_check.h"
#include "scenarios/records/logs/line_prefix.h"
#include "scenarios/records/logs/line_text.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace pdsim::scenarios::logs {
namespace {

constexpr std::string_view traceback_begin = "Traceback (most recent call last)";
constexpr std::size_t most_message = 4000;

int line_number(std::optional<std::int64_t> number) {
  return number && *number >= 0 && *number <= most_recorded_place ? static_cast<int>(*number) : 0;
}

// File "train.py", line 12, in step      (faulthandler: without the second comma)
std::optional<StackFrame> python_frame(std::string_view text) {
  const std::string_view line = trimmed(text);
  if (!line.starts_with("File \"")) return std::nullopt;
  const std::optional<std::string_view> file = text_after(line, "File \"", "\"");
  const auto number = number_after(line, "\", line ");
  if (!file || !number) return std::nullopt;
  StackFrame frame;
  frame.file = clipped(*file, 240);
  frame.line = line_number(number);
  if (const std::size_t in = line.rfind(" in "); in != std::string_view::npos)
    frame.function = clipped(line.substr(in + 4), 120);
  return frame;
}

// all_reduce (torch/distributed/distributed_c10d.py:2501)
std::optional<StackFrame> py_spy_frame(std::string_view text) {
  if (!text.starts_with(" ")) return std::nullopt;
  const std::string_view line = trimmed(text);
  const std::size_t open = line.rfind(" ("), colon = line.rfind(':');
  if (open == std::string_view::npos || !line.ends_with(")")) return std::nullopt;
  StackFrame frame;
  frame.function = clipped(line.substr(0, open), 120);
  const bool has_line = colon != std::string_view::npos && colon > open;
  frame.file = clipped(line.substr(open + 2, (has_line ? colon : line.size() - 1) - open - 2), 240);
  if (has_line) frame.line = line_number(leading_number(line.substr(colon + 1)));
  return frame;
}

// #0 all_reduce from /usr/lib/python3/dist-packages/torch/distributed/distributed_c10d.py:3174
std::optional<StackFrame> recorder_frame(std::string_view text) {
  const std::string_view line = trimmed(text);
  if (!line.starts_with("#") || !leading_number(line.substr(1))) return std::nullopt;
  const std::size_t space = line.find(' '), from = line.find(" from "), colon = line.rfind(':');
  if (space == std::string_view::npos || from == std::string_view::npos || colon == std::string_view::npos ||
      colon < from)
    return std::nullopt;
  StackFrame frame;
  frame.function = space < from ? clipped(line.substr(space + 1, from - space - 1), 120) : std::string();
  frame.file = clipped(line.substr(from + 6, colon - from - 6), 240);
  frame.line = line_number(leading_number(line.substr(colon + 1)));
  return frame;
}

bool is_exception_line(std::string_view line) {
  if (line.empty() || line.front() == ' ' || line.front() == '\t') return false;
  const std::size_t end = std::min(line.find(':'), line.size());
  const std::string_view name = line.substr(0, end);
  return name.size() < 120 && std::all_of(name.begin(), name.end(), [](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
         });
}

bool is_table_begin(std::string_view line) {
  return line.starts_with("Root Cause (first observed failure)") || line == "Failures:" || line == "Other Failures:";
}

bool is_rule(std::string_view line) {
  return line.size() > 20 && line.find_first_not_of("=-") == std::string_view::npos;
}

}  // namespace

bool BlockReader::begins(std::string_view text) {
  const std::string_view line = trimmed(text);
  if (line.starts_with(traceback_begin)) {
    in_ = In::traceback;
    raised_ = {};
  } else if (line.starts_with("Process ") && line.find(": ") != std::string_view::npos &&
             leading_number(line.substr(8))) {
    pid_ = leading_number(line.substr(8)).value_or(-1);
  } else if (line.ends_with("(most recent call first):")) {
    in_ = In::faulthandler;
    stack_ = {StackSource::faulthandler,
              line.starts_with("Current thread") ? "current" : clipped(line.substr(0, line.find(" (")), 60),
              -1,
              {}};
  } else if (line.starts_with("Thread ") && line.find('(') != std::string_view::npos &&
             (line.ends_with(")") || line.ends_with("\""))) {
    in_ = In::py_spy;
    stack_ = {StackSource::py_spy, clipped(text_after(line, "\"", "\"").value_or(""), 60), pid_, {}};
  } else if (line.starts_with("Stack trace of the failed collective:")) {
    in_ = In::recorder;
    stack_ = {StackSource::flight_recorder, "", -1, {}};
  } else if (is_table_begin(line)) {
    in_ = In::table;
    first_ = line.starts_with("Root");
  } else {
    return false;
  }
  begun_ = line_;
  return true;
}

void BlockReader::read_table_line(std::string_view text) {
  const std::string_view line = trimmed(text);
  const auto value = [&] { return trimmed(text_after(line, ":", "\n").value_or("")); };
  if (line.starts_with("[") && line.ends_with("]:")) {
    if (has_failed_) rows_.push_back({failed_, failed_at_, begun_});
    failed_ = {};
    failed_at_.reset();
    failed_.first = first_;
    has_failed_ = false;
    begun_ = line_;
  } else if (line.starts_with("time ")) {
    failed_at_ = date_ns(value());
  } else if (line.starts_with("host ")) {
    failed_.host = clipped(value(), 120);
  } else if (line.starts_with("rank ")) {
    if (const auto ranks = ranks_in(value()); !ranks.empty()) failed_.rank = ranks.front();
    if (const auto local = ranks_in(text_after(line, "local_rank: ", ")").value_or("")); !local.empty())
      failed_.local_rank = local.front();
  } else if (line.starts_with("exitcode ")) {
    failed_.exit_code = leading_number(value()).value_or(0);
    failed_.pid = number_after(line, "pid: ").value_or(-1);
    if (failed_.exit_code < 0 && failed_.exit_code > -65) failed_.signal = static_cast<int>(-failed_.exit_code);
    has_failed_ = true;
  } else if (line.starts_with("traceback ")) {
    if (const auto signal = number_after(line, ": Signal "); signal && *signal > 0 && *signal < 65)
      failed_.signal = static_cast<int>(*signal);
  }
}

bool BlockReader::continues(std::string_view text, bool headed) {
  const std::string_view line = trimmed(text);
  const auto add = [&](std::vector<StackFrame>& frames, std::optional<StackFrame> frame) {
    if (frame && frames.size() < most_frames) frames.push_back(std::move(*frame));
    return frame.has_value();
  };
  switch (in_) {
    case In::nothing:
      return false;
    case In::traceback:
      if (add(raised_.frames, python_frame(text))) return true;
      if (!is_exception_line(text)) return !headed && (text.starts_with(" ") || text.starts_with("\t") || line.empty());
      std::reverse(raised_.frames.begin(), raised_.frames.end());
      raised_.type = clipped(line.substr(0, line.find(':')), 120);
      raised_.message =
          clipped(line.size() > raised_.type.size() ? trimmed(line.substr(raised_.type.size() + 1)) : "", most_message);
      in_ = In::message;
      begun_ = line_;
      message_left_ = message_lines;
      return true;
    case In::message:
      if (headed || line.empty() || is_rule(line) || message_left_-- <= 0 || raised_.message.size() > most_message)
        return false;
      raised_.message += " " + clipped(line, most_message);
      return true;
    case In::py_spy:
      return add(stack_.frames, py_spy_frame(text));
    case In::faulthandler:
      return add(stack_.frames, python_frame(text));
    case In::recorder:
      return add(stack_.frames, recorder_frame(text));
    case In::table:
      if (is_rule(line)) return !has_failed_ || !first_;
      read_table_line(text);
      return !headed;
  }
  return false;
}

void BlockReader::end(std::vector<Block>& ended) {
  switch (std::exchange(in_, In::nothing)) {
    case In::message:
      ended.push_back({std::move(raised_), std::nullopt, begun_});
      break;
    case In::py_spy:
    case In::faulthandler:
    case In::recorder:
      if (!stack_.frames.empty()) ended.push_back({std::move(stack_), std::nullopt, begun_});
      break;
    case In::table:
      if (has_failed_) rows_.push_back({failed_, failed_at_, begun_});
      has_failed_ = false;
      failed_ = {};
      for (Block& row : rows_) ended.push_back(std::move(row));
      rows_.clear();
      break;
    case In::nothing:
    case In::traceback:
      break;
  }
}

std::vector<BlockReader::Block> BlockReader::read(std::string_view text, bool headed, std::int64_t number) {
  line_ = number;
  std::vector<Block> ended;
  if (in_ == In::nothing) {
    begins(text);
    return ended;
  }
  const std::string_view line = trimmed(text);
  const bool is_head = line.starts_with(traceback_begin) || (in_ == In::table && is_table_begin(line)) ||
                    line.ends_with("(most recent call first):");
  if (!is_head && continues(text, headed)) return ended;
  end(ended);
  begins(text);
  return ended;
}

std::vector<BlockReader::Block> BlockReader::finish() {
  std::vector<Block> ended;
  end(ended);
  return ended;
}

}  // namespace pdsim::scenarios::logs
