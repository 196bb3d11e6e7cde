#include "compiler/planner.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include "compiler/memory_shares.h"
#include "compiler/recompute_within.h"
#include "cost/hardware_description.h"
#include "graph/reader.h"
#include "lowering/lower.h"
#include "lowering/lowered_memory.h"
#include "lowering/shard_order.h"
#include "ops/entries.h"
#include "passes/pass.h"
#include "placement/saved_placements.h"
#include "plan/report.h"
#include "recompute/recompute.h"
#include "rewrite/pass.h"
#include "rewrite/verify.h"
#include "support/hash.h"

namespace shw {
namespace {

// Names and times consecutive phases.
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

// What the price of each step rests on: kernels and copies are priced by the roofline model.
void set_bases(Program& program, const cost::CollectiveModel& model) {
  for (ProgramStep& step : program.steps) {
    step.basis = PriceBasis::kAnalytical;
    if (step.collective.kind == CollectiveKind::kNone) continue;
    uint32_t mask = 0;
    for (uint8_t axis : step.collective.axes) mask |= 1u << axis;
    const auto kind = static_cast<cost::Collective>(static_cast<int>(step.collective.kind) - 1);
    step.basis = static_cast<PriceBasis>(model.basis(kind, mask));
  }
}

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

cost::PriceRules price_rules(Rules rules) {
  return rules == Rules::kCompat ? cost::PriceRules::kCompat : cost::PriceRules::kFull;
}

int num_dims_larger_than_one(const Mesh& mesh) {
  int count = 0;
  for (int m = 0; m < mesh.rank(); ++m) count += mesh.size(m) > 1;
  return count;
}

// Bytes of all matrices of edges that differ by the strategies at their ends.
uint64_t pair_bytes(const Graph& graph, const Strategies& strategies) {
  std::set<std::pair<uint32_t, uint32_t>> seen;
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < graph.num_nodes(); ++i)
    for (NodeId from : graph.operands(NodeId{i})) {
      if (!from.valid() ||
          !seen.emplace(strategies.set_of(from).v, strategies.set_of(NodeId{i}).v).second)
        continue;
      bytes += sizeof(double) * strategies.of(from).count * strategies.of(NodeId{i}).count;
    }
  return bytes;
}

Result<std::optional<LayoutRule>> boundary_layout(const std::string& text, int mesh_rank) {
  if (text.empty() || text == kFreeLayout) return std::optional<LayoutRule>();
  SHW_ASSIGN_OR_RETURN(LayoutRule rule, LayoutRule::parse_exact(text, mesh_rank));
  if (rule.layout().has_partial() || rule.layout().has_strided())
    return invalid_argument("layout '" + text +
                            "': an input or output cannot be partial, nor strided");
  return std::optional<LayoutRule>(std::move(rule));
}

Status boundary_layouts(const std::vector<std::pair<std::string, std::string>>& texts,
                        int mesh_rank, std::vector<BoundaryLayout>& out) {
  for (const auto& [name, text] : texts) {
    BoundaryLayout& b = out.emplace_back();
    b.name = name;
    b.text = name + "=" + text;
    if (text.empty())
      return invalid_argument("'" + b.text + "': expected a layout such as S(0)R, or free");
    SHW_ASSIGN_OR_RETURN(b.layout, boundary_layout(text, mesh_rank));
  }
  return {};
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

}  // namespace

// Without route prices, shard orders are chosen after the solve.
bool Planner::plans_orders() const {
  return prices_routes() && num_dims_larger_than_one(mesh()) >= 2;
}

// Whether changes of layout are priced by what lowering makes of them.
bool Planner::prices_routes() const {
  return options_.rules == Rules::kFull && Redistributor::has_graphs(mesh());
}

Planner::Planner(const CompileOptions& options, cost::CollectiveModel collectives)
    : options_(options),
      collectives_(std::move(collectives)),
      moves_(move_prices(collectives_)),
      redistributor_(collectives_.mesh(), moves_, {options.solver.threads, options.solver.tasks}),
      pricer_(make_pricer()) {}

Pricer Planner::make_pricer() {
  return Pricer(graph_, strategies_, collectives_, price_rules(options_.rules),
                prices_routes() ? &redistributor_ : nullptr,
                {options_.solver.threads, options_.solver.tasks});
}

// Where memory counts, or each of several entries may run alone, computing a value again can be
// better than holding it: that is for the passes to decide. With auto they compute it again then.
bool Planner::merges_equal_nodes() const {
  const bool memory_counts = options_.memory_limit_bytes > 0 || options_.optimizer_factor > 0;
  return options_.rules == Rules::kFull &&
         (!memory_counts || options_.recompute.kind == RecomputePolicy::Kind::kAuto) &&
         graph_.entries().size() <= 1;
}

// What it knows of the rewritten graph.
void Planner::prepare(Pricer& pricer) const {
  pricer.set_weights(node_weights(graph_));
  if (prices_routes()) pricer.set_memory(lowered_memory(graph_));
}

Result<std::unique_ptr<Planner>> Planner::create(std::span<const uint8_t> graph_bytes,
                                                 const CompileOptions& options, Monitor& monitor,
                                                 Use use) {
  SHW_ASSIGN_OR_RETURN(const Mesh mesh, Mesh::parse(options.mesh));
  SHW_ASSIGN_OR_RETURN(const cost::Hardware hardware, cost::find_hardware(options.hardware));
  SHW_ASSIGN_OR_RETURN(cost::CollectiveModel collectives,
                       cost::CollectiveModel::create(hardware, mesh, price_rules(options.rules)));
  std::unique_ptr<Planner> planner(new Planner(options, std::move(collectives)));
  Monitor timed = monitor;
  timed.deadline = options.solver.deadline;
  SHW_RETURN_IF_ERROR(planner->prepare(graph_bytes, use, timed));
  return planner;
}

// Leaves nodes the strategies that the constraints allow them. Where none is left, all stay, for
// the conflict to be found.
Status Planner::prune(Monitor& monitor) {
  // Below it, pricing all takes a fraction of a second.
  constexpr uint64_t kWorthPruning = uint64_t{256} << 20;
  if (pair_bytes(graph_, strategies_) < kWorthPruning) return {};
  SHW_RETURN_IF_ERROR(monitor.poll());
  SHW_ASSIGN_OR_RETURN(const PlacementConstraints constraints, constraints_of(options_));
  SHW_ASSIGN_OR_RETURN(const SideConditions conditions,
                       side_conditions(graph_, mesh(), strategies_, constraints));
  std::map<NodeId, std::vector<bool>> allowed;
  for (const AllowedLabels& a : conditions.labels) {
    std::vector<bool>& of_node = allowed.try_emplace(a.node, a.allowed).first->second;
    for (size_t s = 0; s < of_node.size(); ++s) of_node[s] = of_node[s] && a.allowed[s];
  }
  for (const auto& [node, kept] : allowed)
    if (std::ranges::find(kept, true) != kept.end() && std::ranges::find(kept, false) != kept.end())
      strategies_.keep(node, kept), pruned_ = true;
  return {};
}

Status Planner::prepare(std::span<const uint8_t> graph_bytes, Use use, Monitor& monitor) {
  StrategyOptions strategy_options{.rules = options_.rules,
                                   .reachable_only = true,
                                   .shard_orders = plans_orders(),
                                   .strided = options_.strided};
  SHW_RETURN_IF_ERROR(strategy_options.check());

  Stopwatch watch(phases_, monitor);
  SHW_RETURN_IF_ERROR(watch.next("load"));
  SHW_ASSIGN_OR_RETURN(graph_, load_graph(graph_bytes));
  if (!options_.entries.empty()) {
    SHW_ASSIGN_OR_RETURN(std::vector<EntryInfo> entries,
                         training_entries(graph_, options_.entries));
    graph_.set_entries(std::move(entries));
    graph_.remove_unlisted_outputs();
  }
  source_fingerprint_ = fingerprint(graph_);
  if (options_.keep_graph) source_.assign(graph_bytes.begin(), graph_bytes.end());

  SHW_RETURN_IF_ERROR(watch.next("rewrite"));
  if (!graph_.symbols().table.empty() || !options_.buckets.empty()) {
    SHW_ASSIGN_OR_RETURN(graph_, expand_symbols(graph_, options_.buckets));
  }
  SHW_ASSIGN_OR_RETURN(graph_, run_rewrites(std::move(graph_),
                                            {.einsum = options_.einsum,
                                             .biased_einsum = options_.rules == Rules::kFull,
                                             .merge_equal = merges_equal_nodes()},
                                            nullptr, &monitor));

  prepare(pricer_);

  SHW_RETURN_IF_ERROR(watch.next("strategies"));
  SHW_ASSIGN_OR_RETURN(const PlacementConstraints layouts, layout_constraints_of(options_));
  strategy_options.ordered = nodes_with_stated_orders(graph_, layouts);
  SHW_ASSIGN_OR_RETURN(strategies_,
                       Strategies::enumerate(graph_, mesh(), strategy_options, monitor));
  if (use == Use::kOnce) SHW_RETURN_IF_ERROR(prune(monitor));
  SHW_ASSIGN_OR_RETURN(constraints_, constraints_of(options_));
  SHW_ASSIGN_OR_RETURN(SideConditions conditions,
                       side_conditions(graph_, mesh(), strategies_, constraints_));
  no_comm_ = std::move(conditions.no_comm);

  memory_ = MemoryModel::of(graph_, mesh(), strategies_, options_.optimizer_factor);

  SHW_RETURN_IF_ERROR(watch.next("price"));
  SHW_RETURN_IF_ERROR(price_overlap(no_comm_));
  SHW_ASSIGN_OR_RETURN(priced_, priced_problem(graph_, no_comm_, pricer_, monitor));
  watch.stop();
  return {};
}

Result<solver::PlacementProblem> Planner::priced(const std::vector<bool>& no_comm,
                                                 Monitor& monitor) {
  if (no_comm == no_comm_) return priced_.share();
  if (other_no_comm_ != no_comm) {
    Pricer pricer = make_pricer();  // a pricer caches the tables of one problem
    prepare(pricer);
    SHW_ASSIGN_OR_RETURN(other_, priced_problem(graph_, no_comm, pricer, monitor));
    other_no_comm_ = no_comm;
  }
  return other_.share();
}

Status Planner::price_overlap(const std::vector<bool>& no_comm) {
  SHW_RETURN_IF_ERROR(check(options_.overlap));
  if (options_.overlap.kind == Overlap::kNone) return {};
  std::vector<double> least_us;
  for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
    SHW_ASSIGN_OR_RETURN(const std::span<const double> costs, pricer_.node_costs(NodeId{i}));
    least_us.push_back(*std::min_element(costs.begin(), costs.end()) / pricer_.weight(NodeId{i}));
  }
  pricer_.set_discounts(edge_discounts(graph_, options_.overlap, least_us, no_comm));
  return {};
}

