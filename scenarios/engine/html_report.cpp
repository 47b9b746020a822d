#include "scenarios/engine/html_report.h"

#include "scenarios/engine/html_timeline.h"
#include "scenarios/engine/printable_json.h"
#include "scenarios/engine/text_parts.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace pdsim::scenarios {
namespace {

// Okabe-Ito colours, told apart by the colour-blind; blocked is hatched as well.
constexpr std::string_view style = R"(<style>
:root{color-scheme:light dark;--bg:#fff;--ink:#1b1b1b;--quiet:#555;--line:#ddd;--panel:#f6f6f6;--row:#f6f6f6;--culprit:#fff1e6;
--tick:#e2e2e2;--alarm:#d55e00;--good:#00654a;--bad:#a33c00;--braid:#00734f;--message:#777}
@media (prefers-color-scheme:dark){:root{--bg:#16181b;--ink:#e8e8e8;--quiet:#a8a8a8;--line:#3a3d42;--panel:#202327;--row:#1f2226;
--culprit:#38281b;--tick:#33363b;--alarm:#ff8a3d;--good:#4fd1a5;--bad:#ff9a66;--braid:#4fd1a5;--message:#9a9a9a}}
body{font:15px/1.45 system-ui,sans-serif;margin:24px auto;max-width:1320px;padding:0 20px;color:var(--ink);background:var(--bg)}
h1{font-size:22px;margin:0 0 2px;overflow-wrap:anywhere}h2{font-size:16px;margin:26px 0 8px}p{margin:4px 0;max-width:90ch;overflow-wrap:anywhere}
.verdict{font-weight:700;padding:1px 8px;border-radius:4px;border:2px solid}.pass{color:var(--good)}.fail{color:var(--bad)}.skip{color:var(--quiet)}
.headline{font-size:17px;font-weight:600;margin-top:10px}.quiet{color:var(--quiet)}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px;padding:6px;margin-top:8px}
svg.timeline{width:100%;min-width:1000px;display:block}
svg text{font:12px system-ui,sans-serif;dominant-baseline:middle;fill:var(--ink)}
svg text.axis{fill:var(--quiet);text-anchor:middle;font-size:11px}svg text.axis.start{text-anchor:start}svg text.label{fill:var(--quiet)}
svg text.strong{font-weight:600;fill:var(--ink)}svg text.rank,svg text.wait{font-weight:600}
svg text.in{fill:#000;pointer-events:none;font-size:11px}
svg text.on-hang{fill:var(--ink);paint-order:stroke;stroke:var(--bg);stroke-width:4px;font-weight:600}
.row{fill:var(--row)}.row.culprit{fill:var(--culprit)}.tick{stroke:var(--tick)}.step{stroke:var(--quiet);opacity:.5;stroke-dasharray:2 3}
.fwd{fill:#56b4e9}.bwd{fill:#3d9bd1}.coll{fill:#40b894}.opt{fill:#b5b5b5}.eval{fill:#e69f00}.p2p{fill:#cc79a7}.store{fill:#f0e442}.other{fill:#c9c9c9}
rect.fwd,rect.bwd,rect.coll,rect.opt,rect.eval,rect.p2p,rect.store,rect.other{stroke:var(--bg);stroke-width:.6}
.hang{fill:url(#blocked);stroke:var(--alarm)}.hatch{fill:var(--bg)}.hatching{stroke:var(--alarm);stroke-width:3}
.failed{stroke:var(--alarm)!important;stroke-width:2!important}.open{opacity:.55}
.braid{stroke:var(--braid);stroke-width:1;opacity:.45}.message{stroke:var(--message);stroke-width:.7;opacity:.6}.lost{stroke:var(--alarm);stroke-dasharray:3 2}
.fold{fill:none;stroke:var(--bg);stroke-width:6}.divergence{stroke:var(--alarm);stroke-width:1.5}.flag{fill:var(--alarm);stroke:var(--alarm)}
.end{stroke:var(--alarm);stroke-width:2.5;fill:none}.waits-for{fill:none;stroke:var(--alarm);stroke-width:1.6}.head{fill:var(--alarm)}
.linked{stroke:var(--ink)!important;stroke-width:2!important;opacity:1!important}rect:focus{outline:none;stroke:var(--ink)!important;stroke-width:2.5!important}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;margin-top:6px;font-size:13px}.legend svg{width:18px;height:12px;vertical-align:-1px;margin-right:5px}
#detail{position:sticky;bottom:0;min-height:1.5em;padding:6px 10px;margin-top:6px;border-radius:6px;background:var(--panel);font-size:13px;overflow-wrap:anywhere}
pre{background:var(--panel);border-radius:6px;padding:12px;overflow-x:auto;font:13px/1.35 ui-monospace,monospace}
#linear:checked~.folded,#linear:not(:checked)~.linear{display:none}
</style>
)";

// Works without: every bar has a <title>.
constexpr std::string_view script = R"(<script>
(() => {
  const detail = document.getElementById('detail');
  const show = bar => {
    for (const other of document.querySelectorAll('.linked')) other.classList.remove('linked');
    if (!bar || bar.tagName !== 'rect' || !bar.firstElementChild) return;
    detail.textContent = bar.firstElementChild.textContent;
    const key = bar.dataset.key;
    if (!key) return;
    for (const other of bar.closest('svg').querySelectorAll('[data-key]'))
      if (other.dataset.key === key) other.classList.add('linked');
  };
  for (const picture of document.querySelectorAll('svg.timeline')) {
    const bars = [...picture.querySelectorAll('rect[data-rank]')];
    const middle = bar => bar.x.baseVal.value + bar.width.baseVal.value / 2;
    const step = (bar, key) => {
      const row = bars.filter(other => other.dataset.rank === bar.dataset.rank);
      if (key === 'ArrowRight') return row[row.indexOf(bar) + 1];
      if (key === 'ArrowLeft') return row[row.indexOf(bar) - 1];
      if (key === 'Home') return row[0];
      if (key === 'End') return row[row.length - 1];
      const ranks = [...new Set(bars.map(other => other.dataset.rank))];
      const rank = ranks[ranks.indexOf(bar.dataset.rank) + (key === 'ArrowDown' ? 1 : -1)];
      const there = bars.filter(other => other.dataset.rank === rank);
      const same = there.find(other => bar.dataset.key && other.dataset.key === bar.dataset.key);
      return same || there.sort((a, b) => Math.abs(middle(a) - middle(bar)) - Math.abs(middle(b) - middle(bar)))[0];
    };
    if (bars.length) bars[0].tabIndex = 0;
    picture.addEventListener('mouseover', event => show(event.target));
    picture.addEventListener('focusin', event => show(event.target));
    picture.addEventListener('click', event => event.target.focus && event.target.focus());
    picture.addEventListener('keydown', event => {
      if (!/^(Arrow|Home|End)/.test(event.key) || !event.target.dataset.rank) return;
      const next = step(event.target, event.key);
      if (next) next.focus();
      event.preventDefault();
    });
  }
})();
</script>
)";

constexpr std::string_view pattern =
    "<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\"><defs><pattern id=\"blocked\" "
    "width=\"6\" "
    "height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" "
    "class=\"hatch\"/>"
    "<line y2=\"6\" class=\"hatching\"/></pattern></defs></svg>\n";

std::string legend() {
  struct Entry {
    std::string_view kind, meaning;
  };
  constexpr Entry entries[] = {
      {"fwd", "forward, compute"}, {"bwd", "backward"},   {"opt", "optimizer"}, {"eval", "eval"},
      {"coll", "collective"},      {"p2p", "send, recv"}, {"store", "store"},   {"other", "other"},
      {"hang", "blocked"}};
  std::string out = "<div class=\"legend\">";
  for (const Entry& e : entries)
    out +=
        fmt::format("<span><svg viewBox=\"0 0 18 12\"><rect class=\"{}\" width=\"18\" height=\"12\"/></svg>{}</span>",
                    e.kind, e.meaning);
  return out +
         "<span><svg viewBox=\"0 0 18 12\"><path class=\"waits-for\" d=\"M1 6 h12\"/><path class=\"head\" d=\"M17 6 "
         "l-6 -4 v8 "
         "z\"/></svg>waits for</span><span>lines join one sequence number across ranks; \u25c6 marks where the cause "
         "is; "
         "point at a bar, or tab to one and use the arrow keys</span></div>\n";
}

std::string pictures(const Report& report, const TimelineEvents& events) {
  const TimelinePicture folded = timeline_svg(report, events, true);
  std::string out;
  if (events.left_out > 0)
    out += fmt::format("<p class=\"quiet\">showing the {} events around the first divergence; {} are left out</p>\n",
                       events.events.size(), events.left_out);
  if (folded.ranks_left_out > 0)
    out += fmt::format("<p class=\"quiet\">{} of {} ranks are left out</p>\n", folded.ranks_left_out,
                       report.run.ranks.size());
  if (!folded.folded) return out + "<div class=\"scroll\">" + folded.svg + "</div>\n";
  return out +
         "<input type=\"checkbox\" id=\"linear\"> <label for=\"linear\">linear time (idle gaps are folded "
         "otherwise)</label>\n" +
         "<div class=\"scroll folded\">" + folded.svg + "</div>\n<div class=\"scroll linear\">" +
         timeline_svg(report, events, false).svg + "</div>\n";
}

std::string events_json(const TimelineEvents& events) {
  using Json = nlohmann::ordered_json;
  Json list = Json::array();
  for (const TimelineEvent& e : events.events) {
    Json event{{"rank", e.rank}, {"call", e.call->id}, {"name", e.call->name}};
    if (e.call->seq >= 0) event.update({{"group", e.call->group}, {"seq", e.call->seq}});
    if (!e.call->purpose.empty()) event["purpose"] = e.call->purpose;
    event["from_ns"] = e.call->issued.ns();
    if (!e.blocked) event["to_ns"] = e.end.ns();
    list.push_back(std::move(event));
  }
  std::string text = printable_json(list.dump(-1, ' ', false, Json::error_handler_t::replace));
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6) text.replace(at, 1, "\\u003c");
  return text;
}

std::string summary(const Report& report, const std::string& name) {
  std::string out = fmt::format("<h1>{}</h1>\n<p><span class=\"verdict {}\">{}</span> {}{}</p>\n", escaped(name),
                                escaped(report.verdict), escaped(report.verdict), escaped(outcome_sentence(report)),
                                report.verdict == "pass" && report.outcome != "ok" ? ", as expected" : "");
  if (report.scenario != nullptr && !report.scenario->summary.empty())
    out += fmt::format("<p class=\"quiet\">{}</p>\n", escaped(report.scenario->summary));
  if (report.diagnosis) {
    const Diagnosis& d = *report.diagnosis;
    out += fmt::format(
        "<p class=\"headline\">{}: {}</p>\n<p>{}</p>\n<p class=\"quiet\">inevitable {}</p>\n<p><b>fix</b> "
        "<code>{}</code></p>\n",
        escaped(d.id), escaped(d.headline), escaped(d.why), escaped(d.inevitable), escaped(d.fix));
  } else if (report.outcome != "ok") {
    out += "<p class=\"headline\">no known cause matches</p>\n";
  }
  return out;
}

}  // namespace

std::string render_html(const Report& report, std::string_view text) {
  std::string name = report.scenario == nullptr ? "run" : report.scenario->name;
  if (report.scenario != nullptr && !report.scenario->variant.empty()) name += " / " + report.scenario->variant;
  const TimelineEvents events = timeline_events(report);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>";
  out += escaped(name) + ": " + escaped(report.outcome) + "</title>\n";
  out += style;
  out += "</head><body>\n";
  out += pattern;
  out += summary(report, name);
  out += "<h2>timeline</h2>\n" + legend() + pictures(report, events) +
         "<div id=\"detail\" class=\"quiet\" role=\"status\">details of the bar you point at</div>\n";
  out += "<h2>report</h2>\n<pre>" + escaped(text) + "</pre>\n";
  out += "<script type=\"application/json\" id=\"events\">" + events_json(events) + "</script>\n";
  out += script;
  return out + "</body></html>\n";
}

}  // namespace pdsim::scenarios
