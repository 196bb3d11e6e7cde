#include "compiler/finish.h"

#include "compiler/memory_shares.h"
#include "compiler/programs.h"
#include "support/hash.h"

namespace shw {
namespace {

uint64_t hash_of(const CompileOptions& o) {
  uint64_t h = hash_bytes(o.hardware, static_cast<uint64_t>(o.rules));
  h = hash_bytes(o.input_layout, h);
  h = hash_bytes(o.output_layout, hash_combine(h, 1));
  for (const auto& [pattern, layout] : o.pins) h = hash_bytes(layout, hash_bytes(pattern, h));
  const double numbers[] = {static_cast<double>(o.parameter_budget.kind),
                            o.parameter_budget.factor,
                            o.grad_reduce_dtype ? static_cast<double>(*o.grad_reduce_dtype) : 0.0,
                            o.einsum ? 1.0 : 0.0,
                            o.time_limit_s,
                            o.solver.relative_gap,
                            static_cast<double>(o.solver.max_sweeps),
                            static_cast<double>(o.solver.max_branch_nodes)};
  h = hash_bytes(numbers, sizeof numbers, h);
  if (o.memory_limit_bytes > 0 || o.optimizer_factor > 0) {
    const double memory[] = {static_cast<double>(o.memory_limit_bytes), o.optimizer_factor};
    h = hash_bytes(memory, sizeof memory, h);  // plans without a limit keep their hash
  }
  if (!o.placements.empty()) h = hash_bytes(o.placements, hash_combine(h, 3));
  if (o.overlap.kind != Overlap::kNone) {
    const double overlap[] = {static_cast<double>(o.overlap.kind), o.overlap.scale};
    h = hash_bytes(overlap, sizeof overlap, h);
  }
  for (const auto* ports : {&o.inputs, &o.outputs})
    for (const auto& [name, layout] : *ports)
      h = hash_bytes(layout, hash_bytes(name, hash_combine(h, ports == &o.inputs ? 5 : 6)));
  for (const std::string& name : o.entries) h = hash_bytes(name, hash_combine(h, 7));
  for (const BucketSizes& b : o.buckets)
    h = hash_span(std::span<const int64_t>(b.sizes),
                  hash_bytes(b.symbol, hash_bytes(b.entry, hash_combine(h, 8))));
  for (const std::string& name : o.without) h = hash_bytes(name, hash_combine(h, 4));
  if (o.recompute.kind != RecomputePolicy::Kind::kNone)
    h = hash_bytes(to_string(o.recompute), hash_combine(h, 9));
  if (o.prefetch_bytes > 0 || o.prefetch_depth > 0)
    h = hash_combine(hash_combine(hash_combine(h, 10), static_cast<uint64_t>(o.prefetch_bytes)),
                     o.prefetch_depth);
  return o.strided ? hash_combine(h, 2) : h;  // plans without it keep their hash
}

std::string text_of(const std::vector<LayoutListId>& lists, std::span<const Layout> layouts,
                    int mesh_rank) {
  std::string text;
  for (size_t k = 0; k < lists.size(); ++k)
    text += (k > 0 ? ", " : "") +
            (lists[k].valid() ? to_string(layouts[k], mesh_rank) : std::string("none"));
  return text;
}

std::vector<NodeDecision> decisions(const Graph& graph, const Strategies& strategies,
                                    const Placed& placed, int mesh_rank) {
  std::vector<NodeDecision> list;
  list.reserve(graph.num_nodes());
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    const StrategySet& set = strategies.of(n);
    const std::string results = text_of(set.results, placed.assignment->results(n), mesh_rank);
    list.push_back({graph.name(n), std::string(op_name(graph.op(n))),
                    static_cast<uint8_t>(graph.meta(n).phase), graph.meta(n).module_path,
                    text_of(set.operands, placed.assignment->operands(n), mesh_rank),
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
  summary.decisions = decisions(graph, model.strategies(), placed, mesh.rank());
  return summary;
}

}  // namespace

Result<Compiled> finish(const PreparedModel& model, const CompileOptions& options,
                        const Placed& placed, Monitor& monitor) {
  Compiled out;
  out.phases = model.phases();
  out.phases.push_back({"solve", placed.seconds});
  out.solve_stats = placed.stats;
  out.plan.summary = summary_of(model, options, placed);

  Stopwatch watch(out.phases, monitor);
  SHW_RETURN_IF_ERROR(watch.next("lower"));
  double passes_s = 0;
  if (placed.program != nullptr) {
    out.plan.program = *placed.program;
  } else {
    SHW_ASSIGN_OR_RETURN(out.plan.program, program_of(model, placed, monitor, &passes_s));
  }
  watch.stop();
  out.phases.back().seconds -= passes_s;
  out.phases.push_back({"passes", passes_s});
  out.plan.summary.memory_program_bytes = bytes_of(model, out.plan.program);

  SHW_RETURN_IF_ERROR(watch.next("write"));
  out.plan.source_graph = model.source();
  out.bytes = write_plan(out.plan);
  watch.stop();
  return out;
}

}  // namespace shw
