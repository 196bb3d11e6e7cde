#include "answers/ranges.h"

#include <algorithm>
#include <cmath>

#include "compiler/place.h"
#include "placement/share_versions.h"
#include "support/quiet.h"

namespace shw::answers {
namespace {

constexpr double kSame = 1e-9;        // relative; the precision of the solver's proofs
constexpr double kMemoryStep = 1e-3;  // of the limit: the precision of the range's end
constexpr double kStride = 4;         // between factors, until a better plan is found
constexpr int kMaxSteps = 64;
constexpr uint64_t kMaxBranchNodes = 200;  // budgets can make distant problems hard

bool cheaper(double a, double b) { return a < b - kSame * std::abs(b); }

// The price of an edge is either zero or communication plus a transition of 1; forbidden prices
// stay forbidden.
double scaled(double price, double factor) {
  if (price == 0 || price == solver::kForbidden) return price;
  return (price - 1) * factor + 1;
}

solver::PlacementProblem with_communication(const solver::PlacementProblem& p, double factor) {
  solver::PlacementProblem out;
  for (uint32_t v = 0; v < p.num_variables(); ++v) out.add_variable(p.unary(v));
  std::vector<uint32_t> matrix;
  for (uint32_t m = 0; m < p.matrices().size(); ++m) {
    const auto& [rows, cols, costs] = p.matrices()[m];
    const auto room = out.room_for_matrix(rows, cols);
    std::transform(costs, costs + size_t{rows} * cols, room.begin(),
                   [&](double price) { return scaled(price, factor); });
    matrix.push_back(out.add_filled_matrix());
  }
  for (const auto& e : p.edges()) out.add_edge(e.a, e.b, matrix[e.matrix], e.transposed != 0);
  for (const double limit : p.budget_limits()) out.add_budget(limit);
  for (const auto& u : p.usages())
    out.add_usage(u.budget, u.variable, u.first, u.end, p.usage_of(u));
  return out;
}

solver::SolveOptions few_branches(solver::SolveOptions options) {
  options.max_branch_nodes = std::min(options.max_branch_nodes, kMaxBranchNodes);
  return options;
}

// The cost of a choice as a function of the factor.
struct Line {
  double at_zero, slope;
  double at(double factor) const { return at_zero + factor * slope; }
};

class Search {
 public:
  // `choice`: the plan's labels of all variables.
  Search(const PreparedModel& model, const Placed& plan, solver::PlacementProblem problem,
         std::vector<uint32_t> choice, const solver::SolveOptions& options, Monitor& monitor)
      : model_(model),
        plan_(plan),
        problem_(std::move(problem)),
        free_(with_communication(problem_, 0)),
        choice_(std::move(choice)),
        options_(few_branches(options)),
        monitor_(monitor) {}

  // The end of the range in the direction of `step`, up to `last`; sets `rival` if the end is
  // nearer.
  Result<double> end_towards(double step, double last, std::optional<Rival>& rival, bool& exact) {
    const Line mine = line_of(choice_);
    double factor = step;
    for (int i = 0; i < kMaxSteps; ++i) {
      SHW_RETURN_IF_ERROR(monitor_.report({.phase = "solve"}));
      Monitor muted = quiet(monitor_);
      if (options_.deadline.passed()) break;
      auto solved = solver::solve(with_communication(problem_, factor), options_, muted);
      if (solved.status().code() == Code::kDeadlineExceeded) break;
      SHW_RETURN_IF_ERROR(solved.status());
      const solver::Solution& best = *solved;
      if (cheaper(best.cost, mine.at(factor))) {
        SHW_ASSIGN_OR_RETURN(rival, rival_of(best.choice));
        const Line other = line_of(best.choice);
        const double meet = (other.at_zero - mine.at_zero) / (mine.slope - other.slope);
        // Lies between the plan's own factor and this one, up to rounding.
        factor = std::clamp(meet, std::min(factor, 1.0), std::max(factor, 1.0));
        continue;
      }
      exact &= best.proven || !cheaper(best.bound, mine.at(factor));
      if (rival || factor == last) return factor;
      factor *= step;
      if (step < 1 ? factor < 1 / kMaxFactor : factor > last) factor = last;
    }
    exact = false;
    return factor;
  }

