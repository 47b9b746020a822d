// Gloo's FileStore itself beside ours: the same calls end alike, and on the same second.
#include "backends/os/real_files.h"
#include "core/store/gloo_file_store.h"

#include <gloo/rendezvous/file_store.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace pdsim {
namespace {

using namespace literals;

// What came of one call.
struct Ended {
  bool well = false;
  std::string text;  // the value, or what was said
};

struct Both {
  explicit Both(const std::string& folder)
      : theirs((std::filesystem::create_directories(folder + "/theirs"), folder + "/theirs")),
        ours(std::make_unique<RealFiles>(), (std::filesystem::create_directories(folder + "/ours"), folder + "/ours")) {
  }

  template <class Call>
  static Ended gloo(Call call) {
    try {
      return {true, call()};
    } catch (const std::exception& e) {
      return {false, e.what()};
    }
  }
  static Ended core(const Result<std::string>& r) { return r.ok() ? Ended{true, *r} : Ended{false, r.error().message}; }

  void set(const std::string& key, const std::string& value, const std::string& said) {
    const Ended a = gloo([&] { return theirs.set(key, {value.begin(), value.end()}), ""; });
    const Status s = ours.set(key, value);
    const Ended b = core(s.ok() ? Result<std::string>("") : Result<std::string>(s.error()));
    compare(a, b, said);
  }
  void get(const std::string& key, const std::string& said) {
    const Ended a = gloo([&] {
      const std::vector<char> value = theirs.get(key);
      return std::string(value.begin(), value.end());
    });
    compare(a, core(ours.get(key)), said);
  }
  static void compare(const Ended& a, const Ended& b, const std::string& said) {
    EXPECT_EQ(a.well, b.well) << a.text << " | " << b.text;
    if (a.well) {
      EXPECT_EQ(a.text, b.text);
    }
    EXPECT_NE(a.text.find(said), std::string::npos) << a.text;
    EXPECT_NE(b.text.find(said), std::string::npos) << b.text;
  }

  ::gloo::rendezvous::FileStore theirs;
  GlooFileStore ours;
};

class GloosFileStore : public ::testing::Test {
 protected:
  GloosFileStore() {
    if (::mkdtemp(folder.data()) == nullptr) std::abort();
  }
  ~GloosFileStore() override { std::filesystem::remove_all(folder); }
  std::string folder = (std::filesystem::temp_directory_path() / "pdsim-gloo-XXXXXX").string();
};

TEST_F(GloosFileStore, SetsOnceAndGetsAsOursDoes) {
  Both both(folder);
  both.set("rank_0", "host", "");
  both.get("rank_0", "host");
  both.set("rank_0", "host of the next run", "File already exists");
  both.get("rank_0", "host");
  both.set("empty", "", "");
  both.get("empty", "");
}

TEST_F(GloosFileStore, StillHoldsWhatWasSetWhenARunIsOver) {
  { Both(folder).set("k", "v", ""); }
  Both next(folder);
  next.get("k", "v");
  next.set("k", "w", "File already exists");
}

// Gloo reads the real clock, so this waits for it: what is compared is a lower bound, which no busy machine breaks.
TEST_F(GloosFileStore, GivesUpOnTheSecondThatOursComputes) {
  Both both(folder);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_THROW(both.theirs.wait({"k"}, std::chrono::milliseconds(300)), std::exception);
  const auto took = std::chrono::steady_clock::now() - began;
  EXPECT_GE(Time{std::chrono::nanoseconds(took).count() * 1000}, end_of_polling(0_s, 300_ms));
  const std::array<std::string, 1> keys{"k"};
  EXPECT_EQ(both.ours.wait(keys, 300_ms).error().code, Code::store_timeout);
}

}  // namespace
}  // namespace pdsim
