#include "scenarios/language/loader.h"

#include "scenarios/language/build.h"
#include "scenarios/language/check/limits.h"
#include "scenarios/language/check/meaning.h"
#include "scenarios/language/check/shape_check.h"
#include "scenarios/language/check/whole_parts.h"
#include "scenarios/language/document/problems.h"
#include "scenarios/language/document/read.h"
#include "scenarios/language/document/settings.h"
#include "scenarios/language/document/tree.h"
#include "scenarios/language/plans.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <utility>

namespace pdsim::scenarios {
namespace {

using language::Entry;
using language::Fact;
using language::Node;
using language::Problems;

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::string too_large() {
  return fmt::format("the limit of a scenario file is {}",
                     to_string(Bytes{static_cast<std::int64_t>(limits::file_bytes)}));
}

std::string stem_of(const std::string& file) { return std::filesystem::path(file).stem().string(); }

// Checks the parts that concern the file and not one variant of it.
void check_head(const LoadedFile& file, const Node& root, Problems& problems) {
  const Entry* name = language::entry_of(root, "name");
  const std::string stem = stem_of(file.file);
  if (name != nullptr && name->value.is_scalar() && name->value.text != stem)
    problems.error(name->value.mark, fmt::format("the name `{}` differs from the name of the file", name->value.text),
                   fmt::format("write `name: {}`, or rename the file", stem));
  const Entry* summary = language::entry_of(root, "summary");
  if (summary != nullptr) {
    const std::string& text = summary->value.text;
    const auto characters =
        std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
    if (characters > limits::summary_characters)
      problems.error(summary->value.mark, fmt::format("a summary of {} characters", characters),
                     fmt::format("at most {} are shown", limits::summary_characters));
  }
  const Entry* expect = language::entry_of(root, "expect");
  const Entry* variants = language::entry_of(root, "variants");
  if (expect != nullptr && variants != nullptr)
    problems.error(variants->mark, "`variants` beside `expect`",
                   "each variant has its own `expect`; keep one of the two");
  if (expect == nullptr && variants == nullptr && !root.entries.empty())
    problems.error(root.entries.front().mark, "the file has no expectation", "add `expect: {outcome: ok}`, or `variants`");
  if (variants != nullptr && variants->value.entries.size() > static_cast<std::size_t>(limits::variants))
    problems.error(variants->mark, fmt::format("{} variants", variants->value.entries.size()),
                   fmt::format("the limit is {}", limits::variants));
}

Scenario scenario_of(const Node& document, const std::string& file) {
  Scenario scenario = language::build_scenario(document);
  scenario.file = file;
  language::load_plans(scenario);
  return scenario;
}

void check_meaning(const Node& document, const Scenario& scenario, Problems& problems) {
  const language::WholeParts whole = language::whole_parts(document, problems);
  const Node& parts = whole.document;
  const Scenario s = whole.complete ? scenario : scenario_of(parts, scenario.file);
  if (std::int64_t{s.world.spec.nodes} * s.world.spec.ranks_per_node > limits::ranks_without_payload)
    problems.doubt(Fact::ranks);
  const int before = problems.seen();
  if (!problems.doubts(Fact::world)) language::check_limits(parts, s, problems);
  const bool within_limits = problems.seen() == before;
  language::check_world(parts, s, problems);
  language::check_model(parts, s, problems);
  language::check_sharding(parts, s, problems);
  language::check_rpc_pipelines(parts, s, problems);
  language::check_program(parts, s, problems);
  language::check_rpc(parts, s, problems);
  language::check_faults(parts, s, problems);
  language::check_expect(parts, s, problems);
  if (whole.complete && within_limits) language::check_reach(parts, s, problems);
}

std::vector<Setting> settings_of(const Entry& variant) {
  std::vector<Setting> settings;
  if (const Node* set = variant.value.find("set"); set != nullptr)
    for (const Entry& entry : set->entries)
      settings.push_back({entry.key, entry.mark, {language::emit_inline(entry.value), entry.value.mark}});
  return settings;
}

Scenario check_document(const LoadedFile& file, const Node& document, Problems& problems) {
  language::check_shape(document, problems);
  Scenario scenario = scenario_of(document, file.file);
  check_meaning(document, scenario, problems);
  return scenario;
}

// The warnings of the variants, each with those that it concerns.
class Warnings {
 public:
  void add(Diagnostic warning, const std::string& variant) {
    for (auto& [known, variants] : all_)
      if (known.mark.line == warning.mark.line && known.mark.column == warning.mark.column && known.what == warning.what)
        return variants.push_back(variant);
    all_.push_back({std::move(warning), {variant}});
  }

  // Those that do not concern every variant name them.
  void tell(std::size_t variants, Problems& problems) {
    for (auto& [warning, of] : all_) {
      if (of.size() < variants)
        warning.what += fmt::format(", in variant{} `{}`", of.size() == 1 ? "" : "s", fmt::join(of, "`, `"));
      problems.add(std::move(warning));
    }
  }

