#include "compiler/pipeline.h"

#include <chrono>

#include "cost/collective.h"
#include "cost/hardware.h"
#include "graph/reader.h"
#include "lowering/lower.h"
#include "lowering/redistribute.h"
#include "passes/pass.h"
#include "placement/place.h"
#include "rewrite/pass.h"
#include "rewrite/verify.h"
#include "support/hash.h"

namespace shw {
namespace {

// Names and times the phases as they follow one another.
class Stopwatch {
 public:
  Stopwatch(std::vector<PhaseTime>& phases, Monitor& monitor)
      : phases_(phases), monitor_(monitor) {}
  Status next(std::string_view name) {
    stop();
    name_ = name;
    start_ = std::chrono::steady_clock::now();
    return monitor_.report({.phase = name});
  }
  void stop() {
    if (!name_.empty())
      phases_.push_back(
          {name_,
           std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count()});
    name_ = {};
  }

 private:
  std::vector<PhaseTime>& phases_;
  Monitor& monitor_;
  std::string_view name_;
  std::chrono::steady_clock::time_point start_;
};

uint64_t hash_of(const CompileOptions& o) {
  uint64_t h = hash_bytes(o.hardware, static_cast<uint64_t>(o.rules));
  h = hash_bytes(o.input_layout, h);
  h = hash_bytes(o.output_layout, hash_combine(h, 1));
  for (const auto& [pattern, layout] : o.pins) h = hash_bytes(layout, hash_bytes(pattern, h));
  const double numbers[] = {static_cast<double>(o.parameter_budget.kind),
                            o.parameter_budget.factor,
                            o.grad_reduce_dtype ? static_cast<double>(*o.grad_reduce_dtype) : 0.0,
                            o.einsum ? 1.0 : 0.0,
                            o.solver.time_limit_s,
                            o.solver.relative_gap,
                            static_cast<double>(o.solver.max_sweeps),
                            static_cast<double>(o.solver.max_branch_nodes)};
  h = hash_bytes(numbers, sizeof numbers, h);
  return o.strided ? hash_combine(h, 2) : h;  // plans without it keep their hash
}

// With two, there are two orders in which they can cut one tensor dim, and both are planned with;
// with more there are too many, and lowering chooses afterwards.
int num_dims_larger_than_one(const Mesh& mesh) {
  int count = 0;
  for (int m = 0; m < mesh.rank(); ++m) count += mesh.size(m) > 1;
  return count;
}

Result<std::optional<Layout>> boundary_layout(const std::string& text, int mesh_rank) {
  if (text.empty()) return std::optional<Layout>();
  SHW_ASSIGN_OR_RETURN(const Layout layout, parse_layout(text, mesh_rank));
  if (layout.has_partial() || layout.has_strided())
    return invalid_argument("layout '" + text +
                            "': an input or output cannot be partial, nor strided");
  return std::optional<Layout>(layout);
}

std::vector<NodeDecision> decisions(const Graph& graph, const Strategies& strategies,
                                    const Placed& placed, int mesh_rank) {
  std::vector<NodeDecision> list;
  list.reserve(graph.num_nodes());
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    const std::string text = strategy_text(strategies, n, placed.choice[i], mesh_rank);
    const size_t arrow = text.find(" -> ");
    list.push_back({graph.name(n), std::string(op_name(graph.op(n))),
                    static_cast<uint8_t>(graph.meta(n).phase), graph.meta(n).module_path,
                    text.substr(1, arrow - 2), text.substr(arrow + 4), placed.costs[i].compute_us,
                    placed.costs[i].comm_us, placed.costs[i].transition_us});
  }
  return list;
}

}  // namespace

