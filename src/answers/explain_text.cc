// Explanations as text and JSON.
#include <algorithm>
#include <cmath>

#include "answers/explain.h"
#include "support/format.h"
#include "support/json_writer.h"

namespace shw::answers {
namespace {

constexpr size_t kMaxRows = 12;

void write_alternative(JsonWriter& j, const Alternative& a, double plan_us) {
  j.begin_object().member("status", status_of(a, plan_us));
  j.member("layout", a.layout).member("chosen", a.chosen);
  j.member("strategies", a.num_strategies).member("floor", a.floor_us).key("forced");
  if (!a.forced) {
    j.value(solver::kForbidden).end_object();  // null
    return;
  }
  const Forced& f = *a.forced;
  j.begin_object().member("possible", f.possible);
  if (f.possible) {
    j.member("objective", f.objective_us).member("bound", f.bound_us);
    j.member("proven", f.proven).member("strategy", f.strategy);
    j.member("changed_nodes", f.changed_nodes);
    if (f.step_us >= 0) j.member("step", f.step_us);
  }
  j.end_object().end_object();
}

std::string floor_text(double us) { return std::isinf(us) ? "impossible" : format("%.3f", us); }

std::string forced_text(const Alternative& a) {
  if (!a.forced) return "";
  return a.forced->possible ? format("%.3f", a.forced->objective_us) : "impossible";
}

std::string edges_table(const char* title, const std::vector<EdgePrice>& edges, bool of_operands) {
  if (edges.empty()) return "";
  std::string t = format("\n%-40s     comm µs  layout\n", title);
  for (const EdgePrice& e : edges)
    t += format("  %-38s %11.3f  %s%s\n", (of_operands ? e.producer : e.consumer).c_str(),
                e.comm_us, e.from.c_str(), e.from == e.to ? "" : (" → " + e.to).c_str());
  return t;
}

std::string alternatives_table(const Explanation& e) {
  const bool simulated = e.step_us >= 0;
  std::string t = "\nresult layout                    floor µs        forced µs   extra cost  ";
  t += simulated ? "simulated µs  changes  status\n" : "changes  status\n";
  size_t left_out = 0;
  for (size_t i = 0; i < e.alternatives.size(); ++i) {
    const Alternative& a = e.alternatives[i];
    if (i >= kMaxRows && !a.forced && !a.chosen) {
      ++left_out;
      continue;
    }
    const bool known = a.forced && a.forced->possible;
    t += format("  %-22s %16s %16s %12s", a.layout.c_str(), floor_text(a.floor_us).c_str(),
                forced_text(a).c_str(),
                known ? format("%+.3f", a.forced->objective_us - e.objective_us).c_str() : "");
    if (simulated) t += format(" %13s", known ? format("%.3f", a.forced->step_us).c_str() : "");
    t += format(" %8s  %s%s\n", known ? std::to_string(a.forced->changed_nodes).c_str() : "",
                std::string(status_of(a, e.objective_us)).c_str(),
                e.second_best == i ? ", second best" : "");
  }
  if (left_out > 0) t += format("  and %zu more\n", left_out);
  if (std::any_of(e.alternatives.begin(), e.alternatives.end(), [&](const Alternative& a) {
        return a.forced && a.forced->possible && a.forced->objective_us < e.objective_us - 1e-6;
      }))
    t += simulated ? "  cheaper than the plan at these prices; the simulated times decide\n"
                   : "  cheaper than the plan: a pinned parameter does not count against the "
                     "parameter budget\n";
  return t;
}

std::string strategies_table(const Explanation& e) {
  std::string t = "\n        floor µs   compute µs  strategy\n";
  size_t shown = 0;
  for (const StrategyFloor& s : e.strategies)
    if (s.chosen || shown < kMaxRows) {
      ++shown;
      t += format("%16s %12.3f  %s%s\n", floor_text(s.floor_us).c_str(), s.compute_us,
                  s.strategy.c_str(), s.chosen ? "  chosen" : "");
    }
  if (shown < e.strategies.size()) t += format("  and %zu more\n", e.strategies.size() - shown);
  return t;
}

}  // namespace

std::string_view status_of(const Alternative& a, double plan_us) {
  constexpr double kTie_us = 0.01;
  if (a.chosen) return "CHOSEN";
  if (a.floor_us == solver::kForbidden || (a.forced && !a.forced->possible)) return "UNAVAILABLE";
  const double cheapest = a.forced ? a.forced->objective_us : a.floor_us;
  if (cheapest - plan_us > kTie_us) return "CHOSEN CHEAPER";
  if (!a.forced) return "";
  return plan_us - cheapest > kTie_us ? "TARGET CHEAPER" : "TIE";
}

std::string to_json(const Explanation& e) {
  JsonWriter j;
  j.begin_object().member("node", e.node).member("op", e.op).member("module_path", e.module_path);
  j.member("phase", e.phase == Phase::kForward ? "forward" : "backward");
  j.member("strategy", e.strategy).member("compute", e.cost.compute_us);
  j.member("comm", e.cost.comm_us).member("transition", e.cost.transition_us);
  write_edges(j, "operands", e.operands);
  write_edges(j, "users", e.users);
  j.member("objective", e.objective_us).member("bound", e.bound_us).member("proven", e.proven);
  if (e.step_us >= 0) j.member("step", e.step_us);
  j.member("certified", e.certified_us).key("alternatives").begin_array();
  for (const Alternative& a : e.alternatives) write_alternative(j, a, e.objective_us);
  j.end_array().key("strategies").begin_array();
  for (const StrategyFloor& s : e.strategies) {
    j.begin_object().member("strategy", s.strategy).member("chosen", s.chosen);
    j.member("compute", s.compute_us).member("floor", s.floor_us).end_object();
  }
  j.end_array().key("second_best");
  if (e.second_best)
    j.value(e.alternatives[*e.second_best].layout);
  else
    j.value(solver::kForbidden);  // null
  return j.end_object().take();
}

std::string to_text(const Explanation& e) {
  std::string t = format("node      %s, %s%s%s\n", e.node.c_str(), e.op.c_str(),
                         e.module_path.empty() ? "" : ", in ", e.module_path.c_str());
  t += format("chosen    %s\n", e.strategy.c_str());
  t += format("cost      compute %.3f µs, communication %.3f of its operands, transitions %.0f\n",
              e.cost.compute_us, e.cost.comm_us, e.cost.transition_us);
  if (e.step_us >= 0)
    t += format(
        "simulated %.3f µs; all costs are at the prices of edges that the plan was found at\n",
        e.step_us);
  t += format("plan      %.3f µs, %s; floors are based on a certified bound of %.3f\n",
              e.objective_us, e.proven ? "proven optimal" : "not proven", e.certified_us);
  t += edges_table("operands", e.operands, true);
  t += edges_table("users", e.users, false);
  return t + alternatives_table(e) + strategies_table(e);
}

}  // namespace shw::answers