bool Planner::serves(const CompileOptions& o) const {
  return !pruned_ && o.mesh == options_.mesh && o.hardware == options_.hardware &&
         o.rules == options_.rules && o.strided == options_.strided &&
         o.einsum == options_.einsum && o.keep_graph == options_.keep_graph &&
         o.entries == options_.entries && o.buckets == options_.buckets &&
         o.optimizer_factor == options_.optimizer_factor &&
         o.grad_reduce_dtype == options_.grad_reduce_dtype && o.overlap == options_.overlap &&
         o.recompute == options_.recompute && o.prefetch_bytes == options_.prefetch_bytes &&
         o.prefetch_depth == options_.prefetch_depth &&
         (o.overlap.kind == Overlap::kNone || o.without == options_.without);
}

Result<PlacementConstraints> Planner::layout_constraints_of(const CompileOptions& options) const {
  const int mesh_rank = mesh().rank();
  PlacementConstraints constraints;
  constraints.orders_later = !plans_orders();
  constraints.parameter_budget = options.parameter_budget;
  constraints.grad_reduce_dtype = options.grad_reduce_dtype;
  constraints.memory_limit_bytes = options.memory_limit_bytes;
  constraints.without = options.without;
  SHW_ASSIGN_OR_RETURN(constraints.input_layout, boundary_layout(options.input_layout, mesh_rank));
  SHW_ASSIGN_OR_RETURN(constraints.output_layout,
                       boundary_layout(options.output_layout, mesh_rank));
  SHW_RETURN_IF_ERROR(boundary_layouts(options.inputs, mesh_rank, constraints.inputs));
  SHW_RETURN_IF_ERROR(boundary_layouts(options.outputs, mesh_rank, constraints.outputs));
  for (const auto& [pattern, text] : options.pins) {
    SHW_ASSIGN_OR_RETURN(Pin pin, Pin::parse(pattern, text, mesh_rank));
    constraints.pins.push_back(std::move(pin));
  }
  return constraints;
}

