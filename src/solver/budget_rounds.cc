// Branch and bound with budgets on several open parts at a time, in rounds.
//
// In a round each lane has one part. It processes that part with the incumbent from the start of
// the round and continues depth first until it has done a fixed amount of work. Then the lanes'
// results are merged in lane order. Threads take lanes as they become free, so the number of
// threads affects the time of a round and nothing else.
#include <atomic>
#include <mutex>
#include <thread>

#include "solver/budget_close.h"
#include "solver/parameters.h"
#include "support/parallel.h"

namespace shw::solver {
namespace {

using namespace parameters::budget_rounds;

}  // namespace

struct BudgetCloser::Lane {
  std::optional<OpenPart> part;  // the part to continue with
  // Valid for one round.
  uint64_t max_nodes = 0;
  Monitor monitor;
  std::optional<Watch> watch;
  std::optional<Search> own;
  std::optional<BudgetCloser> closer;
};

// Half of the lanes take the parts with the lowest bounds, which determine the overall bound. The
// others start at the opposite end, to avoid duplicated work.
void BudgetCloser::assign(std::span<Lane> lanes) {
  const uint64_t left = search_.options().max_branch_nodes - search_.stats().branch_nodes;
  for (size_t i = 0; i < lanes.size(); ++i) {
    Lane& lane = lanes[i];
    if (lane.part && open_.prune(lane.part->bound)) lane.part.reset();
    while (!lane.part && !open_.empty()) {
      OpenPart next = i % 2 == 0 ? take_next() : open_.take_highest();
      if (!open_.prune(next.bound)) lane.part = std::move(next);
    }
    lane.max_nodes = left / lanes.size() + (i < left % lanes.size() ? 1 : 0);
  }
}

Status BudgetCloser::descend(Lane& lane) {
  BudgetCloser& closer = *lane.closer;
  while (lane.part && lane.watch->cells() < kCellsPerRound && !lane.watch->expired() &&
         lane.own->stats().branch_nodes < lane.max_nodes) {
    const OpenPart next = *std::exchange(lane.part, std::nullopt);
    if (closer.open_.prune(next.bound)) return {};
    ++lane.own->stats().branch_nodes;
    SHW_RETURN_IF_ERROR(closer.enter(next));
    if (std::exchange(closer.descending_, false)) lane.part = closer.open_.take_last();
  }
  return {};
}

Status BudgetCloser::run_round(std::span<Lane> lanes) {
  std::atomic<bool> stop = false;
  std::mutex mutex;
  Status failure;  // the first
  const auto caller = std::this_thread::get_id();
  const SolveOptions& options = search_.options();
  parallel_for({options.threads, options.tasks}, lanes.size(), [&] {
    return [&](size_t i) {
      Lane& lane = lanes[i];
      if (!lane.part || stop) return;
      lane.watch.emplace(lane.monitor, search_.watch(), stop);
      lane.own.emplace(search_.fork(*lane.watch));
      lane.closer.emplace(*lane.own, root_);
      lane.closer->classes_ = classes_;
      Status status = descend(lane);
      if (status.ok() && std::this_thread::get_id() == caller)
        status = search_.watch().report(search_.cost(), search_.bound());
      if (status.ok()) return;
      const std::lock_guard lock(mutex);
      if (!stop.exchange(true)) failure = std::move(status);
    };
  });
  return failure;
}

void BudgetCloser::merge(Lane& lane) {
  if (!lane.closer) return;
  search_.adopt(*lane.own);
  search_.stats().sweeps += lane.own->stats().sweeps;
  search_.stats().branch_nodes += lane.own->stats().branch_nodes;
  lane_cells_ += lane.watch->cells();
  open_.take_over(lane.closer->open_);
  lane.closer.reset();
  lane.own.reset();
  lane.watch.reset();
}

Status BudgetCloser::branch_in_rounds() {
  std::vector<Lane> lanes(kParts);
  const auto has_part = [](const Lane& lane) { return lane.part.has_value(); };
  while (!stopped()) {
    assign(lanes);
    if (std::ranges::none_of(lanes, has_part)) break;
    SHW_RETURN_IF_ERROR(run_round(lanes));
    double bound = kForbidden;
    for (Lane& lane : lanes) {
      merge(lane);
      if (lane.part) bound = std::min(bound, lane.part->bound);
    }
    SHW_RETURN_IF_ERROR(improve(search_.bound(), kCellsPerRound));
    SHW_RETURN_IF_ERROR(search_.raise_bound(std::min(open_.bound(), bound)));
  }
  for (Lane& lane : lanes)
    if (lane.part) open_.add(*std::exchange(lane.part, std::nullopt));
  return {};
}

}  // namespace shw::solver
