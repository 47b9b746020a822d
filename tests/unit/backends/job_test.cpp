// Jobs that do not come together: every process hears why, at once or after the time it is given. Jobs that do are in tests/cli.

#include "backends/launch/agent.h"
#include "backends/launch/gathered_job.h"
#include "backends/launch/remote_rank.h"
#include "backends/net/reserved_port.h"

#include <gtest/gtest.h>

#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace pdsim {
namespace {

using namespace literals;

JobPlace place_of(Rank rank, int size, const std::string& name) {
  JobPlace place;
  place.rank = rank;
  place.size = size;
  place.by = "the test";
  place.name = name + std::to_string(getpid());
  return place;
}

// What the others hear while rank 0 gathers.
struct Gathered {
  Status status;
  AgentResult other;
};

Gathered gather(const JobPlace& zero, const JobPlace& other, Time within) {
  // Rank 0 forks before it has other threads; the other rank is a process of its own as well.
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    const AgentResult result = run_agent(other, "/bin/false", 10_s);
    const std::string text = text_of(JobGoodbye{result.status, false, result.problem});
    (void)!write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  Gathered gathered;
  {
    const auto job = GatheredJob::gather(zero, "/bin/false", within);
    gathered.status = job.ok() ? Status{} : Status(job.error());
    if (job.ok()) (*job)->goodbye(0, "all is well");
  }
  std::string text(4096, '\0');
  const ssize_t n = read(ends[0], text.data(), text.size());
  close(ends[0]);
  waitpid(child, nullptr, 0);
  const JobGoodbye goodbye = job_goodbye_of(text.substr(0, n > 0 ? static_cast<std::size_t>(n) : 0));
  gathered.other = {goodbye.status, goodbye.why};
  return gathered;
}

TEST(Job, EndsEveryProcessWithRankZerosStatus) {
  const Gathered g = gather(place_of(0, 2, "well"), place_of(1, 2, "well"), 10_s);
  EXPECT_TRUE(g.status.ok()) << g.status.error().message;
  EXPECT_EQ(g.other.status, 0);
  EXPECT_EQ(g.other.problem, "all is well");
}

TEST(Job, NamesTheRanksThatDoNotCome) {
  const Gathered g = gather(place_of(0, 4, "few"), place_of(2, 4, "few"), 300_ms);
  ASSERT_FALSE(g.status.ok());
  EXPECT_EQ(g.status.error().code, Code::unavailable);
  EXPECT_EQ(g.status.error().message.find("2 of 4 ranks of the job joined within 300ms; missing: 1, 3."), 0U)
      << g.status.error().message;
  EXPECT_EQ(g.other.problem, g.status.error().message);
  EXPECT_EQ(g.other.status, 3);
}

TEST(Job, RefusesASecondProcessOfOneRank) {
  const Gathered g = gather(place_of(0, 2, "twice"), place_of(0, 2, "twice"), 10_s);
  ASSERT_FALSE(g.status.ok());
  EXPECT_EQ(g.status.error().message,
            "two processes claim to be rank 0 of 2: start each rank from 0 to 1 once");
  EXPECT_EQ(g.other.problem, g.status.error().message);
  EXPECT_EQ(g.other.status, 2);
}

TEST(Job, RefusesARankOfAnotherSize) {
  const Gathered g = gather(place_of(0, 2, "size"), place_of(1, 3, "size"), 10_s);
  ASSERT_FALSE(g.status.ok());
  EXPECT_EQ(g.status.error().message,
            "rank 1 expects a world of 3 ranks, and rank 0 expects 2: set the same WORLD_SIZE on all");
  EXPECT_EQ(g.other.problem, g.status.error().message);
}

// The one with the right secret comes when the others have been refused.
TEST(Job, RefusesWhoHasAnotherSecretSaysSoOnBothSidesAndGoesOn) {
  JobPlace zero = place_of(0, 2, "secret"), right = place_of(1, 2, "secret");
  zero.secret = right.secret = Secret::of("open sesame").value();
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    JobPlace none = right, wrong = right;
    none.secret = Secret();
    wrong.secret = Secret::of("open sesamf").value();
    std::string heard;
    for (const JobPlace* place : {&none, &wrong}) {
      const AgentResult result = run_agent(*place, "/bin/false", 10_s);
      heard += std::to_string(result.status) + " " + result.problem + "\n";
    }
    heard += run_agent(right, "/bin/false", 10_s).problem;
    (void)!write(ends[1], heard.data(), heard.size());
    _exit(0);
  }
  close(ends[1]);
  std::string notices;
  const auto note = [&notices](const std::string& line) { notices += line + "\n"; };
  {
    const auto job = GatheredJob::gather(zero, "/bin/false", 10_s, note);
    EXPECT_TRUE(job.ok()) << job.error().message;
    if (job.ok()) (*job)->goodbye(0, "all is well");
  }
  std::string heard(4096, '\0');
  const ssize_t n = read(ends[0], heard.data(), heard.size());
  heard.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  const std::string all_the_same = ": give all ranks the same one, with PDSIM_JOIN_SECRET or --join-secret\n";
  const std::string without = "rank 1 has no secret, but rank 0 requires one" + all_the_same;
  const std::string another = "rank 1 has a different secret than rank 0" + all_the_same;
  EXPECT_EQ(heard, "2 " + without + "2 " + another + "all is well");
  const std::string refused = "refused a connection from this machine and continues: ";
  EXPECT_EQ(notices, refused + without + refused + another);
}