 private:
  std::vector<std::pair<Diagnostic, std::vector<std::string>>> all_;
};

// A problem with one variant's settings may be reported at a line that all variants share: then it names the variant.
Scenario check_variant(const LoadedFile& file, const Node& root, const Entry& variant, int last_line,
                       Warnings& warnings, Problems& problems) {
  Problems own;
  const Node document = language::effective(root, variant, own);
  Scenario scenario = check_document(file, document, own);
  for (Diagnostic& d : own.take()) {
    const bool inside = d.mark.line >= variant.mark.line && d.mark.line <= last_line;
    if (problems.knows(d)) continue;
    if (!inside && d.warning) {
      warnings.add(std::move(d), variant.key);
      continue;
    }
    if (!inside) d.what += fmt::format(", in variant `{}`", variant.key);
    problems.add(std::move(d));
  }
  scenario.variant = variant.key;
  scenario.variant_mark = variant.mark;
  scenario.settings = settings_of(variant);
  language::read(variant.value, "shows", scenario.shows);
  return scenario;
}

void load_into(LoadedFile& file, Problems& problems) {
  const auto root = language::parse(file.text, problems);
  if (!root) return;
  language::check_shape(*root, problems);
  if (!root->is_map()) return;
  check_head(file, *root, problems);
  const Node* variants = root->find("variants");
  Problems base;
  Scenario plain = check_document(file, language::base_of(*root), base);
  const bool has_variants = variants != nullptr && variants->is_map();
  for (Diagnostic& d : base.take())
    if (!has_variants || !d.warning) problems.add(std::move(d));
  if (!has_variants) {
    file.variants.push_back(std::move(plain));
    return;
  }
  Warnings warnings;
  if (variants->entries.size() > static_cast<std::size_t>(limits::variants)) return;
  for (std::size_t i = 0; i < variants->entries.size(); ++i) {
    const bool last = i + 1 == variants->entries.size();
    const int last_line = last ? std::numeric_limits<int>::max() : variants->entries[i + 1].mark.line;
    file.variants.push_back(check_variant(file, *root, variants->entries[i], last_line, warnings, problems));
  }
  warnings.tell(variants->entries.size(), problems);
}

Error io_error(const std::string& path, const char* why) {
  return {Code::io_error, fmt::format("cannot read `{}`: {}", path, why), {{"file", path}}};
}

}  // namespace

LoadedFile load_text(std::string file, std::string text) {
  LoadedFile loaded;
  loaded.file = std::move(file);
  loaded.text = std::move(text);
  if (loaded.text.compare(0, byte_order_mark.size(), byte_order_mark) == 0)
    loaded.text.erase(0, byte_order_mark.size());
  Problems problems;
  if (loaded.text.size() > limits::file_bytes) {
    problems.error({}, fmt::format("the file has {} bytes", loaded.text.size()), too_large());
    loaded.text.clear();
  } else {
    load_into(loaded, problems);
  }
  loaded.diagnostics = problems.take();
  loaded.errors = static_cast<int>(
      std::count_if(loaded.diagnostics.begin(), loaded.diagnostics.end(), [](const auto& d) { return !d.warning; }));
  if (loaded.errors > 0) loaded.variants.clear();
  const auto shared = std::make_shared<const std::string>(loaded.text);
  for (Scenario& variant : loaded.variants) variant.text = shared;
  return loaded;
}

Result<LoadedFile> load_file(const std::string& path) {
  std::error_code code;
  const auto status = std::filesystem::status(path, code);
  if (std::filesystem::is_directory(status)) return io_error(path, "it is a folder, not a scenario file");
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream(std::fopen(path.c_str(), "rb"), &std::fclose);
  if (stream == nullptr) return io_error(path, std::strerror(errno));
  // One byte more than the limit is enough to know that it is exceeded, also where a file has no size (pipes, devices).
  std::string text(limits::file_bytes + 1, '\0');
  errno = 0;
  text.resize(std::fread(text.data(), 1, text.size(), stream.get()));
  if (std::ferror(stream.get()) != 0) return io_error(path, std::strerror(errno));
  if (text.size() <= limits::file_bytes) return load_text(path, std::move(text));
  LoadedFile loaded;
  loaded.file = path;
  const auto size = std::filesystem::file_size(path, code);
  loaded.diagnostics.push_back(
      {false, code ? "the file is too large" : fmt::format("the file has {} bytes", size), {}, too_large()});
  loaded.errors = 1;
  return loaded;
}

std::string effective_document(const LoadedFile& file, std::string_view variant) {
  Problems problems;
  const auto root = language::parse(file.text, problems);
  if (!root || !root->is_map()) return "";
  const Node* variants = root->find("variants");
  if (variants == nullptr || variant.empty()) return language::emit(*root);
  for (const Entry& entry : variants->entries)
    if (entry.key == variant) return language::emit(language::effective(*root, entry, problems));
  return "";
}

}  // namespace pdsim::scenarios