Result<PlacementConstraints> Planner::constraints_of(const CompileOptions& options) const {
  SHW_ASSIGN_OR_RETURN(PlacementConstraints constraints, layout_constraints_of(options));
  if (!options.placements.empty()) {
    SHW_ASSIGN_OR_RETURN(constraints.choices,
                         read_placements(options.placements, graph_, mesh(), strategies_,
                                         /*any_order=*/constraints.orders_later));
  }
  return constraints;
}

Result<solver::PlacementProblem> Planner::problem(const PlacementConstraints& constraints,
                                                  Monitor& monitor, const CountedCopies& copies) {
  SHW_ASSIGN_OR_RETURN(const SideConditions conditions,
                       side_conditions(graph_, mesh(), strategies_, constraints));
  if (conditions.no_comm != no_comm_ && options_.overlap.kind != Overlap::kNone)
    return unimplemented("with overlap, '" + std::string(kCastsFirst) +
                         "' can be dropped only when the planner is created");
  SHW_ASSIGN_OR_RETURN(solver::PlacementProblem problem, priced(conditions.no_comm, monitor));
  add_conditions(conditions, problem);
  if (constraints.memory_limit_bytes > 0)
    memory_.add_budget(static_cast<double>(constraints.memory_limit_bytes), copies, problem);
  return problem;
}