Result<Compiled> compile(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                         Monitor& monitor) {
  Compiled out;
  Stopwatch watch(out.phases, monitor);
  SHW_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::parse(options.mesh));
  SHW_ASSIGN_OR_RETURN(const cost::Hardware hardware, cost::hardware_by_name(options.hardware));
  SHW_ASSIGN_OR_RETURN(const cost::CollectiveModel collectives,
                       cost::CollectiveModel::create(hardware, mesh));
  const bool plans_orders = options.rules == Rules::kFull && num_dims_larger_than_one(mesh) == 2;
  const StrategyOptions strategy_options{.rules = options.rules,
                                         .reachable_only = true,
                                         .shard_orders = plans_orders,
                                         .strided = options.strided};
  SHW_RETURN_IF_ERROR(strategy_options.check());
  PlacementConstraints constraints;
  constraints.parameter_budget = options.parameter_budget;
  constraints.grad_reduce_dtype = options.grad_reduce_dtype;
  SHW_ASSIGN_OR_RETURN(constraints.input_layout,
                       boundary_layout(options.input_layout, mesh.rank()));
  SHW_ASSIGN_OR_RETURN(constraints.output_layout,
                       boundary_layout(options.output_layout, mesh.rank()));

  for (const auto& [pattern, text] : options.pins) {
    SHW_ASSIGN_OR_RETURN(const Layout layout, parse_layout(text, mesh.rank()));
    constraints.pins.push_back({pattern, layout});
  }

  SHW_RETURN_IF_ERROR(watch.next("load"));
  SHW_ASSIGN_OR_RETURN(Graph graph, load_graph(graph_bytes));
  PlanSummary& summary = out.plan.summary;
  summary.graph_hash = fingerprint(graph);
  summary.options_hash = hash_of(options);
  summary.mesh_hash = hash_bytes(mesh.to_string());
  summary.hardware = hardware.name;
  summary.rules = rules_name(options.rules);

  SHW_RETURN_IF_ERROR(watch.next("rewrite"));
  SHW_ASSIGN_OR_RETURN(graph, run_rewrites(std::move(graph),
                                           {.einsum = options.einsum,
                                            .biased_einsum = options.rules == Rules::kFull},
                                           nullptr, &monitor));

  SHW_RETURN_IF_ERROR(watch.next("strategies"));
  SHW_ASSIGN_OR_RETURN(const Strategies strategies,
                       Strategies::enumerate(graph, mesh, strategy_options, monitor));
  SHW_ASSIGN_OR_RETURN(const SideConditions conditions,
                       side_conditions(graph, mesh, strategies, constraints));

  SHW_RETURN_IF_ERROR(watch.next("price"));
  const MovePrices moves = move_prices(collectives);
  Redistributor redistributor(mesh, moves);
  const auto route_us = [&](const Dims& shape, int64_t element_bytes, const Layout& from,
                            const Layout& to) {
    return redistributor.route_us(shape, element_bytes, from, to);
  };
  Pricer pricer(
      graph, strategies, collectives,
      options.rules == Rules::kCompat ? cost::PriceRules::kCompat : cost::PriceRules::kFull,
      plans_orders ? RoutePrice(route_us) : RoutePrice());
  SHW_ASSIGN_OR_RETURN(const solver::PlacementProblem problem,
                       placement_problem(graph, strategies, conditions, pricer, monitor));
  SHW_RETURN_IF_ERROR(watch.next("solve"));
  SHW_ASSIGN_OR_RETURN(const Placed placed,
                       place(graph, strategies, problem, pricer, options.solver, monitor));
  out.solve_stats = placed.stats;
  summary.objective_us = placed.objective_us;
  summary.bound_us = placed.bound_us;
  summary.proven = placed.proven;
  summary.compute_us = placed.total.compute_us;
  summary.comm_us = placed.total.comm_us;
  summary.transition_us = placed.total.transition_us;
  summary.num_nodes = graph.num_nodes();
  summary.num_strategies = strategies.total();
  summary.decisions = decisions(graph, strategies, placed, mesh.rank());

  SHW_RETURN_IF_ERROR(watch.next("lower"));
  std::vector<double> compute_us;
  for (const NodeCost& c : placed.costs) compute_us.push_back(c.compute_us);
  SHW_ASSIGN_OR_RETURN(out.plan.program,
                       lower(graph, mesh, assignment_of(graph, strategies, placed.choice), moves,
                             {.compute_us = compute_us}, monitor));

  SHW_RETURN_IF_ERROR(watch.next("passes"));
  SHW_ASSIGN_OR_RETURN(const auto reports, run_passes(out.plan.program, default_passes(), monitor));

  SHW_RETURN_IF_ERROR(watch.next("write"));
  if (options.keep_graph) out.plan.source_graph.assign(graph_bytes.begin(), graph_bytes.end());
  out.bytes = write_plan(out.plan);
  watch.stop();
  return out;
}

}  // namespace shw
