#include "compiler/joint_prices.h"

#include <algorithm>
#include <functional>

#include "compiler/exposure.h"

namespace shw {
namespace {

// By node of the graph: how much a program computes and sends again, relative to what it does the
// first time.
class RepeatedShares {
 public:
  RepeatedShares(const Program& program, const Graph& graph) : graph_(graph) {
    for (const ProgramStep& step : program.steps) {
      if (step.node == UINT32_MAX || !(step.cost_us > 0)) continue;
      if (by_origin_.size() <= step.node) by_origin_.resize(step.node + 1);
      Times& times = by_origin_[step.node];
      (step.collective.kind == CollectiveKind::kNone ? times.computed : times.sent)
          .add(step.recomputed, step.cost_us);
    }
  }
  double computed(NodeId n) const { return of(graph_.origin(n).v).computed.share(); }
  double sent(const SentEdge& edge) const { return of(edge.origin).sent.share(); }

 private:
  struct Time {
    double once_us = 0, again_us = 0;
    void add(bool again, double us) { (again ? again_us : once_us) += us; }
    double share() const { return once_us > 0 ? again_us / once_us : 0; }
  };
  struct Times {
    Time computed, sent;
  };
  const Times& of(uint32_t origin) const {
    static constexpr Times kNone;
    return origin < by_origin_.size() ? by_origin_[origin] : kNone;
  }

  const Graph& graph_;
  std::vector<Times> by_origin_;
};

}  // namespace

JointPrices::JointPrices(const ConstrainedModel& question)
    : question_(question),
      model_(question.model()),
      kept_(model_.graph(), model_.mesh(), model_.strategies(), model_.memory(),
            [&model = model_](NodeId n) { return model.compute_us(n); }) {}

JointPrices::Bound JointPrices::bound(double limit_bytes, std::span<const uint32_t> choice) const {
  Bound best{bound_at(0, limit_bytes), 0};
  for (const double us_per_byte : kept_.prices(choice))
    if (const double us = bound_at(us_per_byte, limit_bytes); us > best.us)
      best = {us, us_per_byte};
  return best;
}

double JointPrices::bound_at(double us_per_byte, double limit_bytes) const {
  const solver::PlacementProblem& problem = question_.problem();
  const uint32_t num_nodes = model_.graph().num_nodes();
  std::vector<double> costs;  // of all strategies, node by node
  for (uint32_t n = 0; n < num_nodes; ++n)
    costs.insert(costs.end(), problem.unary(n).begin(), problem.unary(n).end());
  const auto of = [&](uint32_t n) {
    return std::span(costs).subspan(problem.first_label(n), problem.num_labels(n));
  };
  kept_.add_least_costs(us_per_byte, [&](NodeId n, std::span<const double> more) {
    std::ranges::transform(of(n.v), more, of(n.v).begin(), std::plus<>());
  });
  double us = -us_per_byte * limit_bytes;
  for (uint32_t n = 0; n < num_nodes; ++n) us += std::ranges::min(of(n));
  return us;
}

// Repeated gathers of parameters find their link idle, so they cost nothing here.
Result<Placed> JointPrices::placement(const Program& program, double us_per_byte,
                                      const solver::SolveOptions& options, Monitor& monitor) const {
  const Graph& graph = model_.graph();
  const RepeatedShares repeated(program, graph);
  std::vector<double> scales, costs;
  for (const SentEdge& edge : sent_edges(graph))
    scales.push_back(is_activation(edge.kind) ? 1 + repeated.sent(edge) : 1);
  solver::PlacementProblem problem = question_.problem().with_scaled_edges(scales);
  std::vector<uint8_t> again(graph.num_nodes(), 0);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const double share = repeated.computed(NodeId{i});
    if (share == 0) continue;
    again[i] = 1;
    costs.clear();
    for (const double us : model_.compute_us(NodeId{i})) costs.push_back(share * us);
    problem.add_unary(i, costs);
  }
  kept_.add_kept_costs(us_per_byte, again, [&](NodeId n, std::span<const double> more) {
    problem.add_unary(n.v, more);
  });
  SHW_ASSIGN_OR_RETURN(Placed placed, model_.solve(problem, options, monitor, Prices::kOther));
  placed.objective_us = placed.total.us();
  placed.bound_us = -solver::kForbidden;
  placed.proven = false;
  return placed;
}

}  // namespace shw
