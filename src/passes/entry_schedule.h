// The order of one entry's steps in which each collective starts as late as it can without delaying
// a reader, given when compute steps begin.
//
// The order of compute steps stays. A collective stands in front of one of them, and so does a copy
// to or from host memory, of which the same holds. Copies that only prepare or unpack its buffer
// move with it, and so do steps that only cast a parameter for it.
//   - What does not make tensors larger (a reduce-scatter), and was not done before, starts as soon
//     as its operand is ready: that frees memory if nothing else reads the operand later. If it is
//     to hold as little as possible (Lead::frees), only what is the last to read its operand starts
//     early, behind all others that do. A copy to host memory starts as soon as it can.
//   - Everything else would only hold memory before its first reader. Its start is found from the
//     end of the entry: each collective ends when its first reader begins, or when the next
//     collective of its communicator starts, whichever is earlier. So collectives that queue on one
//     communicator all start early enough.
//   - What finishes a result, such as the cast of a reduced gradient, stands where its collective
//     is over: nothing but outputs needs it, so compute does not wait for it.
//   - Bounds on the lead: see Lead.
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
  // For gathers of parameters: so many times the mean collective earlier than needed, because a
  // collective that has begun on their communicator is not interrupted.
  double slack = 0;
  // Only what frees its operand starts early.
  bool frees = false;
  // Nothing else starts before what frees memory at its place, whatever the limit.
  bool waits = false;

  bool operator==(const Lead&) const = default;
};

class EntrySchedule {
 public:
  // The steps of the entry as they stand. `finish_late`: steps that finish a result move; else they
  // stay where they are, which may take less memory.
  // `limit_bytes`: of scratch; nothing that could wait starts where it would exceed it.
  EntrySchedule(const Program& program, const ProgramEntry& entry, int64_t limit_bytes,
                bool finish_late);

  // Whether the step moves and depends on parameters, or on host memory, alone, so that it can be
  // over in time.
  bool is_prefetchable(uint32_t step) const { return prefetchable_[step]; }
  // Whether only steps that move and finish a result need it, or none does.
  bool only_finishes(uint32_t step) const;

  // Whether the step moves and finishes a result.
  bool finishes(uint32_t step) const { return finishes_[step]; }
  // Whether Lead::frees makes a difference.
  bool frees_less() const { return early_[0] != early_[1]; }
  // Of the steps as they stood at construction.
  const Dependencies& needs() const { return needs_; }
  double us(uint32_t step) const { return us_[step]; }
  // Whether a link does the step: a collective, or a copy to or from host memory.
  bool is_collective(uint32_t step) const { return queue_[step] != kNoQueue; }
  uint32_t queue(uint32_t collective) const { return queue_[collective]; }
  uint32_t num_queues() const { return num_queues_; }
  double mean_collective_us() const { return mean_us_; }
  int64_t makes_bytes(uint32_t step) const { return makes_bytes_[step]; }  // of scratch
  bool moves(uint32_t step) const { return movable_[step]; }
  // Whether the step depends on parameters alone.
  bool is_of_parameters(uint32_t step) const { return of_parameters_[step]; }

  bool finishes_any() const { return std::ranges::find(finishes_, 1) != finishes_.end(); }

  // An order: by place, the number that the step had at construction, from 0.
  using Order = std::vector<uint32_t>;
  // `starts`: when each step would begin; those of compute steps count. Steps that finish a result
  // go to the end of the entry, until finish() finds their places.
  Order place(std::span<const double> starts, const Lead& lead) const;
  // The same order, with the steps that finish results where their operands are there.
  // `as_placed`: of that order; `depth`: compute steps that they may be later, to run where compute
  // stands still anyway.
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

  // Who touches a step's operands beside it.
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
  std::vector<uint32_t> queue_;         // of its link; kNoQueue: compute does it
  std::vector<uint8_t> of_parameters_;  // depends on nothing else
  std::vector<uint8_t> finishes_;  // moves; no collective, and behind one; only outputs come after
  std::vector<uint8_t> movable_, unpacks_, prefetchable_;
  std::vector<uint8_t> early_[2];  // by Lead::frees
  std::vector<Others> others_;
  std::vector<uint32_t> compute_before_;  // of the steps in front of it: those that do not move
  std::vector<int64_t> makes_bytes_;      // of scratch
  uint32_t num_queues_ = 0;
  double mean_us_ = 0;  // of collectives
  LiveBytes live_;      // by compute step, if nothing moved
};

}  // namespace shw
