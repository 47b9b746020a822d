// The pages of PyTorch's debug server, with and without entities, whole and cut short.

#include "scenarios/records/live/debug_pages.h"

#include <gtest/gtest.h>

#include <string>

namespace pdsim::scenarios::live {
namespace {

TEST(DebugPages, GiveEachRanksAddressAndText) {
  const std::vector<RankText> ranks = ranks_of_page(
      "<h1>FlightRecorder</h1>\n<h2>Rank 0: http://a:41/handler/fr_trace_json?</h2>\n <pre>{\"name\": "
      "\"<module>\"}</pre>\n"
      "<h2>Rank 1: http://b:42/handler/fr_trace_json?</h2>\n<p>Failed to fetch: status=408</p>\n<pre>Timeout: "
      "no</pre>\n</section>");
  ASSERT_EQ(ranks.size(), 2U);
  EXPECT_EQ(ranks[0].address, "http://a:41");
  EXPECT_EQ(ranks[0].text, "{\"name\": \"<module>\"}");
  EXPECT_FALSE(ranks[0].failed);
  EXPECT_EQ(ranks[1].rank, 1);
  EXPECT_TRUE(ranks[1].failed);
}

TEST(DebugPages, WithEntitiesAreReadAsTheirText) {
  const std::vector<RankText> ranks =
      ranks_of_page("<h2>Rank 3: http://a:41/handler/x?</h2><pre>{&#34;a&#34;: &#34;&lt;b&gt; &amp;amp;&#34;}</pre>");
  ASSERT_EQ(ranks.size(), 1U);
  EXPECT_EQ(ranks[0].text, "{\"a\": \"<b> &amp;\"}");
  const auto workers = workers_of_store_page(
      "<pre>debug_server/rank0: b&#39;http://a:41&#39;\ndebug_server/rank11: b'http://b:42'\nother: 1</pre>");
  ASSERT_EQ(workers.size(), 2U);
  EXPECT_EQ(workers.at(11), "http://b:42");
}

TEST(DebugPages, ThatAreDamagedGiveWhatIsWhole) {
  for (const char* page : {"", "<h2>Rank ", "<h2>Rank 1", "<h2>Rank 1: http://a:4",
                           "<h2>Rank 99999999999: x</h2><pre>y</pre>", "<h2>Rank -1: x</h2><pre>y</pre>"})
    EXPECT_TRUE(ranks_of_page(page).empty()) << page;
  const std::vector<RankText> cut = ranks_of_page("<h2>Rank 1: http://a:4</h2><pre>{\"half");
  ASSERT_EQ(cut.size(), 1U);
  EXPECT_EQ(cut[0].text, "");
  EXPECT_TRUE(workers_of_store_page("debug_server/rank").empty());
}

}  // namespace
}  // namespace pdsim::scenarios::live
