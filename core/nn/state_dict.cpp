#include "core/nn/state_dict.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

namespace pdsim::nn {
namespace {

constexpr std::string_view header = "pdsim checkpoint 1";
constexpr std::int64_t most_elements = 1LL << 30;

const Tensor* find(const StateDict& state, const std::string& key) {
  for (const auto& [name, tensor] : state)
    if (name == key) return &tensor;
  return nullptr;
}

std::string quoted(const std::vector<std::string>& keys) {
  std::vector<std::string> with_marks;
  for (const std::string& key : keys) with_marks.push_back('"' + key + '"');
  return fmt::format("{}", fmt::join(with_marks, ", "));
}

// The usual mistake, when one side is the other but for the prefix.
std::string advice(const std::vector<std::string>& missing, const std::vector<std::string>& unexpected) {
  if (missing.empty() || missing.size() != unexpected.size()) return "";
  const std::string prefix(wrapper_prefix);
  const auto all = [](const std::vector<std::string>& with, const std::vector<std::string>& without, const auto& add) {
    return std::all_of(with.begin(), with.end(), [&](const std::string& key) {
      return std::any_of(without.begin(), without.end(), [&](const std::string& k) { return key == add(k); });
    });
  };
  const auto prefixed = [&](const std::string& key) { return prefix + key; };
  if (all(unexpected, missing, prefixed))
    return " The checkpoint was saved from DDP's wrapper: take the prefix `module.` from its keys, or load it into the "
           "wrapper.";
  if (all(missing, unexpected, prefixed))
    return " The checkpoint was saved from the module itself: load it into `.module` of the wrapper.";
  return "";
}

Error broken(std::string_view path, std::size_t line, std::string_view what) {
  return {Code::checkpoint_corrupt,
          fmt::format("{}, line {}: {}; the file is not a complete checkpoint, write it again", path, line, what),
          {{"path", std::string(path)}, {"line", std::to_string(line)}}};
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(at), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::optional<double> number(std::string_view text) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || end != copy.c_str() + copy.size()) return std::nullopt;
  return value;
}

// "trunk.weight f32 8,4 0.25 -1 ..."; a scalar's shape is "-".
Result<std::pair<std::string, Tensor>> tensor_of(std::string_view text, std::string_view path, std::size_t line) {
  const std::vector<std::string_view> words = split(text, ' ');
  if (words.size() < 3) return broken(path, line, "a tensor has a key, a dtype, a shape and values");
  const auto dtype = dtype_named(words[1]);
  if (!dtype || (*dtype != DType::f32 && *dtype != DType::f64 && *dtype != DType::i64))
    return broken(path, line, "the dtype must be f32, f64 or i64");
  Shape shape;
  std::int64_t elements = 1;
  if (words[2] != "-")
    for (const std::string_view side : split(words[2], ',')) {
      const auto size = whole_number(side);
      if (!size || *size > most_elements || elements * *size > most_elements)
        return broken(path, line, "a shape is a list of sizes");
      shape.push_back(*size);
      elements *= *size;
    }
  if (static_cast<std::int64_t>(words.size()) - 3 != elements)
    return broken(path, line, fmt::format("{} values for {} elements", words.size() - 3, elements));
  std::vector<double> values;
  for (std::size_t i = 3; i < words.size(); ++i) {
    const auto value = number(words[i]);
    if (!value) return broken(path, line, "a value is not a number");
    values.push_back(*value);
  }
  return std::pair{std::string(words[0]), Tensor::from(values, shape, *dtype)};
}

// One fact for each key.
Facts key_facts(const std::vector<std::string>& missing, const std::vector<std::string>& unexpected) {
  Facts facts;
  for (const std::string& key : missing) facts.push_back({"missing", key});
  for (const std::string& key : unexpected) facts.push_back({"unexpected", key});
  return facts;
}

}  // namespace

StateDict state_dict(Module& module, std::string_view prefix) {
  StateDict state;
  for (const LayerSpec& layer : module.spec().layers)
    for (const std::vector<Tensor>* list : {&module.parameters(), &module.buffers()})
      for (const Tensor& t : *list)
        if (t.name().starts_with(layer.name + ".")) state.emplace_back(std::string(prefix) + t.name(), t.clone());
  return state;
}

Status load_state_dict(Module& module, const StateDict& saved, std::string_view prefix, bool strict,
                       std::string_view class_name) {
  std::vector<std::string> missing, unexpected, problems;
  const StateDict own = state_dict(module, prefix);
  for (const auto& [key, now] : own) {
    const Tensor* from = find(saved, key);
    if (from == nullptr) {
      missing.push_back(key);
    } else if (from->shape() != now.shape()) {
      problems.push_back(
          fmt::format("size mismatch for {}: copying a param with shape torch.Size([{}]) from checkpoint, the shape in "
                      "current model "
                      "is torch.Size([{}]).",
                      key, fmt::join(from->shape(), ", "), fmt::join(now.shape(), ", ")));
    } else {
      Tensor to = module.find(key.substr(prefix.size()));
      to.copy_(Tensor::from(from->values(), to.shape(), to.dtype()).view());
    }
  }
  for (const auto& [key, tensor] : saved)
    if (find(own, key) == nullptr) unexpected.push_back(key);
  std::string text;
  if (strict && !missing.empty()) text += fmt::format(" Missing key(s) in state_dict: {}.", quoted(missing));
  if (strict && !unexpected.empty()) text += fmt::format(" Unexpected key(s) in state_dict: {}.", quoted(unexpected));
  for (const std::string& problem : problems) text += " " + problem;
  if (text.empty()) return {};
  return Error{Code::state_dict_mismatch,
               fmt::format("Error(s) in loading state_dict for {}:{}{}", class_name, text,
                           strict ? advice(missing, unexpected) : ""),
               key_facts(missing, unexpected)};
}

std::string checkpoint_text(const StateDict& state) {
  std::string text = fmt::format("{}\n", header);
  for (const auto& [key, tensor] : state) {
    const std::string shape = tensor.shape().empty() ? "-" : fmt::format("{}", fmt::join(tensor.shape(), ","));
    text += fmt::format("{} {} {}", key, pdsim::name_of(tensor.dtype()), shape);
    for (const double value : tensor.values()) text += fmt::format(" {}", value);
    text += '\n';
  }
  return text + fmt::format("end {}\n", state.size());
}

Result<StateDict> parse_checkpoint(std::string_view text, std::string_view path) {
  const std::vector<std::string_view> lines = split(text, '\n');
  if (lines.empty() || lines.front() != header)
    return broken(path, 1, fmt::format("it does not begin with `{}`", header));
  StateDict state;
  for (std::size_t i = 1; i < lines.size(); ++i) {
    if (lines[i].starts_with("end ")) {
      if (lines[i] != fmt::format("end {}", state.size()) || i + 1 != lines.size() || text.back() != '\n')
        return broken(path, i + 1, fmt::format("it ends with `{}` after {} tensors", lines[i], state.size()));
      return state;
    }
    Result<std::pair<std::string, Tensor>> tensor = tensor_of(lines[i], path, i + 1);
    if (!tensor.ok()) return tensor.error();
    state.push_back(std::move(tensor).value());
  }
  return broken(path, lines.size(), "it is truncated: the line `end` is missing");
}

}  // namespace pdsim::nn
