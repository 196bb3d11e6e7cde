// Runs sweeps sequentially, or for a large problem on two threads.
#include <cmath>
#include <thread>

#include "solver/parameters.h"
#include "solver/ready_nodes.h"
#include "solver/trws.h"

namespace shw::solver {
namespace {

using namespace parameters::trws;

constexpr uint64_t kCellsPerBatch = 1 << 17;  // between two polls
// Sums are compensated, so a bound can be too high by a few roundings per term.
constexpr double kTrwsRounding = 1e-14;

// Neumaier's compensated summation.
class CompensatedSum {
 public:
  void add(double x) {
    const double t = sum_ + x;
    low_ += std::abs(sum_) >= std::abs(x) ? (sum_ - t) + x : (x - t) + sum_;
    sum_ = t;
  }
  double value() const { return sum_ + low_; }

 private:
  double sum_ = 0, low_ = 0;
};

}  // namespace

// The sweep with the temporary memory of one thread.
TrwsSweep Trws::with_scratch(TrwsSweep sweep, Scratch& scratch) const {
  if (scratch.rows == nullptr) {
    scratch.rows = make_rows(size_t{3} * widest_, 0);
    scratch.table = make_rows(folded_cells_, 0);
    scratch.rounded = make_large_array<int16_t>(2 * widest_rounded_);
  }
  sweep.scratch = scratch.rows.get();
  sweep.table = scratch.table.get();
  sweep.rounded_scratch = scratch.rounded.get();
  return sweep;
}

uint64_t Trws::cells_of(const TrwsNode& node) const {
  uint64_t cells = node.stride;
  for (uint32_t a = node.first_arc; a < node.end_arc; ++a)
    cells += uint64_t{node.labels} * arcs_[a].other_stride / 2;
  return cells;
}

Status Trws::run_in_order(const TrwsSweep& shared, int64_t step) {
  const auto n = static_cast<int64_t>(nodes_.size());
  const TrwsSweep sweep = with_scratch(shared, scratch_[0]);
  const int64_t end = step > 0 ? n : -1;
  for (int64_t from = step > 0 ? 0 : n - 1; from != end;) {
    int64_t to = from;
    uint64_t cells = 0;
    for (; to != end && cells < kCellsPerBatch; to += step)
      cells += cells_of(nodes_[static_cast<size_t>(to)]);
    trws_run(sweep, from, to, step);
    SHW_RETURN_IF_ERROR(watch_.poll(cells));
    from = to;
  }
  return {};
}

Status Trws::run_on_threads(const TrwsSweep& shared, int64_t step) {
  ReadyNodes ready(nodes_, arcs_.data(), step);
  std::vector<TrwsSweep> sweeps;  // by thread
  for (Scratch& scratch : scratch_) sweeps.push_back(with_scratch(shared, scratch));
  Status polled;
  uint64_t all_cells = 0;
  for (const TrwsNode& node : nodes_) all_cells += cells_of(node);
  const auto caller = std::this_thread::get_id();
  std::atomic<uint32_t> threads = 0;
  shw::run_on_threads({kSweepThreads, watch_.threads().executor}, [&] {
    const TrwsSweep& sweep = sweeps[threads++];
    const bool polls = std::this_thread::get_id() == caller;
    uint32_t node = ReadyNodes::kNone;
    for (uint64_t cells = 0, waited = 0; !ready.is_over();) {
      if (node == ReadyNodes::kNone) node = ready.take();
      if (node == ReadyNodes::kNone) {
        if (++waited % kLooksPerTurn == 0) std::this_thread::yield();
        continue;
      }
      trws_run(sweep, node, node + step, step);
      cells += cells_of(nodes_[node]);
      node = ready.finish(node);
      if (!polls || cells < kCellsPerBatch) continue;
      cells = 0;
      polled = watch_.look();
      if (!polled.ok()) ready.stop();
    }
  });
  SHW_RETURN_IF_ERROR(polled);
  return watch_.poll(all_cells);
}

Result<double> Trws::run(int64_t step) {
  const TrwsSweep sweep{.nodes = nodes_.data(),
                        .arcs = arcs_.data(),
                        .choice = decoded_.data(),
                        .rounded = rounds_ ? rounded_.data() : nullptr,
                        .marginals = step < 0 ? marginals_.get() : nullptr,
                        .moved = moved_.get(),
                        .paid = paid_.get()};
  const bool is_shared = cells_ >= kSharedCells && watch_.threads().count() > 1;
  scratch_.resize(std::max<size_t>(scratch_.size(), is_shared ? kSweepThreads : 1));
  SHW_RETURN_IF_ERROR(is_shared ? run_on_threads(sweep, step) : run_in_order(sweep, step));
  decode_folds();
  const auto [bound, cost] = sums_of(sweep, step);
  if (cost < cost_) {
    cost_ = cost;
    last_choice(choice_);
  }
  return bound - kTrwsRounding * std::abs(bound);
}

// Sums in the order of the sweep, so that they do not depend on threads.
Trws::Sums Trws::sums_of(const TrwsSweep& sweep, int64_t step) const {
  CompensatedSum bound;
  double cost = 0;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const size_t q = step > 0 ? i : nodes_.size() - 1 - i;
    const TrwsNode& node = nodes_[q];
    const auto [first, end] = node.to_come(step);
    const double* moved = sweep.moved + sweep.first_slot(q);
    bound.add(*moved++);
    for (uint32_t a = first; a < end; ++a) bound.add(moved[a - node.first_arc]);
    cost += sweep.paid[q];
  }
  return {bound.value(), cost};
}

Status Trws::sweep() {
  SHW_RETURN_IF_ERROR(build_status_);
  SHW_ASSIGN_OR_RETURN(marginal_bound_, run(1));
  SHW_ASSIGN_OR_RETURN(const double back, run(-1));
  bound_ = std::max({bound_, marginal_bound_, back});
  return {};
}

Status Trws::sweep_rounded() {
  SHW_RETURN_IF_ERROR(build_status_);
  if (rounded_.empty()) SHW_RETURN_IF_ERROR(round_tables());
  rounds_ = true;
  Status status = sweep();
  rounds_ = false;
  return status;
}

}  // namespace shw::solver
