#include "compiler/prepared_model.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/stated_constraints.h"
#include "cost/hardware_description.h"
#include "ops/entries.h"
#include "ops/op_def.h"
#include "placement/share_versions.h"

namespace shw {
namespace {

cost::PriceRules price_rules(Rules rules) {
  return rules == Rules::kCompat ? cost::PriceRules::kCompat : cost::PriceRules::kFull;
}

int num_dims_larger_than_one(const Mesh& mesh) {
  int count = 0;
  for (int m = 0; m < mesh.rank(); ++m) count += mesh.size(m) > 1;
  return count;
}

// The bytes of the price matrices of edges, one for each pair of strategy sets at their ends.
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

Status check_host_memory(const CompileOptions& options, const cost::Hardware& hardware) {
  if (options.host_memory_bytes == 0) return {};
  if (options.recompute.kind != RecomputePolicy::Kind::kAuto)
    return invalid_argument("host memory is used by recompute 'auto' alone, not by '" +
                            to_string(options.recompute) + "'");
  if (hardware.device.host_bytes_per_s == 0)
    return invalid_argument("hardware '" + hardware.name +
                            "' has no link to host memory: its device.host_bytes_per_s is 0");
  return {};
}

// The machine. Checks all options that need no graph, so that their errors come first.
Result<cost::CollectiveModel> collectives_of(const CompileOptions& options) {
  SHW_ASSIGN_OR_RETURN(Mesh mesh, Mesh::parse(options.mesh));
  if (options.rules == Rules::kFull && Redistributor::has_graphs(mesh))
    mesh = with_parts(mesh, options.mesh_dims_by_parts);
  SHW_ASSIGN_OR_RETURN(const cost::Hardware hardware, cost::find_hardware(options.hardware));
  SHW_RETURN_IF_ERROR(check_host_memory(options, hardware));
  SHW_RETURN_IF_ERROR(
      (StrategyOptions{.rules = options.rules, .strided = options.strided}.check()));
  return cost::CollectiveModel::create(hardware, mesh, price_rules(options.rules));
}

Monitor within_deadline(const CompileOptions& options, const Monitor& monitor) {
  Monitor timed = monitor;
  timed.deadline = options.solver.deadline;
  return timed;
}

}  // namespace

Result<std::unique_ptr<const PreparedModel>> PreparedModel::create(
    std::span<const uint8_t> graph_bytes, const CompileOptions& options, Monitor& monitor,
    Use use) {
  SHW_ASSIGN_OR_RETURN(cost::CollectiveModel collectives, collectives_of(options));
  Monitor timed = within_deadline(options, monitor);
  SHW_ASSIGN_OR_RETURN(std::shared_ptr<const RewrittenGraph> graph,
                       RewrittenGraph::read(graph_bytes, options, timed));
  return prepared(std::move(graph), options, std::move(collectives), monitor, use);
}

Result<std::unique_ptr<const PreparedModel>> PreparedModel::create(
    std::shared_ptr<const RewrittenGraph> graph, const CompileOptions& options, Monitor& monitor,
    Use use) {
  SHW_ASSIGN_OR_RETURN(cost::CollectiveModel collectives, collectives_of(options));
  return prepared(std::move(graph), options, std::move(collectives), monitor, use);
}

Result<std::unique_ptr<const PreparedModel>> PreparedModel::prepared(
    std::shared_ptr<const RewrittenGraph> graph, const CompileOptions& options,
    cost::CollectiveModel collectives, Monitor& monitor, Use use) {
  std::unique_ptr<PreparedModel> model(
      new PreparedModel(std::move(graph), options, std::move(collectives)));
  Monitor timed = within_deadline(options, monitor);
  SHW_RETURN_IF_ERROR(model->prepare(use, timed));
  return std::unique_ptr<const PreparedModel>(std::move(model));
}

PreparedModel::PreparedModel(std::shared_ptr<const RewrittenGraph> graph,
                             const CompileOptions& options, cost::CollectiveModel collectives)
    : rewritten_(std::move(graph)),
      graph_(rewritten_->graph),
      options_(options),
      collectives_(std::move(collectives)),
      moves_(move_prices(collectives_)),
      redistributor_(collectives_.mesh(), moves_, {options.solver.threads, options.solver.tasks}),
      pricer_(make_pricer()) {}

Pricer PreparedModel::make_pricer() const {
  return Pricer(graph_, strategies_, collectives_, price_rules(options_.rules),
                prices_routes() ? &redistributor_ : nullptr,
                {options_.solver.threads, options_.solver.tasks});
}

// Gives the pricer what it must know about the rewritten graph.
void PreparedModel::tell_graph(Pricer& pricer) const {
  pricer.set_weights(node_weights(graph_));
  if (prices_routes()) pricer.set_memory(rewritten_->memory);
}

bool PreparedModel::plans_orders() const {
  return prices_routes() && num_dims_larger_than_one(mesh()) >= 2;
}

// Whether changes of layout are priced by what lowering makes of them.
bool PreparedModel::prices_routes() const {
  return options_.rules == Rules::kFull && Redistributor::has_graphs(mesh());
}

Status PreparedModel::prepare(Use use, Monitor& monitor) {
  tell_graph(pricer_);
  phases_ = rewritten_->phases;
  Stopwatch watch(phases_, monitor);
  SHW_RETURN_IF_ERROR(watch.next("strategies"));
  SHW_RETURN_IF_ERROR(enumerate(use, monitor));
  SHW_RETURN_IF_ERROR(watch.next("price"));
  SHW_RETURN_IF_ERROR(price_overlap());
  SHW_ASSIGN_OR_RETURN(costs_, priced_problem(graph_, no_comm_, pricer_, monitor));
  watch.stop();
  return {};
}

StrategyOptions PreparedModel::strategy_options() const {
  return {.rules = options_.rules,
          .reachable_only = true,
          .shard_orders = plans_orders(),
          .strided = options_.strided};
}

Status PreparedModel::enumerate(Use use, Monitor& monitor) {
  SHW_ASSIGN_OR_RETURN(const PlacementConstraints layouts,
                       stated_constraints(options_, mesh(), !plans_orders()));
  StrategyOptions strategy_options = this->strategy_options();
  strategy_options.ordered = nodes_with_stated_orders(graph_, layouts);
  SHW_ASSIGN_OR_RETURN(strategies_,
                       Strategies::enumerate(graph_, mesh(), strategy_options, monitor));
  if (use == Use::kOnce) SHW_RETURN_IF_ERROR(prune(monitor));
  SHW_ASSIGN_OR_RETURN(SideConditions conditions, own_conditions());
  no_comm_ = std::move(conditions.no_comm);
  memory_ = MemoryModel::of(graph_, mesh(), strategies_, options_.optimizer_factor);
  return {};
}

Result<SideConditions> PreparedModel::own_conditions() const {
  SHW_ASSIGN_OR_RETURN(const PlacementConstraints constraints,
                       stated_constraints(options_, graph_, mesh(), strategies_, !plans_orders()));
  return side_conditions(graph_, mesh(), strategies_, constraints);
}

// Removes the strategies that the constraints exclude. A node that would have none left keeps all
// of them, so that the conflict can be found later. Nodes that state their layouts also keep all:
// they have few, and each stands for an alternative (strategy/alternatives.h).
Status PreparedModel::prune(Monitor& monitor) {
  // Below this size, pricing everything takes a fraction of a second.
  constexpr uint64_t kWorthPruning = uint64_t{256} << 20;
  if (pair_bytes(graph_, strategies_) < kWorthPruning) return {};
  SHW_RETURN_IF_ERROR(monitor.poll());
  SHW_ASSIGN_OR_RETURN(const SideConditions conditions, own_conditions());
  std::map<NodeId, std::vector<bool>> allowed;
  for (const AllowedLabels& a : conditions.labels) {
    if (op_def(graph_.op(a.node)).sharding == Sharding::kDeclared) continue;
    std::vector<bool>& of_node = allowed.try_emplace(a.node, a.allowed).first->second;
    for (size_t s = 0; s < of_node.size(); ++s) of_node[s] = of_node[s] && a.allowed[s];
  }
  for (const auto& [node, kept] : allowed)
    if (std::ranges::find(kept, true) != kept.end() && std::ranges::find(kept, false) != kept.end())
      strategies_.keep(node, kept), pruned_ = true;
  return {};
}

Status PreparedModel::price_overlap() {
  SHW_RETURN_IF_ERROR(check(options_.overlap));
  if (!discounts_edges(options_.overlap.kind)) return {};
  std::vector<double> least_us;
  for (uint32_t i = 0; i < graph_.num_nodes(); ++i) {
    SHW_ASSIGN_OR_RETURN(const std::span<const double> costs, pricer_.node_costs(NodeId{i}));
    least_us.push_back(*std::min_element(costs.begin(), costs.end()) / pricer_.weight(NodeId{i}));
  }
  pricer_.set_discounts(edge_discounts(graph_, options_.overlap, least_us, no_comm_));
  return {};
}

Result<solver::PlacementProblem> PreparedModel::costs(const std::vector<bool>& no_comm,
                                                      Monitor& monitor) const {
  if (no_comm == no_comm_) return costs_.share();
  if (!other_ || other_->no_comm != no_comm) {
    Pricer pricer = make_pricer();  // a pricer caches the tables of one problem
    tell_graph(pricer);
    SHW_ASSIGN_OR_RETURN(solver::PlacementProblem problem,
                         priced_problem(graph_, no_comm, pricer, monitor));
    other_ = {no_comm, std::move(problem)};
  }
  return other_->problem.share();
}

Result<Placed> PreparedModel::solve(const solver::PlacementProblem& problem,
                                    const solver::SolveOptions& options, Monitor& monitor,
                                    Prices prices, const SharedVersions* shared) const {
  SHW_RETURN_IF_ERROR(monitor.report({.phase = "solve"}));
  const auto start = std::chrono::steady_clock::now();
  SHW_ASSIGN_OR_RETURN(Placed placed, solve_placement(graph_, strategies_, problem, pricer_,
                                                      options, monitor, prices, shared));
  placed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return placed;
}

Result<Placed> PreparedModel::price(std::vector<uint32_t> choice,
                                    std::shared_ptr<const SharedVersions> shared) const {
  return price_choice(graph_, strategies_, pricer_, std::move(choice), std::move(shared));
}

bool PreparedModel::shares_versions() const {
  return prices_routes() && graph_.entries().size() <= 1 && !discounts_edges(options_.overlap.kind);
}

void PreparedModel::add_shared(const SharedVersions& shared, const std::vector<bool>& no_comm,
                               solver::PlacementProblem& problem) const {
  add_shared_versions(graph_, strategies_, shared, no_comm, pricer_, problem);
}

// Options that differ in `without` are served only if edges have no discounts: the discounts of
// overlap depend on whether casts come first.
bool PreparedModel::serves(const CompileOptions& o) const {
  return !pruned_ && agree(OptionPart::kModel, o, options_) &&
         (!discounts_edges(o.overlap.kind) || o.without == options_.without);
}

}  // namespace shw
