#include "report/reasons.h"

#include <algorithm>
#include <cmath>

#include "plan/module_tree.h"
#include "solver/certificate.h"
#include "solver/floors.h"
#include "support/format.h"

namespace shw::report {
namespace {

constexpr uint32_t kCertificateSweeps = 512;
constexpr size_t kMaxExact = 32;  // parameters
// Limit on the labels swept for exact prices, estimated from the work of the plan's own solve for
// each parameter. It is a count, so that every machine writes the same report.
constexpr uint64_t kMaxSwept = 32'000'000;
constexpr double kSameObjective = 1e-9;  // relative

class Finder {
 public:
  Finder(const ConstrainedModel& asked, const Placed& placed)
      : asked_(asked.sharing_as(placed.shared)), model_(asked.model()), placed_(placed) {}

  void find_operands(Reasons& out) {
    out.operands.resize(graph().num_nodes());
    for (uint32_t i = 0; i < graph().num_nodes(); ++i) {
      const auto operands = graph().operands(NodeId{i});
      for (uint32_t k = 0; k < operands.size(); ++k) {
        if (!operands[k].valid()) continue;
        answers::EdgePrice edge = answers::edge_price(model_, placed_, NodeId{i}, k);
        out.operands[i].push_back(
            {operands[k].v, std::move(edge.from), std::move(edge.to), edge.comm_us});
      }
    }
  }

  Status find_alternatives(Reasons& out, const solver::SolveOptions& options, Monitor& monitor) {
    const solver::PlacementProblem problem = asked_.problem_within(asked_.memory_limit());
    std::vector<solver::BudgetPrice> prices = placed_.prices;
    std::erase_if(prices,
                  [&](const auto& p) { return p.budget >= problem.budget_limits().size(); });
    SHW_ASSIGN_OR_RETURN(
        const solver::Certificate certificate,
        solver::certify(problem, prices, kCertificateSweeps, monitor, options.deadline));
    out.certified_us = certificate.bound;
    SHW_ASSIGN_OR_RETURN(const std::vector<double> floors,
                         solver::all_label_floors(problem, certificate, monitor));
    out.alternatives.resize(graph().num_nodes());
    for (uint32_t i = 0; i < graph().num_nodes(); ++i)
      out.alternatives[i] = alternatives_of(NodeId{i}, floors.data() + problem.first_label(i));
    return {};
  }

 private:
  const Graph& graph() const { return model_.graph(); }

  // Keeps the lowest floor of each layout, and the layouts by floor.
  static void insert(std::vector<Reasons::Alternative>& found, std::string layout, double floor) {
    size_t at = 0;
    while (at < found.size() && found[at].layout != layout) ++at;
    if (at == found.size())
      found.push_back({std::move(layout), floor});
    else
      found[at].floor_us = std::min(found[at].floor_us, floor);
    for (; at > 0 && found[at].floor_us < found[at - 1].floor_us; --at)
      std::swap(found[at], found[at - 1]);
  }

  // Alternatives for the node's first tensor; none if it has no tensor result.
  std::vector<Reasons::Alternative> alternatives_of(NodeId n, const double* floors) const {
    const StrategySet& set = model_.strategies().of(n);
    std::vector<Reasons::Alternative> found;
    size_t result = 0;
    while (result < set.results.size() && !set.results[result].valid()) ++result;
    if (result == set.results.size()) return found;
    for (uint32_t s = 0; s < set.count; ++s) {
      Layout layout = model_.strategies().result_layout(n, result, s);
      layout.order = Layout{}.order;
      std::string name = to_string(layout, model_.mesh().rank());
      insert(found, std::move(name), floors[s]);
    }
    return found;
  }

  const ConstrainedModel asked_;  // at the prices of the plan
  const PreparedModel& model_;
  const Placed& placed_;
};

size_t exact_parameters(const solver::SolveStats& plan) {
  if (plan.branch_nodes > 0) return 0;
  return std::min<uint64_t>(kMaxExact, kMaxSwept / (1 + plan.sweeps * plan.labels));
}

// The first of each set of parameters with the same layout whose names differ only in numbers.
std::vector<std::string> parameters_of_each_kind(const Program& program, size_t at_most) {
  std::vector<std::string> names, seen;
  for (const Port& port : program.ports) {
    if (port.role != PortRole::kParameter || !port.value.valid()) continue;
    const std::string kind = module_pattern(port.name) + ' ' +
                             to_string(port.layout, static_cast<int>(program.mesh.size()));
    if (names.size() == at_most || std::ranges::find(seen, kind) != seen.end()) continue;
    seen.push_back(kind);
    names.push_back(port.name);
  }
  return names;
}

}  // namespace

Result<Reasons> reasons(const ConstrainedModel& model, const Placed& placed, const Plan& plan,
                        const solver::SolveOptions& options, Monitor& monitor) {
  if (placed.choice.size() != plan.summary.decisions.size() ||
      std::abs(placed.objective_us - plan.summary.objective_us) >
          kSameObjective * plan.summary.objective_us)
    return Status(
        Code::kFailedPrecondition,
        format("the planner's answer is another plan: it costs %.3f µs, and this one %.3f; "
               "give the graph, the options and the changes that it was made with",
               placed.objective_us, plan.summary.objective_us));
  Reasons out;
  Finder finder(model, placed);
  finder.find_operands(out);
  SHW_RETURN_IF_ERROR(finder.find_alternatives(out, options, monitor));
  if (!placed.proven || model.memory_limit() != 0) return out;
  for (const std::string& name :
       parameters_of_each_kind(plan.program, exact_parameters(placed.stats))) {
    auto explanation = answers::explain(model, {.node = name}, options, monitor);
    if (explanation.status().code() == Code::kDeadlineExceeded) break;
    SHW_RETURN_IF_ERROR(explanation.status());
    if (!explanation->proven) break;  // out of time: it may explain another plan
    out.exact.push_back({name, std::move(*explanation)});
  }
  return out;
}

}  // namespace shw::report
