#include "answers/explain.h"

#include <algorithm>
#include <cmath>

#include "answers/nodes.h"
#include "compiler/exposure.h"
#include "compiler/fastest.h"
#include "compiler/place.h"
#include "compiler/programs.h"
#include "compiler/within_limit.h"
#include "solver/certificate.h"
#include "solver/floors.h"
#include "strategy/alternatives.h"
#include "support/stable_sort.h"

namespace shw::answers {
namespace {

constexpr uint32_t kCertificateSweeps = 512;
constexpr double kShareOfPlan = 0.5;    // of the time, for the plan itself
constexpr double kShareOfForced = 0.5;  // of the remaining time, for each forced layout

bool same(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

// By edge, the share of its price that counts, in the order of priced_problem(); initially 1.
class EdgeScales {
 public:
  void set(const Graph& graph, std::vector<double> scales) {
    scales_ = std::move(scales);
    uint32_t edges = 0;
    for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
      const auto operands = graph.operands(NodeId{i});
      of_node_.emplace_back(operands.size());
      for (size_t k = 0; k < operands.size(); ++k)
        if (operands[k].valid()) of_node_.back()[k] = scales_[edges++];
    }
  }
  const std::vector<double>& of_edges() const { return scales_; }
  double of(NodeId consumer, uint32_t operand) const {
    return of_node_.empty() ? 1 : of_node_[consumer.v][operand];
  }

 private:
  std::vector<double> scales_;                // by edge
  std::vector<std::vector<double>> of_node_;  // by consumer and operand
};

class Explainer {
 public:
  Explainer(const ConstrainedModel& asked, const solver::SolveOptions& options, Monitor& monitor)
      : asked_(asked), model_(asked.model()), options_(options), monitor_(monitor) {}

  Result<Explanation> run(const ExplainRequest& request) {
    SHW_ASSIGN_OR_RETURN(node_, node_named(graph(), request.node));
    SHW_RETURN_IF_ERROR(find_result());
    std::optional<Layout> asked;
    if (!request.layout.empty()) {
      SHW_ASSIGN_OR_RETURN(asked, parse_layout(request.layout, mesh_rank()));
      if (count_if(*asked) == 0)
        return at_origin(
            invalid_argument("no strategy of " + out_.node + " produces layout " + request.layout),
            graph(), node_);
    }
    solver::SolveOptions first = options_;
    first.keep_warm = true;
    first.deadline = options_.deadline.after_share(kShareOfPlan);
    SHW_RETURN_IF_ERROR(takes_fastest(model_) ? find_fastest(first) : find_cheapest(first));
    if (asked_.memory_limit() == 0) options_.warm = plan_.warm.get();
    describe();
    SHW_RETURN_IF_ERROR(find_floors());
    if (asked) SHW_RETURN_IF_ERROR(force(alternative_of(*asked)));
    SHW_RETURN_IF_ERROR(force_cheapest(request.forced_layouts));
    return std::move(out_);
  }

 private:
  const Graph& graph() const { return model_.graph(); }
  const Strategies& strategies() const { return model_.strategies(); }
  int mesh_rank() const { return model_.mesh().rank(); }
  uint32_t count() const { return strategies().of(node_).count; }
  const Layout& result(uint32_t strategy) const {
    return strategies().result_layout(node_, result_, strategy);
  }
  // "(S(0)R, RS(1)) -> S(0)S(1)"; behind the name of the alternative, where a region states
  // several.
  std::string text_of(NodeId n, uint32_t strategy) const {
    const std::string name = alternative_name(graph(), n, model_.mesh(), strategy);
    const std::string text = strategy_text(strategies(), n, strategy, mesh_rank());
    return name.empty() ? text : name + ": " + text;
  }
  // The layout without its shard order, which pins do not constrain.
  std::string name_of(Layout layout) const {
    layout.order = Layout{}.order;
    return to_string(layout, mesh_rank());
  }
  uint32_t count_if(const Layout& layout) const {
    uint32_t n = 0;
    for (uint32_t s = 0; s < count(); ++s) n += result(s).same_placements(layout);
    return n;
  }

  Status find_result() {
    out_.node = graph().name(node_);
    const auto& results = strategies().of(node_).results;
    while (result_ < results.size() && !results[result_].valid()) ++result_;
    if (result_ < results.size()) return {};
    return at_origin(invalid_argument(out_.node + " has no tensor result"), graph(), node_);
  }

