#include "tools/explain/diagnose_live.h"

#include "backends/http/fetch.h"
#include "scenarios/records/live/debug_pages.h"
#include "scenarios/records/pytorch/job.h"
#include "scenarios/reports/dumped/dump_report.h"
#include "scenarios/reports/text/log_text.h"
#include "scenarios/run/analyse.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace pdsim::tools {
namespace {

namespace live = scenarios::live;
namespace pytorch = scenarios::pytorch;

constexpr std::uint64_t most_answer = std::uint64_t{256} << 20;

// A question to a job: the server's page, and the worker's own handler. The first two are records, the last stacks.
struct Question {
  std::string_view page, handler;
};
constexpr std::array questions{Question{"/fr_trace_nccl_json", "/handler/dump_nccl_trace_json?onlyactive=false"},
                               Question{"/fr_trace_json", "/handler/fr_trace_json"},
                               Question{"/torchcomms_fr_trace_json", "/handler/torchcomms_fr_trace_json"},
                               Question{"/stacks", "/handler/dump_traceback"}};
constexpr std::size_t stacks_question = questions.size() - 1;

struct Worker {
  std::string address;
  std::array<std::string, questions.size()> answers;
  std::string problem;

  bool has_record() const {
    return std::any_of(answers.begin(), answers.begin() + stacks_question,
                       [](const std::string& text) { return !text.empty(); });
  }
};
using Workers = std::map<Rank, Worker>;

std::string status_problem(const HttpReply& reply) {
  return reply.status == 0 ? reply.problem : fmt::format("it answered with status {}", reply.status);
}

// Asks the server for its pages and the addresses of the workers. Returns a problem if the server does not answer at all.
std::optional<std::string> ask_server(const HttpAddress& server, const HttpLimits& limits, Workers& workers) {
  std::vector<HttpRequest> requests{{server, "/tcpstore", false}};
  for (const Question& question : questions) requests.push_back({server, std::string(question.page), false});
  const std::vector<HttpReply> replies = fetch_all(requests, limits);
  if (std::none_of(replies.begin(), replies.end(), [](const HttpReply& r) { return r.status == 200; }))
    return status_problem(replies[1]);
  for (const auto& [rank, address] : live::workers_of_store_page(replies[0].body)) workers[rank].address = address;
  for (std::size_t q = 0; q < questions.size(); ++q) {
    if (replies[q + 1].status != 200) continue;
    for (live::RankText& found : live::ranks_of_page(replies[q + 1].body)) {
      Worker& worker = workers[found.rank];
      worker.address = found.address;
      if (found.failed) {
        if (worker.problem.empty()) worker.problem = found.text.substr(0, 200);
      } else {
        worker.answers[q] = std::move(found.text);
      }
    }
  }
  if (workers.empty()) return "its pages name no worker: is it PyTorch's debug server?";
  return std::nullopt;
}

// Each worker that the pages brought no record or no stack of.
void ask_workers(const HttpLimits& limits, Workers& workers) {
  std::vector<HttpRequest> requests;
  std::vector<std::pair<Rank, std::size_t>> asked;
  for (auto& [rank, worker] : workers) {
    const Result<HttpAddress> address = http_address(worker.address);
    if (!address.ok()) continue;
    for (std::size_t q = 0; q < questions.size(); ++q) {
      if (q == stacks_question ? !worker.answers[q].empty() : worker.has_record()) continue;
      requests.push_back({*address, std::string(questions[q].handler), true});
      asked.emplace_back(rank, q);
    }
  }
  std::vector<HttpReply> replies = fetch_all(requests, limits);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    Worker& worker = workers[asked[i].first];
    if (replies[i].status == 200) {
      worker.answers[asked[i].second] = std::move(replies[i].body);
    } else if (replies[i].status == 0) {
      worker.problem = replies[i].problem;
    }
  }
}

// A worker has a record per library; the one with an open call tells most, else the longest.
std::optional<pytorch::Dump> record_of(Rank rank, const Worker& worker) {
  std::optional<pytorch::Dump> best;
  const auto open_calls = [](const pytorch::Dump& dump) {
    return std::count_if(dump.entries.begin(), dump.entries.end(),
                         [](const pytorch::Entry& e) { return e.state != pytorch::EntryState::completed; });
  };
  for (std::size_t q = 0; q < stacks_question; ++q) {
    if (worker.answers[q].empty()) continue;
    const Result<pytorch::Tree> tree = pytorch::read_tree(worker.answers[q]);
    if (!tree.ok() || !pytorch::is_dump(*tree)) continue;
    Result<pytorch::Dump> dump = pytorch::dump_of(*tree, rank);
    if (!dump.ok()) continue;
    const bool better = !best || open_calls(*dump) > open_calls(*best) ||
                        (open_calls(*dump) == open_calls(*best) && dump->entries.size() > best->entries.size());
    if (better) best = std::move(*dump);
  }
  return best;
}

