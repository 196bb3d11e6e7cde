// The order of one entry's steps in which each collective starts as late as it can without delaying
// a reader, given when compute steps begin.
//
// The order of compute steps stays. Each collective is placed in front of one of them. The same
// holds for copies to and from host memory. Copies that only prepare or unpack the collective's
// buffer move with it, and so do steps that only cast a parameter for it.
//   - A collective whose result is no larger than its operand (a reduce-scatter), and that does not
//     repeat an earlier one, starts as soon as its operand is ready: that frees memory if nothing
//     else reads the operand later. If memory is to be saved (Lead::frees), such a collective
//     starts early only if it is the last to read its operand, and then after the other readers. A
//     copy to host memory starts as soon as it can.
//   - All other collectives would only hold memory until their first reader. Their starts are
//     computed backwards from the end of the entry: each collective ends when its first reader
//     begins, or when the next collective of its communicator starts, whichever is earlier. So
//     collectives that queue on one communicator all start early enough.
//   - A step that finishes a result, such as the cast of a reduced gradient, is placed where its
//     collective has ended: only outputs depend on it, so compute need not wait for it.
//   - Lead bounds how early a collective may start.
#pragma once
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "passes/dependencies.h"
#include "plan/program.h"
#include "simulate/simulate.h"

namespace shw {

// How early a collective may start.
struct Lead {
  uint32_t depth = 0;  // compute steps between it and its first reader, at most
  // For gathers of parameters: how much earlier than needed they start, in multiples of the mean
  // duration of a collective. They may have to wait for a collective on their communicator, which
  // cannot be interrupted.
  double slack = 0;
  // Only a collective that frees its operand starts early.
  bool frees = false;
  // Whatever the limit, no other collective starts before one at its place that frees memory.
  bool waits = false;

  bool operator==(const Lead&) const = default;
};

class EntrySchedule {
 public:
  // `finish_late`: steps that finish a result may move; otherwise they stay where they are, which
  // may need less memory. `limit_bytes`: the limit on scratch; a step that could wait does not
  // start where it would exceed the limit.
  EntrySchedule(const Program& program, const ProgramEntry& entry, int64_t limit_bytes,
                bool finish_late);

  // Whether the step may move and depends only on parameters or host memory, so that it can end
  // before its reader needs it.
  bool is_prefetchable(uint32_t step) const { return prefetchable_[step]; }
  // Whether every step that depends on it, if any, may move and finishes a result.
  bool only_finishes(uint32_t step) const;

  // Whether the step may move and finishes a result.
  bool finishes(uint32_t step) const { return finishes_[step]; }
  // Whether Lead::frees makes a difference.
  bool frees_less() const { return early_[0] != early_[1]; }
  // The dependencies of the steps in their order at construction.
  const Dependencies& needs() const { return needs_; }
  double us(uint32_t step) const { return us_[step]; }
  // Whether the step runs on a link: a collective, or a copy to or from host memory.
  bool is_collective(uint32_t step) const { return queue_[step] != kNoQueue; }
  uint32_t queue(uint32_t collective) const { return queue_[collective]; }
  uint32_t num_queues() const { return num_queues_; }
  double mean_collective_us() const { return mean_us_; }
  int64_t makes_bytes(uint32_t step) const { return makes_bytes_[step]; }  // of scratch
  bool moves(uint32_t step) const { return movable_[step]; }
  // Whether the step depends on parameters only.
  bool is_of_parameters(uint32_t step) const { return of_parameters_[step]; }

  bool finishes_any() const { return std::ranges::find(finishes_, 1) != finishes_.end(); }

  // An order of the steps: by place, the number of the step at construction, from 0.
  using Order = std::vector<uint32_t>;
  // `starts`: when each step would begin; only those of compute steps are used. Steps that finish a
  // result go to the end of the entry; finish() then finds their places.
  Order place(std::span<const double> starts, const Lead& lead) const;
  // The same order, with the steps that finish results moved to where their operands are ready.
  // `as_placed`: the simulation of `order`; `depth`: by how many compute steps they may be delayed
  // further, to run where compute is idle anyway.
  Order finish(const Order& order, const Simulation& as_placed, uint32_t depth) const;

 private:
  struct Times;
  void find_finishing(const Program& program, const ProgramEntry& entry, bool finish_late);
  void find_movable(const Program& program, const ProgramEntry& entry);
  void find_others(const Program& program, const ProgramEntry& entry);
  void find_early(const Program& program, const ProgramEntry& entry, bool frees);
  void count_live(const Program& program, const ProgramEntry& entry);
  bool frees(uint32_t step, const Lead& lead) const {
    return lead.frees && early_[1][step] && !unpacks_[step];
  }
  void find_latest(Times& times, const Lead& lead) const;
  void find_anchors(Times& times, const Lead& lead) const;
  Order with_finishing_at(const Order& order, const std::vector<uint32_t>& places) const;
  uint32_t with_room(uint32_t step, uint32_t anchor, int64_t limit_bytes, LiveBytes& live) const;

  // The other steps that touch a step's operands.
  struct Others {
    bool frees = true;         // nobody after it and what moves with it to prepare its operands
    uint32_t compute_end = 0;  // before it: compute steps in front of this number at most,
    uint32_t moving = 0;       // and step moving − 1 the last of those that move; 0: none
  };

  static constexpr uint32_t kNoQueue = UINT32_MAX;
  const uint32_t count_;
  const Dependencies needs_;
  const int64_t limit_bytes_;
  // By step.
  std::vector<double> us_;
  std::vector<uint32_t> queue_;         // of its link; kNoQueue: a compute step
  std::vector<uint8_t> of_parameters_;  // depends only on parameters
  std::vector<uint8_t> finishes_;  // moves; no collective, and behind one; only outputs come after
  std::vector<uint8_t> movable_, unpacks_, prefetchable_;
  std::vector<uint8_t> early_[2];  // by Lead::frees
  std::vector<Others> others_;
  std::vector<uint32_t> compute_before_;  // number of steps in front of it that do not move
  std::vector<int64_t> makes_bytes_;      // of scratch
  uint32_t num_queues_ = 0;
  double mean_us_ = 0;  // of collectives
  LiveBytes live_;      // by compute step, if nothing moved
};

}  // namespace shw