TEST(Job, RefusesASecretWhereRankZeroHasNone) {
  JobPlace other = place_of(1, 2, "no secret");
  other.secret = Secret::of("open sesame").value();
  const Gathered g = gather(place_of(0, 2, "no secret"), other, 300_ms);
  EXPECT_EQ(g.status.error().code, Code::unavailable) << "it goes on, and nobody else comes";
  EXPECT_EQ(g.other.problem,
            "rank 1 has a secret, but rank 0 has none: give all ranks the same one, with PDSIM_JOIN_SECRET or "
            "--join-secret");
  EXPECT_EQ(g.other.status, 2);
}

TEST(Job, RankOneSaysWhereItFoundNoRankZero) {
  const Result<Listener> held = reserve_port();
  ASSERT_TRUE(held.ok());
  JobPlace place = place_of(1, 2, "nobody");
  place.host = "127.0.0.1";
  place.port = held->port;
  const AgentResult result = run_agent(place, "/bin/false", 300_ms);
  EXPECT_EQ(result.status, 3);
  EXPECT_EQ(
      result.problem.find("rank 1 of 2 found no rank 0 at 127.0.0.1:" + std::to_string(held->port) + " within 300ms"),
      0U)
      << result.problem;
}

TEST(Job, APortThatIsTakenIsNamed) {
  const Result<Listener> taken = listen_on_loopback();
  ASSERT_TRUE(taken.ok());
  JobPlace place = place_of(0, 2, "taken");
  place.host = "127.0.0.1";
  place.port = taken->port;
  const auto job = GatheredJob::gather(place, "/bin/false", 300_ms);
  ASSERT_FALSE(job.ok());
  EXPECT_EQ(job.error().code, Code::invalid_argument);
  EXPECT_NE(job.error().message.find("the port is in use by another program"), std::string::npos)
      << job.error().message;
}

TEST(Job, AHelloComesOutAsItWentIn) {
  const JobHello hello{job_protocol, 1, 2, true, "1.2.3", "some name", "a secret"};
  const Result<JobHello> back = job_hello_of(text_of(hello));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->protocol, job_protocol);
  EXPECT_EQ(back->rank, 1);
  EXPECT_TRUE(back->would_serve);
  EXPECT_EQ(back->version, "1.2.3");
  EXPECT_EQ(back->name, "some name");
  EXPECT_EQ(back->secret, "a secret");
}

// Whatever comes behind the size there.
TEST(Job, AHelloOfAnotherProtocolIsToldAsThat) {
  const Result<JobHello> hello = job_hello_of("pdsim 7 1 2 some name");
  ASSERT_TRUE(hello.ok());
  EXPECT_EQ(hello->protocol, 7);
  EXPECT_EQ(hello->rank, 1);
  EXPECT_FALSE(job_hello_of("GET / HTTP/1.1").ok());
}

TEST(Job, RefusesARankOfAnotherVersion) {
  JobPlace other = place_of(1, 2, "version");
  other.version = "0.0.1";
  JobPlace zero = place_of(0, 2, "version");
  zero.version = "9.9.9";
  const Gathered g = gather(zero, other, 10_s);
  ASSERT_FALSE(g.status.ok());
  EXPECT_EQ(g.status.error().message,
            "rank 1 runs pdsim 0.0.1 and rank 0 pdsim 9.9.9: all ranks must run the same pdsim");
  EXPECT_EQ(g.other.problem, g.status.error().message);
  EXPECT_EQ(g.other.status, 2);
}

TEST(Job, WordsToAgentsComeOutAsTheyWentIn) {
  AgentStart start{{1, 4, 2, 300_ms, 4711, {}, "/some folder/x"}, 5_s, true, {"validate", "", "--dtype", "f32 x"}};
  start.word.stays = true;
  start.word.request = R"({"kind": "pairs"})";
  const Result<AgentStart> back = agent_start_of(text_of(start));
  ASSERT_TRUE(back.ok());
  EXPECT_EQ(back->arguments, start.arguments);
  EXPECT_EQ(back->elapsed, 5_s);
  EXPECT_TRUE(back->goes_on);
  EXPECT_TRUE(back->word.stays);
  EXPECT_EQ(back->word.request, start.word.request);
  EXPECT_EQ(back->word.work_dir, "/some folder/x");
  const AgentEnded ended = agent_ended_of(text_of(AgentEnded{{3, 0}, true, " two\nlines"}));
  EXPECT_EQ(ended.how.exit_status, 3);
  EXPECT_TRUE(ended.by_agent);
  EXPECT_EQ(ended.output, " two\nlines");
}

}  // namespace
}  // namespace pdsim