Result<Placed> Planner::solve(const solver::PlacementProblem& problem,
                              const solver::SolveOptions& options, Monitor& monitor) {
  SHW_RETURN_IF_ERROR(monitor.report({.phase = "solve"}));
  const auto start = std::chrono::steady_clock::now();
  SHW_ASSIGN_OR_RETURN(Placed placed,
                       solve_placement(graph_, strategies_, problem, pricer_, options, monitor));
  placed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return placed;
}

Result<Compiled> Planner::compile(const CompileOptions& options, Monitor& monitor) {
  if (!serves(options))
    return invalid_argument(
        "these options differ from the planner's in more than constraints and time limit");
  SHW_ASSIGN_OR_RETURN(const PlacementConstraints constraints, constraints_of(options));
  SHW_ASSIGN_OR_RETURN(const Placed placed, place(constraints, options.solver, monitor));
  return finish(options, placed, monitor);
}

Result<Compiled> Planner::finish(const CompileOptions& options, const Placed& placed,
                                 Monitor& monitor) const {
  Compiled out;
  out.phases = phases_;
  out.phases.push_back({"solve", placed.seconds});
  out.solve_stats = placed.stats;
  PlanSummary& summary = out.plan.summary;
  summary.graph_hash = source_fingerprint_;
  summary.options_hash = hash_of(options);
  summary.mesh_hash = hash_bytes(mesh().to_string());
  summary.hardware = collectives_.hardware().name;
  summary.rules = rules_name(options_.rules);
  summary.overlap = to_string(options_.overlap);
  summary.objective_us = placed.objective_us;
  summary.bound_us = placed.bound_us;
  summary.proven = placed.proven;
  summary.compute_us = placed.total.compute_us;
  summary.comm_us = placed.total.comm_us;
  summary.transition_us = placed.total.transition_us;
  summary.memory_limit_bytes = static_cast<int64_t>(placed.memory.limit_bytes);
  summary.memory_peak_bytes = static_cast<int64_t>(placed.memory.peak_bytes);
  if (const NodeId at = placed.memory.at; at.valid()) {
    summary.memory_peak_node = graph_.name(at);
    summary.memory_shares =
        memory_shares(graph_, memory_.parts(graph_, placed.choice, at), summary.memory_peak_bytes);
  }
  summary.memory_price_per_gib = placed.memory.price_per_gib;
  summary.memory_binding_points = placed.memory.binding;
  summary.num_nodes = graph_.num_nodes();
  summary.num_strategies = strategies_.total();
  summary.decisions = decisions(graph_, strategies_, placed, mesh().rank());

  Stopwatch watch(out.phases, monitor);
  SHW_RETURN_IF_ERROR(watch.next("lower"));
  double passes_s = 0;
  if (placed.program != nullptr) {
    out.plan.program = *placed.program;
  } else {
    SHW_ASSIGN_OR_RETURN(out.plan.program, program_of(placed, monitor, &passes_s));
  }
  watch.stop();
  out.phases.back().seconds -= passes_s;
  out.phases.push_back({"passes", passes_s});
  summary.memory_program_bytes = bytes_of(out.plan.program);
  summary.recompute_excess_us = out.plan.program.recompute_excess_us;

  SHW_RETURN_IF_ERROR(watch.next("write"));
  out.plan.source_graph = source_;
  out.bytes = write_plan(out.plan);
  watch.stop();
  return out;
}

