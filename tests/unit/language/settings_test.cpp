// Variants: what `set` changes, and that the document it gives is a scenario of its own.
#include "tests/helpers/catalog_files.h"
#include "tests/unit/language/report_of.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace pdsim::scenarios {
namespace {

std::string with_settings(const std::string& settings, const std::string& more = "") {
  return valid_start + more + "variants:\n  a:\n    set: {" + settings + "}\n    expect: {outcome: ok}\n";
}

Scenario variant_of(const std::string& text) {
  const LoadedFile file = load_text("mine.yaml", text);
  for (const Diagnostic& d : file.diagnostics) EXPECT_TRUE(d.warning) << render(file, d);
  EXPECT_EQ(file.variants.size(), 1u);
  return file.variants.empty() ? Scenario{} : file.variants.front();
}

TEST(Settings, ReplaceAnOptionOfAnOperation) {
  EXPECT_EQ(variant_of(with_settings("program.train.steps: 4")).program[1].as<TrainOptions>().steps, 4);
}

TEST(Settings, GiveAnOptionToABareOperation) {
  const Scenario s =
      variant_of(with_settings("program.init_process_group.method: env, program.barrier.when: {rank: all}"));
  EXPECT_TRUE(s.program[0].as<InitOptions>().method == InitMethod::env);
  EXPECT_EQ(s.program[2].when.any.size(), 1u);
}

TEST(Settings, FindAnEntryByItsLabelBeforeItsOperation) {
  const std::string program = "  - barrier: {}\n    label: last\n";
  const std::string text = with_settings("program.last.algorithm: auto", program);
  const Scenario s = variant_of(text);
  EXPECT_EQ(s.program[3].written, "algorithm: auto");
  EXPECT_EQ(s.program[2].written, "");
}

TEST(Settings, MakeASectionThatIsNotThere) {
  const Scenario s = variant_of(with_settings("ddp.broadcast_buffers: false"));
  EXPECT_FALSE(s.ddp.options.broadcast_buffers);
  EXPECT_TRUE(s.ddp.gives("broadcast_buffers"));
}

TEST(Settings, TakeDdpAway) { EXPECT_FALSE(variant_of(with_settings("ddp: none")).ddp.wrap); }

TEST(Settings, ReachFaultsByTheirKind) {
  const std::string faults = "faults:\n  - slow: {factor: 4}\n    match: {rank: 1}\n";
  const Scenario s = variant_of(with_settings("faults.slow.factor: 8, faults.slow.for: 1ms", faults));
  EXPECT_EQ(s.faults[0].spec.factor, 8.0);
  EXPECT_EQ(s.world.spec.faults[0].duration, Time{1'000'000'000});
}

TEST(Settings, AreKeptWithTheirPlaces) {
  const Scenario s = variant_of(with_settings("world.backend: nccl"));
  EXPECT_EQ(s.world.spec.backend, "nccl");
  ASSERT_EQ(s.settings.size(), 1u);
  EXPECT_EQ(s.settings[0].path, "world.backend");
  EXPECT_EQ(*s.settings[0].value, "nccl");
  EXPECT_EQ(s.settings[0].mark.line, 16);
  EXPECT_EQ(s.settings[0].mark.column, 11);
}

TEST(EffectiveDocument, LoadsToTheSameScenario) {
  int variants = 0;
  for (const std::filesystem::path& path : catalog_files()) {
    const Result<LoadedFile> file = load_file(path.string());
    ASSERT_TRUE(file.ok());
    for (const Scenario& s : file->variants) {
      const std::string document = effective_document(*file, s.variant);
      const LoadedFile again = load_text(path.string(), document);
      for (const Diagnostic& d : again.diagnostics) EXPECT_TRUE(d.warning) << render(again, d);
      ASSERT_EQ(again.variants.size(), 1u) << document;
      Scenario unnamed = s;
      unnamed.variant.clear();
      const Scenario& t = again.variants.front();
      EXPECT_EQ(program_table(unnamed), program_table(t));
      EXPECT_EQ(effective_document(again, ""), document);
      EXPECT_EQ(s.seed, t.seed);
      EXPECT_EQ(s.ddp.wrap, t.ddp.wrap);
      EXPECT_EQ(s.ddp.options.bucket_cap, t.ddp.options.bucket_cap);
      EXPECT_EQ(s.ddp.options.find_unused_parameters, t.ddp.options.find_unused_parameters);
      EXPECT_EQ(s.ddp.options.broadcast_buffers, t.ddp.options.broadcast_buffers);
      EXPECT_EQ(*s.expect.outcome, *t.expect.outcome);
      EXPECT_EQ(s.expect.blocked.size(), t.expect.blocked.size());
      EXPECT_EQ(s.faults.size(), t.faults.size());
      EXPECT_EQ(s.world.spec.ranks(), t.world.spec.ranks());
      EXPECT_EQ(s.world.spec.timeout, t.world.spec.timeout);
      ++variants;
    }
  }
  EXPECT_GE(variants, 10);
}

}  // namespace
}  // namespace pdsim::scenarios
