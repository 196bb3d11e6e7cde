#include "answers/explain_plan.h"

#include <algorithm>

#include "plan/report.h"
#include "support/format.h"

namespace shw::answers {
namespace {

constexpr size_t kMostEdges = 20;

void write_rival(JsonWriter& j, std::string_view key, const std::optional<Rival>& rival) {
  if (!rival) return;
  j.key(key).begin_object().member("compute", rival->compute_us).member("comm", rival->comm_us);
  j.member("transition", rival->transition_us).member("changed_nodes", rival->changed_nodes);
  j.end_object();
}

std::string rival_text(const char* where, const std::optional<Rival>& rival) {
  if (!rival) return "";
  return format("  %s: a plan of compute %.3f, communication %.3f; %u nodes differ\n", where,
                rival->compute_us, rival->comm_us, rival->changed_nodes);
}

std::string ranges_text(const PlanExplanation& e) {
  const CommunicationRange& c = e.communication;
  std::string t = "\nthis plan stays a cheapest one";
  t += format(", were communication as a whole from %.6g to %s%.6g times as dear%s\n", c.from,
              c.to == kMostFactor ? "at least " : "", c.to, c.exact ? "" : " (not proven)");
  t += rival_text("below", c.below) + rival_text("above", c.above);
  const auto bytes = [](double b) { return human_bytes(static_cast<int64_t>(b)); };
  t += "  and under any limit of memory from " + bytes(e.memory.from_bytes) + " up";
  if (e.memory.to_below_bytes < solver::kForbidden)
    t += " to " + bytes(e.memory.to_at_least_bytes) + "; a cheaper one fits in " +
         bytes(e.memory.to_below_bytes);
  return t + (e.memory.exact ? "\n" : " (not proven)\n");
}

}  // namespace

Result<PlanExplanation> explain_plan(Planner& planner, const PlacementConstraints& constraints,
                                     const solver::SolveOptions& options, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(const solver::PlacementProblem problem,
                       planner.problem(constraints, monitor));
  SHW_ASSIGN_OR_RETURN(const Placed plan, planner.solve(problem, options, monitor));
  PlanExplanation out{plan.total, plan.objective_us, plan.bound_us, plan.proven, 0, {}, {}, {}};
  const Graph& graph = planner.graph();
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    if (plan.costs[i].comm_us == 0) continue;
    const auto operands = graph.operands(NodeId{i});
    for (uint32_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid())
        if (EdgePrice e = edge_price(planner, plan.choice, NodeId{i}, k); e.comm_us > 0)
          out.dearest.push_back(std::move(e));
  }
  out.paying_edges = out.dearest.size();
  std::stable_sort(out.dearest.begin(), out.dearest.end(),
                   [](const auto& a, const auto& b) { return a.comm_us > b.comm_us; });
  out.dearest.resize(std::min(out.dearest.size(), kMostEdges));
  SHW_ASSIGN_OR_RETURN(out.communication,
                       communication_range(planner, problem, plan.choice, options, monitor));
  SHW_ASSIGN_OR_RETURN(out.memory, memory_range(planner, constraints, plan, options, monitor));
  return out;
}

std::string to_json(const PlanExplanation& e) {
  JsonWriter j;
  j.begin_object().member("objective", e.objective_us).member("bound", e.bound_us);
  j.member("proven", e.proven).member("compute", e.total.compute_us);
  j.member("comm", e.total.comm_us).member("transition", e.total.transition_us);
  j.member("paying_edges", e.paying_edges);
  write_edges(j, "dearest_edges", e.dearest);
  j.key("optimal_while").begin_object().key("communication_factor").begin_object();
  j.member("from", e.communication.from).member("to", e.communication.to);
  j.member("exact", e.communication.exact);
  write_rival(j, "below", e.communication.below);
  write_rival(j, "above", e.communication.above);
  j.end_object().key("memory_limit_bytes").begin_object().member("from", e.memory.from_bytes);
  j.member("to_at_least", e.memory.to_at_least_bytes);
  j.member("to_below", e.memory.to_below_bytes).member("exact", e.memory.exact);
  return j.end_object().end_object().end_object().take();
}

std::string to_text(const PlanExplanation& e) {
  std::string t =
      format("plan      %.3f µs: compute %.3f, communication %.3f, transitions %.0f; %s\n",
             e.objective_us, e.total.compute_us, e.total.comm_us, e.total.transition_us,
             e.proven ? "proven optimal" : "not proven");
  t += format("\n     comm µs  of the %zu edges that pay\n", e.paying_edges);
  for (const EdgePrice& edge : e.dearest)
    t += format("%12.3f  %s → %s, operand %u: %s → %s\n", edge.comm_us, edge.producer.c_str(),
                edge.consumer.c_str(), edge.operand, edge.from.c_str(), edge.to.c_str());
  return t + ranges_text(e);
}

}  // namespace shw::answers