  Status find_cheapest(const solver::SolveOptions& options) {
    SHW_ASSIGN_OR_RETURN(plan_, place(asked_, options, monitor_));
    return {};
  }

  // Finds the fastest plan, then the cost of the cheapest plan at the prices of that search.
  Status find_fastest(const solver::SolveOptions& options) {
    SHW_ASSIGN_OR_RETURN(Fastest found, fastest(asked_, asked_.memory_limit(), options, monitor_));
    out_.step_us = found.step_us;
    plan_ = std::move(found.placed);
    plan_.program.reset();
    scales_.set(graph(), std::move(found.scales));
    solver::SolveOptions rest = options_;
    rest.keep_warm = true;
    rest.deadline = options_.deadline.after_share(kShareOfForced);
    const ConstrainedModel priced = at_prices(asked_);
    auto cheapest = solve_within(priced, priced.memory_limit(), rest, monitor_);
    plan_.objective_us = solver::evaluate(priced.problem(), plan_.choice);
    plan_.bound_us = -solver::kForbidden;
    plan_.proven = false;
    plan_.warm.reset();
    if (is_unanswered(cheapest.status())) return {};
    SHW_RETURN_IF_ERROR(cheapest.status());
    plan_.bound_us = std::min(cheapest->bound_us, plan_.objective_us);
    plan_.proven = cheapest->proven && same(cheapest->objective_us, plan_.objective_us);
    plan_.warm = std::move(cheapest->warm);
    return {};
  }
  ConstrainedModel at_prices(const ConstrainedModel& question) const {
    return question.with_scaled_edges(scales_.of_edges());
  }

  void describe() {
    out_.op = op_name(graph().op(node_));
    out_.module_path = graph().meta(node_).module_path;
    out_.phase = graph().meta(node_).phase;
    out_.strategy = text_of(node_, plan_.choice[node_.v]);
    out_.cost.compute_us = plan_.costs[node_.v].compute_us;
    out_.objective_us = plan_.objective_us;
    out_.bound_us = plan_.bound_us;
    out_.proven = plan_.proven;
    for (uint32_t i = 0; i < graph().num_nodes(); ++i) {
      const auto operands = graph().operands(NodeId{i});
      for (uint32_t k = 0; k < operands.size(); ++k) {
        if (!operands[k].valid()) continue;
        if (NodeId{i} == node_) out_.operands.push_back(edge(node_, k));
        if (operands[k] == node_) out_.users.push_back(edge(NodeId{i}, k));
      }
    }
    for (const EdgePrice& e : out_.operands) {
      out_.cost.comm_us += e.comm_us;
      out_.cost.transition_us += e.transition_us;
    }
  }

  EdgePrice edge(NodeId consumer, uint32_t k) const {
    EdgePrice price = edge_price(model_, plan_, consumer, k);
    price.comm_us *= scales_.of(consumer, k);
    price.transition_us *= scales_.of(consumer, k);
    return price;
  }

  // Restricts the node to these strategies, as a pin would; at the prices of the plan.
  Result<ConstrainedModel> asked_with(std::vector<bool> allowed) const {
    PlacementConstraints constraints = asked_.constraints();
    constraints.choices.push_back({node_, std::move(allowed), "layout of " + out_.node});
    SHW_ASSIGN_OR_RETURN(ConstrainedModel question,
                         ConstrainedModel::create(model_, std::move(constraints), monitor_));
    return takes_fastest(model_) ? at_prices(question) : question.sharing_as(plan_.shared);
  }

  Status find_floors() {
    SHW_ASSIGN_OR_RETURN(const ConstrainedModel free, asked_with(std::vector<bool>(count(), true)));
    const solver::PlacementProblem problem = free.problem_within(free.memory_limit());
    // Initial prices: those of the plan, a good guess even if the budgets differ slightly.
    std::vector<solver::BudgetPrice> prices = plan_.prices;
    std::erase_if(prices,
                  [&](const auto& p) { return p.budget >= problem.budget_limits().size(); });
    SHW_ASSIGN_OR_RETURN(const solver::Certificate certificate,
                         solver::certify(problem, prices, kCertificateSweeps, monitor_,
                                         options_.deadline.after_share(kShareOfForced)));
    SHW_ASSIGN_OR_RETURN(const std::vector<double> floors,
                         solver::label_floors(problem, certificate, node_.v, monitor_));
    const std::span<const double> compute = model_.compute_us(node_);
    out_.certified_us = certificate.bound;
    for (uint32_t s = 0; s < count(); ++s) {
      const bool chosen = s == plan_.choice[node_.v];
      out_.strategies.push_back({text_of(node_, s), chosen, compute[s], floors[s]});
      Alternative& a = alternative_of(result(s));
      a.chosen |= chosen;
      a.floor_us = ++a.num_strategies == 1 ? floors[s] : std::min(a.floor_us, floors[s]);
    }
    const auto by_floor = [](const auto& a, const auto& b) { return a.floor_us < b.floor_us; };
    sort_stably(out_.strategies, by_floor);
    sort_stably(out_.alternatives, by_floor);
    return {};
  }