std::string stacks_text(const Workers& workers) {
  std::string text;
  for (const auto& [rank, worker] : workers)
    if (!worker.answers[stacks_question].empty())
      text += fmt::format("=== Rank {}: {} ===\n{}\n", rank, worker.address, worker.answers[stacks_question]);
  return text;
}

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Names who did not answer. Whether all did.
bool tell_silent(const Workers& workers, Console& console) {
  constexpr std::size_t most_named = 16;
  std::size_t silent = 0;
  for (const auto& [rank, worker] : workers) {
    if (worker.has_record() || !worker.answers[stacks_question].empty()) continue;
    if (++silent <= most_named)
      console.problem(fmt::format("rank {} ({}) did not answer: {}", rank, worker.address,
                                  worker.problem.empty() ? "no text" : worker.problem));
  }
  if (silent > most_named) console.problem(fmt::format("{} more ranks did not answer", silent - most_named));
  return silent == 0;
}

// What the job answered at one moment.
struct LiveJob {
  std::unique_ptr<scenarios::Scenario> scenario;  // which the report refers to
  Workers workers;
  scenarios::logs::LogFacts facts;
  scenarios::Report report;

  bool has_records() const { return !report.run.ranks.empty(); }
};

Result<RunRecord> run_of(const Workers& workers) {
  std::vector<pytorch::Dump> dumps;
  for (const auto& [rank, worker] : workers)
    if (std::optional<pytorch::Dump> dump = record_of(rank, worker)) dumps.push_back(std::move(*dump));
  pytorch::leave_out_far_times(dumps);
  for (pytorch::Dump& dump : dumps) dump.written_ns = now_ns();
  return pytorch::run_of(std::move(dumps));
}

Result<LiveJob> ask(const HttpAddress& server, Time wait) {
  const HttpLimits limits{wait, most_answer, 64};
  LiveJob job;
  if (const std::optional<std::string> problem = ask_server(server, limits, job.workers))
    return Error{Code::io_error, *problem, {}};
  ask_workers(limits, job.workers);
  Result<RunRecord> run = run_of(job.workers);
  if (!run.ok()) return run.error();
  job.scenario = std::make_unique<scenarios::Scenario>();
  job.scenario->name = fmt::format("{}:{}", server.host, server.port);
  job.scenario->world.spec.ranks_per_node = std::max(1, static_cast<int>(run->ranks.size()));
  job.facts = scenarios::logs::read_log_texts({{"stacks", stacks_text(job.workers)}});
  job.report = scenarios::analyse(*job.scenario, std::move(*run), scenarios::RunWorld(scenarios::pytorch_world));
  return job;
}

// Replaces the job by what it answers after `times.again`, if that can tell more.
void ask_again(const HttpAddress& server, const LiveTimes& times, LiveJob& job, Console& console) {
  if (times.again <= Time{} || !scenarios::may_be_in_flight(job.report)) return;
  console.say(fmt::format("pdsim: no open call is known to be older than 10s; asking again in {}\n", to_string(times.again)));
  std::this_thread::sleep_for(std::chrono::nanoseconds(times.again.ps / 1000));
  if (Result<LiveJob> later = ask(server, times.wait); later.ok() && later->has_records())
    job = std::move(*later);
  else
    console.say(fmt::format("pdsim: {}; the report is of its first answers\n",
                            later.ok() ? "its workers do not answer any more" : later.error().message));
}

}  // namespace

int diagnose_live(const std::string& url, const LiveTimes& times, JobOutput& output, Console& console) {
  const Result<HttpAddress> server = http_address(url);
  if (!server.ok()) {
    console.problem("--live: " + server.error().message);
    return exit_wrong_input;
  }
  Result<LiveJob> job = ask(*server, times.wait);
  if (!job.ok()) {
    console.problem(fmt::format("{}: {}", url, job.error().message));
    return exit_wrong_input;
  }
  if (job->has_records()) ask_again(*server, times, *job, console);
  const bool all_answered = tell_silent(job->workers, console);
  if (!job->has_records()) {
    console.problem(fmt::format(
        "{}: no worker has a record of its calls; set TORCH_FR_BUFFER_SIZE=2000 before the job starts", url));
    if (!output.json()) console.print(scenarios::render_stacks(job->facts));
    return exit_wrong_input;
  }
  const std::string text = scenarios::render_dumps(job->report) + scenarios::render_stacks(job->facts);
  return std::max<int>(output.show(job->report, text, console), all_answered ? exit_held : exit_wrong_input);
}

}  // namespace pdsim::tools