Result<Solved> solve_once(std::span<const uint8_t> graph_bytes, const CompileOptions& options,
                          Monitor& monitor) {
  // What pruned strategies cannot tell is asked again without: which constraints contradict.
  for (const Planner::Use use : {Planner::Use::kOnce, Planner::Use::kAnyNumber}) {
    SHW_ASSIGN_OR_RETURN(std::unique_ptr<Planner> planner,
                         Planner::create(graph_bytes, options, monitor, use));
    auto placed = planner->is_pruned()
                      ? planner->try_place(planner->constraints(), options.solver, monitor)
                      : planner->place(planner->constraints(), options.solver, monitor);
    if (placed.ok()) return Solved{std::move(planner), std::move(*placed)};
    if (!planner->is_pruned() || placed.status().code() != Code::kFailedPrecondition)
      return placed.status();
  }
  return internal_error("a planner for any number of uses was pruned");
}

Status Planner::decide_orders(Placed& placed, const PlacementConstraints& constraints,
                              Monitor& monitor) const {
  auto assignment = std::make_shared<Assignment>(assignment_of(graph_, strategies_, placed.choice));
  if (!plans_orders()) {
    SHW_ASSIGN_OR_RETURN(const SideConditions conditions,
                         side_conditions(graph_, mesh(), strategies_, constraints));
    SHW_RETURN_IF_ERROR(
        choose_shard_orders(graph_, redistributor_, conditions.orders, *assignment, monitor));
  }
  placed.assignment = std::move(assignment);
  return {};
}

// Equal steps are merged first: what is computed again equals what it repeats.
Status Planner::run_all_passes(Program& program, int64_t limit_bytes, Monitor& monitor,
                               double* seconds) const {
  const auto start = std::chrono::steady_clock::now();
  const auto passes = default_passes();
  const bool repeats = options_.recompute.kind != RecomputePolicy::Kind::kNone;
  if (repeats) {
    static constexpr const PassDef* kBefore[] = {&kCommonSubexpressions, &kDeadSteps};
    SHW_RETURN_IF_ERROR(run_passes(program, kBefore, monitor).status());
  }
  if (recomputes_within(limit_bytes)) {
    SHW_ASSIGN_OR_RETURN(
        program, recompute_within(program, graph_, limit_bytes - bytes_of(program), monitor));
  } else {
    SHW_RETURN_IF_ERROR(recompute(program, graph_, options_.recompute, monitor));
    // common-subexpressions stands first.
    SHW_RETURN_IF_ERROR(run_passes(program, passes.subspan(repeats ? 1 : 0), monitor).status());
  }
  if (seconds != nullptr)
    *seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return {};
}

// Shares copies between all their users if the result fits the limit. Otherwise copies live as
// planned and are shared only where memory permits.
Result<Program> Planner::program_of(const Placed& placed, Monitor& monitor,
                                    double* seconds_of_passes) const {
  std::vector<double> compute_us;
  for (uint32_t i = 0; i < placed.costs.size(); ++i)  // in one run
    compute_us.push_back(placed.costs[i].compute_us / pricer_.weight(NodeId{i}));
  const auto limit = static_cast<int64_t>(placed.memory.limit_bytes);
  LowerOptions options{.compute_us = compute_us};
  struct CopyPolicy {
    Copies copies;
    bool shares;  // shares more than planned, and gathers early, where memory permits
  };
  constexpr CopyPolicy kPolicies[] = {
      {Copies::kShared, true}, {Copies::kAsPlanned, true}, {Copies::kAsPlanned, false}};
  Program program;
  for (const CopyPolicy& policy : kPolicies) {
    options.copies = policy.copies;
    SHW_ASSIGN_OR_RETURN(program,
                         lower(graph_, *placed.assignment, redistributor_, options, monitor));
    set_bases(program, collectives_);
    if (options_.prefetch_bytes > 0) program.prefetch_bytes = options_.prefetch_bytes;
    if (options_.prefetch_depth > 0) program.prefetch_depth = options_.prefetch_depth;
    if (limit > 0) program.arena_limit_bytes = policy.shares ? limit - bytes_of(program) : 0;
    SHW_RETURN_IF_ERROR(run_all_passes(program, limit, monitor, seconds_of_passes));
    if (limit == 0 || bytes_of(program) <= limit || recomputes_within(placed.memory.limit_bytes))
      break;  // copies that are made again are the business of the passes
  }
  return program;
}

// Ports, the optimizer state that the graph does not have, the arena and one session.
int64_t Planner::bytes_of(const Program& program) const {
  const auto parameters = static_cast<double>(port_bytes(program, PortRole::kParameter));
  return program.arena_bytes + program.session_bytes + port_bytes(program) +
         static_cast<int64_t>(options_.optimizer_factor * parameters);
}

}  // namespace shw
