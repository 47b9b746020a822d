#include "scenarios/diagnosis/logs/nccl_warnings.h"

#include "scenarios/diagnosis/explain/symptom_match.h"
#include "scenarios/diagnosis/rules/wording.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace pdsim::scenarios {
namespace {

// Connections that others closed are the consequence of what ended those.
bool is_cause(const Symptom& symptom) {
  return symptom.cause || symptom.entry == "connection-lost" || symptom.entry == "host-unreachable";
}

// An exception of ncclLastError: "... Last error: Duplicate GPU detected : rank 0 and rank 1 both on CUDA device 60".
bool repeats(std::string_view message, const std::vector<std::string>& texts) {
  constexpr std::string_view last = "Last error: ";
  const std::size_t at = message.find(last);
  return at != std::string_view::npos &&
         std::any_of(texts.begin(), texts.end(), [&](const std::string& text) { return message.substr(at + last.size()).starts_with(text); });
}

}  // namespace

std::string nccl_on(const logs::NcclWarning& warning) {
  if (warning.host.empty()) return "NCCL";
  const std::string device = warning.device >= 0 ? fmt::format(" (GPU {})", warning.device) : std::string();
  return fmt::format("NCCL on {}{}", warning.host, device);
}

std::optional<Diagnosis> warned_by_nccl(const logs::LogFacts& facts) {
  SymptomCache symptoms;
  std::optional<Diagnosis> d;
  std::vector<std::string> hosts, texts;
  for (const logs::Fact& fact : facts.facts) {
    const auto* warning = fact.as<logs::NcclWarning>();
    if (warning == nullptr) continue;
    const std::optional<SymptomMatch> match = symptoms.best("NCCL WARN " + warning->text);
    if (!match || match->sureness != Sureness::sure || !is_cause(*match->symptom)) continue;
    if (d && d->id != match->symptom->entry) continue;
    if (!d) {
      d.emplace();
      d->id = std::string(match->symptom->entry);
      d->headline = fmt::format("{} warned: {}", nccl_on(*warning), warning->text);
      d->cause = std::string(match->symptom->says);
      d->fix = fmt::format("see `pdsim explain {}`", d->id);
    }
    diagnoses::add_once(texts, {warning->text});
    if (!warning->host.empty()) diagnoses::add_once(hosts, {warning->host});
    if (fact.rank != no_rank) diagnoses::add_once(d->ranks, fact.rank);
  }
  if (!d) return d;
  for (const logs::Fact& fact : facts.facts)
    if (const auto* raised = fact.as<logs::Raised>(); raised != nullptr && fact.rank != no_rank && repeats(raised->message, texts))
      diagnoses::add_once(d->ranks, fact.rank);
  std::sort(d->ranks.begin(), d->ranks.end());
  if (hosts.size() > 1) d->headline += fmt::format("; so did {} other host{}", hosts.size() - 1, hosts.size() == 2 ? "" : "s");
  return d;
}

}  // namespace pdsim::scenarios
