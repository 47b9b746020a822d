// The sentences of the labs' checks, in the languages of the labs' texts.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace pdsim::tools {

// Forms of fmt; the placeholders are the same in every language.
struct LabWords {
  // plans
  const char *other_collective, *left_out_ranks, *too_many;
  // answers
  const char *right_of, *not_right, *no_answer, *not_a_file, *no_colon, *unknown_key, *twice;
  // scenarios
  const char *part_differs, *part_is_new, *part_is_gone, *write_back, *may_change, *restore, *too_few_calls,
      *too_few_in_all, *no_checkpoint, *lost_checkpoint, *too_slow, *with, *once, *times;
  // scores
  const char *checks, *time_of_run, *measure_with_ranks, *par;
};

const LabWords& lab_words(std::string_view language);  // zh, or English

// One of these forms with its values.
template <class... Values>
std::string said(const char* form, const Values&... values) {
  return fmt::format(fmt::runtime(form), values...);
}

}  // namespace pdsim::tools
