#include "compiler/share_changes.h"

#include <algorithm>
#include <chrono>

#include "compiler/programs.h"
#include "compiler/within_limit.h"
#include "placement/share_versions.h"
#include "support/quiet.h"

namespace shw {
namespace {

constexpr int kRounds = 8;           // two are mostly enough
constexpr double kSamePrice = 1e-9;  // relative

double us_of(const NodeCost& cost) { return cost.compute_us + cost.comm_us; }

// Whether uses of a choice point may have a version in common. This needs two uses in layouts other
// than that of the choice point; or one, if the choice point's layout differs from that of its
// operand.
bool may_share(const Graph& graph, const Assignment& assignment) {
  std::vector<uint32_t> others(graph.num_nodes(), 0);
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    const NodeId n{i};
    const auto operands = graph.operands(n);
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].valid() && graph.op(operands[k]) == OpKind::kAlias &&
          assignment.operands(n)[k] != assignment.results(operands[k])[0])
        ++others[operands[k].v];
  }
  for (uint32_t i = 0; i < graph.num_nodes(); ++i) {
    if (others[i] == 0) continue;
    const NodeId behind = graph.operands(NodeId{i})[0];
    if (others[i] > 1 || assignment.results(behind)[0] != assignment.results(NodeId{i})[0])
      return true;
  }
  return false;
}

// The same placement at the prices of its program.
void take_prices(Placed priced, Placed& placed) {
  placed.costs = std::move(priced.costs);
  placed.total = priced.total;
  placed.objective_us = priced.objective_us;
  placed.shared = std::move(priced.shared);
  placed.bound_us = std::min(placed.bound_us, placed.objective_us);
  placed.proven = false;
}

Status improve(const ConstrainedModel& question, double limit_bytes,
               const solver::SolveOptions& options, Placed& placed, Monitor& monitor) {
  const PreparedModel& model = question.model();
  if (question.is_told_what_is_shared()) return {};
  const bool is_bounded = limit_bytes > 0;
  if (is_bounded && (placed.memory.binding > 0 || recomputes_within(model, limit_bytes))) return {};
  if (!model.shares_versions()) return {};
  if (!may_share(model.graph(), *placed.assignment)) return {};
  Monitor muted = quiet(monitor);  // these costs and bounds are below those reported so far
  solver::SolveOptions again = options;
  again.warm = nullptr;
  again.keep_warm = false;
  for (int round = 0;; ++round) {
    SharedVersions found;
    SHW_ASSIGN_OR_RETURN(Program program,
                         lowered_program(model, placed, Copies::kShared, monitor, &found));
    const auto shared = std::make_shared<const SharedVersions>(std::move(found));
    SHW_ASSIGN_OR_RETURN(Placed priced, model.price(placed.choice, shared));
    if (us_of(priced.total) >= us_of(placed.total) * (1 - kSamePrice)) {
      placed.lowered = std::make_shared<const Program>(std::move(program));
      return {};
    }
    const auto keep_placement = [&] {
      if (!is_bounded && labels_of(model.graph(), model.strategies(), *shared))
        take_prices(std::move(priced), placed);
      return Status();
    };
    if (round == kRounds) return keep_placement();
    const ConstrainedModel sharing = question.sharing_as(shared);
    auto next = sharing.solve(sharing.problem(), again, muted);
    if (!next.ok()) return is_unanswered(next.status()) ? keep_placement() : next.status();
    SHW_RETURN_IF_ERROR(complete(question, limit_bytes, *next, monitor));
    if (is_bounded && next->memory.held_bytes() > limit_bytes) return {};
    next->memory.rounds = placed.memory.rounds;
    next->stats = placed.stats;
    next->warm = std::move(placed.warm);
    placed = std::move(*next);
  }
}

}  // namespace

Status share_changes(const ConstrainedModel& question, double limit_bytes,
                     const solver::SolveOptions& options, Placed& placed, Monitor& monitor) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  const double before_s = placed.seconds;
  SHW_RETURN_IF_ERROR(improve(question, limit_bytes, options, placed, monitor));
  placed.seconds = before_s + std::chrono::duration<double>(Clock::now() - start).count();
  return {};
}

}  // namespace shw
