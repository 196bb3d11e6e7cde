#include "answers/explain_plan.h"

#include <algorithm>
#include <array>
#include <map>

#include "compiler/fastest.h"
#include "compiler/place.h"
#include "plan/module_tree.h"
#include "plan/report.h"
#include "support/format.h"
#include "support/stable_sort.h"

namespace shw::answers {
namespace {

constexpr size_t kMaxEdges = 20;

class Edges {
 public:
  Edges(const PreparedModel& model, const Placed& placed) : model_(model), placed_(placed) {}

  void add(NodeId consumer, uint32_t operand) {
    EdgePrice edge = edge_price(model_, placed_, consumer, operand);
    if (edge.comm_us == 0) return;
    const Graph& graph = model_.graph();
    const EdgeGroup like{module_pattern(graph.meta(consumer).module_path),
                         std::string(op_name(graph.op(graph.operands(consumer)[operand]))),
                         std::string(op_name(graph.op(consumer))),
                         edge.from,
                         edge.to,
                         0,
                         0};
    EdgeGroup& group =
        groups_.try_emplace({like.module, like.producer, like.consumer, like.from, like.to}, like)
            .first->second;
    ++group.count;
    group.comm_us += edge.comm_us;
    edges_.push_back(std::move(edge));
  }

  void move_to(PlanExplanation& out) && {
    const auto dearer = [](const auto& a, const auto& b) { return a.comm_us > b.comm_us; };
    for (auto& [key, group] : groups_) out.groups.push_back(std::move(group));
    sort_stably(out.groups, dearer);
    sort_stably(edges_, dearer);
    out.paying_edges = edges_.size();
    edges_.resize(std::min(edges_.size(), kMaxEdges));
    out.dearest = std::move(edges_);
  }

 private:
  const PreparedModel& model_;
  const Placed& placed_;
  std::vector<EdgePrice> edges_;
  std::map<std::array<std::string, 5>, EdgeGroup> groups_;
};

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
  std::string t = "\nthis plan stays optimal";
  t += format(" if all communication costs %.6g to %s%.6g times as much%s\n", c.from,
              c.to == kMaxFactor ? "at least " : "", c.to, c.exact ? "" : " (not proven)");
  t += rival_text("below", c.below) + rival_text("above", c.above);
  const auto bytes = [](double b) { return human_bytes(static_cast<int64_t>(b)); };
  t += "  and under any memory limit from " + bytes(e.memory.from_bytes) + " upwards";
  if (e.memory.to_below_bytes < solver::kForbidden)
    t += " to " + bytes(e.memory.to_at_least_bytes) + "; a cheaper plan fits in " +
         bytes(e.memory.to_below_bytes);
  return t + (e.memory.exact ? "\n" : " (not proven)\n");
}

// The plan; under a memory limit, one that fits after lowering.
Result<Placed> planned(const ConstrainedModel& asked, const solver::SolveOptions& options,
                       Monitor& monitor) {
  if (asked.memory_limit() == 0) {
    SHW_ASSIGN_OR_RETURN(Placed plan, place(asked, options, monitor));
    plan.memory = {};  // without a limit there is no memory report
    return plan;
  }
  return asked.solve(asked.problem_within(asked.memory_limit()), options, monitor);
}

}  // namespace

Result<PlanExplanation> explain_plan(const ConstrainedModel& asked,
                                     const solver::SolveOptions& options, Monitor& monitor) {
  const PreparedModel& model = asked.model();
  if (takes_fastest(model))
    return unimplemented(
        "with overlap 'simulated', a plan as a whole is not explained: how far prices may change "
        "before another plan is the fastest is not known. Name a node, or leave the overlap out");
  solver::SolveOptions first = options;
  first.deadline = options.deadline.after_share(0.5);  // the rest is for the ranges
  SHW_ASSIGN_OR_RETURN(const Placed plan, planned(asked, first, monitor));
  PlanExplanation out;
  out.total = plan.total;
  out.objective_us = plan.objective_us;
  out.bound_us = plan.bound_us;
  out.proven = plan.proven;
  const Graph& graph = model.graph();
  Edges edges(model, plan);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    if (plan.costs[i].comm_us == 0) continue;
    const auto operands = graph.operands(NodeId{i});
    for (uint32_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid()) edges.add(NodeId{i}, k);
  }
  std::move(edges).move_to(out);
  SHW_ASSIGN_OR_RETURN(out.communication, communication_range(asked, plan, options, monitor));
  SHW_ASSIGN_OR_RETURN(out.memory, memory_range(asked, plan, options, monitor));
  return out;
}

std::string to_json(const PlanExplanation& e) {
  JsonWriter j;
  j.begin_object().member("objective", e.objective_us).member("bound", e.bound_us);
  j.member("proven", e.proven).member("compute", e.total.compute_us);
  j.member("comm", e.total.comm_us).member("transition", e.total.transition_us);
  j.member("paying_edges", e.paying_edges);
  write_edges(j, "dearest_edges", e.dearest);
  j.key("edge_groups").begin_array();
  for (const EdgeGroup& g : e.groups) {
    j.begin_object().member("module", g.module).member("producer", g.producer);
    j.member("consumer", g.consumer).member("from", g.from).member("to", g.to);
    j.member("count", g.count).member("comm", g.comm_us).end_object();
  }
  j.end_array();
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
  t += format("\n     comm µs  edges  of the %zu that pay, those alike together\n", e.paying_edges);
  double others_us = 0;
  uint32_t others = 0;
  for (const EdgeGroup& g : e.groups) {
    if (&g - e.groups.data() < static_cast<ptrdiff_t>(kMaxEdges)) {
      t += format("%12.3f %6u  %s: %s → %s, %s → %s\n", g.comm_us, g.count,
                  g.module.empty() ? "(no module)" : g.module.c_str(), g.producer.c_str(),
                  g.consumer.c_str(), g.from.c_str(), g.to.c_str());
      continue;
    }
    others += g.count;
    others_us += g.comm_us;
  }
  if (others > 0) t += format("%12.3f %6u  (others)\n", others_us, others);
  return t + ranges_text(e);
}

}  // namespace shw::answers
