#include "compiler/finish.h"

#include <string_view>
#include <unordered_map>

#include "compiler/memory_shares.h"
#include "compiler/programs.h"
#include "passes/last_passes.h"
#include "strategy/alternatives.h"
#include "support/hash.h"
#include "support/parallel.h"

namespace shw {
namespace {

// The texts of layouts. A plan has few layouts, and names one for each value of each node.
class LayoutTexts {
 public:
  explicit LayoutTexts(int mesh_rank) : mesh_rank_(mesh_rank) {}

  std::string of(const std::vector<LayoutListId>& lists, std::span<const Layout> layouts) {
    std::string text;
    for (size_t k = 0; k < lists.size(); ++k) {
      if (k > 0) text += ", ";
      text += lists[k].valid() ? of(layouts[k]) : "none";
    }
    return text;
  }

 private:
  std::string_view of(const Layout& layout) {
    const auto [at, is_new] = texts_.try_emplace(layout);
    if (is_new) at->second = to_string(layout, mesh_rank_);
    return at->second;
  }

  const int mesh_rank_;
  std::unordered_map<Layout, std::string, LayoutHash> texts_;  // for look-up only
};

// "mm"; for a region with several alternatives, with the name of the chosen one: "local_map
// experts.tp".
std::string op_text(const Graph& graph, NodeId n, const Mesh& mesh, uint32_t strategy) {
  const std::string name = alternative_name(graph, n, mesh, strategy);
  return std::string(op_name(graph.op(n))) + (name.empty() ? "" : " " + name);
}

std::vector<NodeDecision> decisions(const Graph& graph, const Strategies& strategies,
                                    const Placed& placed, const Mesh& mesh) {
  LayoutTexts texts(mesh.rank());
  std::vector<NodeDecision> list;
  list.reserve(graph.num_nodes());
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    const StrategySet& set = strategies.of(n);
    const std::string results = texts.of(set.results, placed.assignment->results(n));
    list.push_back({graph.name(n), op_text(graph, n, mesh, placed.choice[i]),
                    static_cast<uint8_t>(graph.meta(n).phase), graph.meta(n).module_path,
                    texts.of(set.operands, placed.assignment->operands(n)),
                    set.results.size() > 1 ? "(" + results + ")" : results,
                    placed.costs[i].compute_us, placed.costs[i].comm_us,
                    placed.costs[i].transition_us});
  }
  return list;
}

PlanSummary summary_of(const PreparedModel& model, const CompileOptions& options,
                       const Placed& placed) {
  const Graph& graph = model.graph();
  const Mesh& mesh = model.mesh();
  PlanSummary summary;
  summary.graph_hash = model.source_fingerprint();
  summary.options_hash = hash_of(options);
  summary.mesh_hash = hash_bytes(mesh.to_string());
  summary.hardware = model.collectives().hardware().name;
  summary.rules = rules_name(options.rules);
  summary.overlap = to_string(options.overlap);
  summary.objective_us = placed.objective_us;
  summary.bound_us = placed.bound_us;
  summary.proven = placed.proven;
  summary.compute_us = placed.total.compute_us;
  summary.comm_us = placed.total.comm_us;
  summary.transition_us = placed.total.transition_us;
  summary.memory_limit_bytes = static_cast<int64_t>(placed.memory.limit_bytes);
  summary.memory_peak_bytes = static_cast<int64_t>(placed.memory.peak_bytes);
  if (const NodeId at = placed.memory.at; at.valid()) {
    summary.memory_peak_node = graph.name(at);
    summary.memory_shares = memory_shares(graph, model.memory().parts(graph, placed.choice, at),
                                          summary.memory_peak_bytes);
  }
  summary.memory_price_per_gib = placed.memory.price_per_gib;
  summary.memory_binding_points = placed.memory.binding;
  summary.num_nodes = graph.num_nodes();
  summary.num_strategies = model.strategies().total();
  summary.decisions = decisions(graph, model.strategies(), placed, mesh);
  return summary;
}

// Not verified yet.
Status make_program(const PreparedModel& model, const Placed& placed, Monitor& monitor,
                    double& passes_s, Program& program) {
  SHW_ASSIGN_OR_RETURN(program,
                       final_program(model, placed, monitor,
                                     {.verify = Verify::kLater, .seconds_of_passes = &passes_s}));
  return pack_for_long(program, monitor);
}

}  // namespace

Result<Compiled> finish(const PreparedModel& model, const CompileOptions& options,
                        const Placed& placed, Monitor& monitor) {
  Monitor timed = improving_until(options.solver.deadline, monitor);
  Compiled out;
  out.phases = model.phases();
  out.phases.push_back({"solve", placed.seconds});
  out.solve_stats = placed.stats;
  const Threads threads(options.solver.threads, options.solver.tasks);

  Stopwatch watch(out.phases, monitor);
  SHW_RETURN_IF_ERROR(watch.next("lower"));
  double passes_s = 0;
  Status made, verified;
  run_beside(
      threads, [&] { made = make_program(model, placed, timed, passes_s, out.plan.program); },
      [&] { out.plan.summary = summary_of(model, options, placed); });
  SHW_RETURN_IF_ERROR(made);
  watch.stop();
  out.phases.back().seconds -= passes_s;
  out.phases.push_back({"passes", passes_s});
  out.plan.summary.memory_program_bytes = bytes_of(model, out.plan.program);
  out.plan.summary.recompute_excess_us = out.plan.program.recompute_excess_us;
  out.plan.summary.step_bound_us = placed.memory.step_bound_us;

  SHW_RETURN_IF_ERROR(watch.next("write"));
  out.plan.source_graph = model.source();
  run_beside(
      threads, [&] { out.bytes = write_plan(out.plan); },
      [&] { verified = verify_finished(out.plan.program); });
  SHW_RETURN_IF_ERROR(verified);
  watch.stop();
  return out;
}

}  // namespace shw