 private:
  Line line_of(std::span<const uint32_t> choice) const {
    const double at_zero = solver::evaluate(free_, choice);
    return {at_zero, solver::evaluate(problem_, choice) - at_zero};
  }

  Result<Rival> rival_of(std::vector<uint32_t> choice) const {
    std::shared_ptr<const SharedVersions> shared;
    const size_t nodes = plan_.choice.size();
    if (plan_.shared != nullptr)
      shared = std::make_shared<const SharedVersions>(with_labels(
          model_.graph(), model_.strategies(), *plan_.shared, std::span(choice).subspan(nodes)));
    choice.resize(nodes);
    SHW_ASSIGN_OR_RETURN(const Placed placed, model_.price(std::move(choice), std::move(shared)));
    Rival rival{placed.total.compute_us, placed.total.comm_us, placed.total.transition_us};
    for (size_t i = 0; i < nodes; ++i) rival.changed_nodes += placed.choice[i] != choice_[i];
    return rival;
  }

  const PreparedModel& model_;
  const Placed& plan_;
  const solver::PlacementProblem problem_;
  const solver::PlacementProblem free_;  // the problem with free communication
  const std::vector<uint32_t> choice_;
  const solver::SolveOptions options_;
  Monitor& monitor_;
};

}  // namespace

Result<CommunicationRange> communication_range(const ConstrainedModel& model, const Placed& plan,
                                               const solver::SolveOptions& options,
                                               Monitor& monitor) {
  CommunicationRange range;
  const double limit = model.memory_limit();
  std::vector<uint32_t> choice = plan.choice;
  if (plan.shared != nullptr) {
    const auto versions =
        labels_of(model.model().graph(), model.model().strategies(), *plan.shared);
    SHW_CHECK(versions.has_value());  // otherwise the plan's prices would lack them
    choice.insert(choice.end(), versions->begin(), versions->end());
  }
  Search search(model.model(), plan, model.sharing_as(plan.shared).problem_within(limit),
                std::move(choice), options, monitor);
  SHW_ASSIGN_OR_RETURN(range.from, search.end_towards(1 / kStride, 0, range.below, range.exact));
  SHW_ASSIGN_OR_RETURN(range.to, search.end_towards(kStride, kMaxFactor, range.above, range.exact));
  return range;
}

Result<MemoryRange> memory_range(const ConstrainedModel& model, const Placed& plan,
                                 const solver::SolveOptions& options, Monitor& monitor) {
  MemoryRange range;
  range.from_bytes = plan.memory.held_bytes();
  range.to_at_least_bytes = range.to_below_bytes = HUGE_VAL;
  if (model.memory_limit() == 0) return range;
  const ConstrainedModel priced = model.sharing_as(plan.shared);
  double asked = 0;
  Monitor muted = quiet(monitor);
  double low = model.memory_limit();
  double high = HUGE_VAL;
  for (int step = 0; step < kMaxSteps; ++step) {
    auto placed = options.deadline.passed()
                      ? Result<Placed>(Status(Code::kDeadlineExceeded, ""))
                      : try_place(priced, asked, few_branches(options), muted);
    if (placed.status().code() == Code::kDeadlineExceeded) {
      range.exact = false;
      break;
    }
    SHW_RETURN_IF_ERROR(placed.status());
    const Placed& other = *placed;
    const bool beaten = cheaper(other.objective_us, plan.objective_us);
    range.exact &= beaten || other.proven || !cheaper(other.bound_us, plan.objective_us);
    if (beaten)
      high = asked == 0 ? other.memory.peak_bytes : asked;
    else if (asked == 0)
      return range;
    else
      low = asked;
    if (high - low <= kMemoryStep * low) break;
    asked = std::floor((low + high) / 2);
  }
  range.to_at_least_bytes = low;
  range.to_below_bytes = high;
  return range;
}

}  // namespace shw::answers
