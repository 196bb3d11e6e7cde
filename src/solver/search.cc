#include "solver/search.h"

#include <algorithm>

#include "solver/decode.h"

namespace shw::solver {
namespace {

// Sweeps have stalled when, over this many, the bound rose by less than this part of the gap.
constexpr uint32_t kStallSweeps = 12;
constexpr double kStallShare = 0.02;

std::shared_ptr<Stage> make_stage(Presolved&& presolved, double constant) {
  auto stage = std::make_shared<Stage>();
  stage->problem = std::move(presolved.problem);
  stage->constant = constant + presolved.constant;
  stage->undo = std::move(presolved.undo);
  return stage;
}

bool is_power_of_two(uint32_t n) { return (n & (n - 1)) == 0; }

}  // namespace

Status Search::raise_bound(double bound) {
  bound_ = std::min(std::max(bound_, bound), cost_);
  return watch_.report(cost_, bound_);
}

Result<std::shared_ptr<const Stage>> Search::root_stage() {
  SHW_ASSIGN_OR_RETURN(Presolved presolved, presolve(root_, {}, {}, watch_));
  return std::shared_ptr<const Stage>(make_stage(std::move(presolved), 0));
}

Result<std::shared_ptr<const Stage>> Search::restrict(
    std::shared_ptr<const Stage> parent, std::shared_ptr<const PlacementProblem> source,
    std::span<const uint8_t> keep) {
  SHW_ASSIGN_OR_RETURN(Presolved presolved, presolve(*source, keep, {}, watch_));
  auto stage = make_stage(std::move(presolved), parent->constant);
  stage->parent = std::move(parent);
  stage->source = std::move(source);
  return std::shared_ptr<const Stage>(std::move(stage));
}

void Search::offer(const Stage& stage, std::span<const uint32_t> choice) {
  std::vector<uint32_t> lifted(choice.begin(), choice.end());
  for (const Stage* s = &stage; s != nullptr; s = s->parent.get()) lifted = s->undo.expand(lifted);
  const double cost = evaluate(root_, lifted);
  if (cost >= cost_) return;
  cost_ = cost;
  choice_ = std::move(lifted);
  bound_ = std::min(bound_, cost_);  // they can differ by rounding
}

Status Search::tighten(const Stage& stage, Trws& trws, uint32_t max_sweeps, bool is_root) {
  // What the sweeps find is taken to the root problem, and judged, once they are over.
  const auto finish = [&] {
    if (stage.constant + trws.cost() < cost_) offer(stage, trws.choice());
    return is_root ? raise_bound(stage.constant + trws.bound()) : Status();
  };
  double stall_bound = -kForbidden;
  for (uint32_t sweep = 1; sweep <= max_sweeps; ++sweep) {
    SHW_RETURN_IF_ERROR(trws.sweep());
    ++stats_.sweeps;
    if (trws.cost() == kForbidden && is_power_of_two(sweep) && sweep > 1) {
      const PlacementProblem look_ahead = trws.reparametrized();
      SHW_ASSIGN_OR_RETURN(std::vector<uint32_t> found,
                           decode_with_propagation(look_ahead, watch_));
      if (!found.empty()) {
        improve_by_coordinates(look_ahead, found);
        trws.offer(found, evaluate(stage.problem, found));
      }
    }
    const double cost = std::min(cost_, stage.constant + trws.cost());
    const double bound = stage.constant + trws.bound();
    if (bound >= cutoff(cost) || watch_.expired()) return finish();
    if (is_root) SHW_RETURN_IF_ERROR(watch_.report(cost, bound));
    if (sweep % kStallSweeps == 0) {
      const double gap = cost == kForbidden ? std::abs(bound) : cost - bound;
      if (bound - stall_bound < kStallShare * gap) return finish();
      stall_bound = bound;
    }
  }
  return finish();
}

}  // namespace shw::solver