  // Created on first use.
  Alternative& alternative_of(const Layout& layout) {
    const std::string name = name_of(layout);
    for (Alternative& a : out_.alternatives)
      if (a.layout == name) return a;
    out_.alternatives.emplace_back().layout = name;
    return out_.alternatives.back();
  }

  Status force(Alternative& alternative) {
    if (alternative.forced) return {};
    std::vector<bool> allowed;
    for (uint32_t s = 0; s < count(); ++s)
      allowed.push_back(name_of(result(s)) == alternative.layout);
    solver::SolveOptions options = options_;
    options.deadline = options_.deadline.after_share(kShareOfForced);
    SHW_ASSIGN_OR_RETURN(const ConstrainedModel with_layout, asked_with(std::move(allowed)));
    const double limit = with_layout.memory_limit();
    auto placed = takes_fastest(model_) ? solve_within(with_layout, limit, options, monitor_)
                                        : try_place(with_layout, limit, options, monitor_);
    const Code code = placed.status().code();
    if (code == Code::kDeadlineExceeded || code == Code::kResourceExhausted)
      return {};  // its cost is unknown, but its floor is known
    Forced& forced = alternative.forced.emplace();
    if (placed.status().code() == Code::kFailedPrecondition) return {};
    SHW_RETURN_IF_ERROR(placed.status());
    forced = {true, placed->objective_us, placed->bound_us, placed->proven,
              text_of(node_, placed->choice[node_.v])};
    const bool is_plan = alternative.chosen && same(placed->objective_us, plan_.objective_us);
    if (is_plan) forced.strategy = out_.strategy;  // ties may be broken differently
    for (uint32_t i = 0; i < plan_.choice.size() && !is_plan; ++i)
      forced.changed_nodes += placed->choice[i] != plan_.choice[i];
    if (!takes_fastest(model_)) return {};
    SHW_ASSIGN_OR_RETURN(forced.step_us, is_plan ? out_.step_us : step_us_of(*placed));
    return {};
  }

  Result<double> step_us_of(const Placed& placed) const {
    if (placed.program != nullptr) return Exposure::of(*placed.program).step_us();
    SHW_ASSIGN_OR_RETURN(const Program program, program_of(model_, placed, monitor_));
    return Exposure::of(program).step_us();
  }

  // Forces layouts by increasing floor, until enough are known and no remaining floor is below the
  // second best.
  Status force_cheapest(uint32_t at_least) {
    double second = solver::kForbidden;
    for (size_t i = 0; i < out_.alternatives.size(); ++i) {
      Alternative& a = out_.alternatives[i];
      if (a.floor_us == solver::kForbidden) break;
      if (i >= at_least && a.floor_us >= second && !a.forced) continue;
      if (!options_.deadline.passed()) SHW_RETURN_IF_ERROR(force(a));
      if (!a.forced) {  // which one is second best is unknown
        out_.second_best.reset();
        break;
      }
      if (a.chosen || !a.forced->possible || a.forced->objective_us >= second) continue;
      second = a.forced->objective_us;
      out_.second_best = i;
    }
    return {};
  }

  const ConstrainedModel& asked_;
  const PreparedModel& model_;
  solver::SolveOptions options_;
  Monitor& monitor_;
  NodeId node_;
  size_t result_ = 0;  // the result in question
  Placed plan_;
  EdgeScales scales_;
  Explanation out_;
};

}  // namespace

Result<Explanation> explain(const ConstrainedModel& model, const ExplainRequest& request,
                            const solver::SolveOptions& options, Monitor& monitor) {
  return Explainer(model, options, monitor).run(request);
}

}  // namespace shw::answers
