// A graph prepared for the solver: rewritten, its strategies enumerated, everything priced.
//
// None of this depends on pins, limits or budgets. Questions such as "what would this cost
// instead", "what is second best" or "how does time trade for memory" share one model and pay only
// for their solves: constrained_model.h, place.h.
//
// A model does not change. But it caches prices when they are first requested, so only one thread
// may use it.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "compiler/options.h"
#include "compiler/rewritten_graph.h"
#include "compiler/stopwatch.h"
#include "cost/collective.h"
#include "graph/graph.h"
#include "placement/memory.h"
#include "placement/pricing.h"
#include "placement/solve_placement.h"
#include "redistribution/move_prices.h"
#include "redistribution/redistributor.h"
#include "solver/problem.h"
#include "strategy/strategies.h"

namespace shw {

class PreparedModel {
 public:
  // kOnce: the model serves only the constraints of its own options; see solve_once() in
  // pipeline.h.
  enum class Use : uint8_t { kAnyNumber, kOnce };
  // Also checks the options' constraints.
  static Result<std::unique_ptr<const PreparedModel>> create(std::span<const uint8_t> graph_bytes,
                                                             const CompileOptions& options,
                                                             Monitor& monitor,
                                                             Use use = Use::kAnyNumber);
  // `graph`: read with the same options, except for the mesh, layouts and the time limit.
  static Result<std::unique_ptr<const PreparedModel>> create(
      std::shared_ptr<const RewrittenGraph> graph, const CompileOptions& options, Monitor& monitor,
      Use use = Use::kAnyNumber);
  PreparedModel(const PreparedModel&) = delete;  // parts refer to each other
  PreparedModel& operator=(const PreparedModel&) = delete;

  const CompileOptions& options() const { return options_; }
  // Whether these options differ from the model's only in constraints and time limit.
  bool serves(const CompileOptions& options) const;
  // Whether strategies that the options' constraints exclude were left out.
  bool is_pruned() const { return pruned_; }
  // Whether shard orders are part of the strategies. If not, they are chosen after the solve.
  bool plans_orders() const;

  const Mesh& mesh() const { return collectives_.mesh(); }
  const cost::CollectiveModel& collectives() const { return collectives_; }
  const Graph& graph() const { return graph_; }  // after the rewrites: its nodes are the decisions
  const Strategies& strategies() const { return strategies_; }
  const MemoryModel& memory() const { return memory_; }
  const LoweredMemory& lowered_memory() const { return rewritten_->memory; }  // of the graph

  // The problem with all prices and no constraints, except that operands of the nodes in `no_comm`
  // may not communicate. Shares tables with the model. If `no_comm` differs from that of the
  // options, the prices do not include the discounts of overlap.
  Result<solver::PlacementProblem> costs(const std::vector<bool>& no_comm, Monitor& monitor) const;
  const std::vector<bool>& no_comm() const { return no_comm_; }  // of the options
  // The compute cost of every strategy of a node.
  std::span<const double> compute_us(NodeId n) const { return costs_.unary(n.v); }
  double redistribution_us(NodeId consumer, size_t operand, const Layout& from,
                           const Layout& to) const {
    return pricer_.redistribution_us(consumer, operand, from, to);
  }
  double transition_us(NodeId consumer, const Layout& from, const Layout& to) const {
    return pricer_.transition_us(consumer, from, to);
  }
  // The prices of a placement's changes of layout.
  Choice priced(const Placed& placed) const {
    return {graph_, strategies_, pricer_, placed.choice, placed.shared.get()};
  }
  // How often a node runs. Its costs are multiplied by this.
  double weight(NodeId n) const { return pricer_.weight(n); }

  // Whether prices can account for versions that several uses of a value share. They can if the
  // graph has at most one entry, changes of layout are priced by routes, and edges have no
  // discounts.
  bool shares_versions() const;
  // Adds variables for the versions in `shared` to a problem of this model.
  void add_shared(const SharedVersions& shared, const std::vector<bool>& no_comm,
                  solver::PlacementProblem& problem) const;
  // `shared`: the shared versions that have variables in the problem; null: none.
  Result<Placed> solve(const solver::PlacementProblem& problem, const solver::SolveOptions& options,
                       Monitor& monitor, Prices prices = Prices::kOfGraph,
                       const SharedVersions* shared = nullptr) const;
  Result<Placed> price(std::vector<uint32_t> choice,
                       std::shared_ptr<const SharedVersions> shared = nullptr) const;

  // Finds the routes that prices are based on and that programs follow.
  Redistributor& redistributor() const { return redistributor_; }
  // For models of other meshes.
  const std::shared_ptr<const RewrittenGraph>& rewritten() const { return rewritten_; }
  // The graph as it was given, if the plan is to store it, and its fingerprint.
  const std::vector<uint8_t>& source() const { return rewritten_->source; }
  uint64_t source_fingerprint() const { return rewritten_->source_fingerprint; }
  const std::vector<PhaseTime>& phases() const { return phases_; }  // of create()

 private:
  PreparedModel(std::shared_ptr<const RewrittenGraph> graph, const CompileOptions& options,
                cost::CollectiveModel collectives);
  static Result<std::unique_ptr<const PreparedModel>> prepared(
      std::shared_ptr<const RewrittenGraph> graph, const CompileOptions& options,
      cost::CollectiveModel collectives, Monitor& monitor, Use use);
  Status prepare(Use use, Monitor& monitor);
  Status enumerate(Use use, Monitor& monitor);
  Status prune(Monitor& monitor);
  Status price_overlap();
  StrategyOptions strategy_options() const;
  Result<SideConditions> own_conditions() const;
  Pricer make_pricer() const;
  void tell_graph(Pricer& pricer) const;
  bool prices_routes() const;

  const std::shared_ptr<const RewrittenGraph> rewritten_;
  const Graph& graph_;  // its graph
  const CompileOptions options_;
  const cost::CollectiveModel collectives_;
  const MovePrices moves_;
  Strategies strategies_;
  MemoryModel memory_;
  solver::PlacementProblem costs_;
  std::vector<bool> no_comm_;  // the nodes whose operands may not communicate in it
  std::vector<PhaseTime> phases_;
  bool pruned_ = false;

  // Memos.
  mutable Redistributor redistributor_;
  mutable Pricer pricer_;
  struct OtherCosts {
    std::vector<bool> no_comm;
    solver::PlacementProblem problem;
  };
  mutable std::optional<OtherCosts> other_;  // for one other set of nodes
};

}  // namespace shw
