// The efficient choices of what to repeat, from the one that frees the least memory to the one that
// frees the most, and a lower bound on the repeated time of any choice.
//
// A minimum cut (cut.h) minimises the sum of kept bytes and repeated time, each at its price. As
// the price of memory rises, the cut of a block repeats more. Between two neighbouring cuts the
// blocks switch from one cut to the other one at a time. The first blocks switch first, since what
// they keep is held longest. So there are choices for every amount of memory, not only at the
// corners of the curve. Within a block, parts that are independent of each other can switch
// separately. At the price where both cuts cost the same, each part costs the same in both, so all
// these choices lie on the curve.
#pragma once
#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "recompute/joint.h"
#include "recompute/rules.h"
#include "support/monitor.h"

namespace shw {

class Frontier {
 public:
  // `joint` must outlive it.
  static Result<Frontier> of(const Joint& joint, const Graph& graph, Monitor& monitor);

  // Choice 0 repeats the least.
  uint32_t num_choices() const { return static_cast<uint32_t>(changes_.size()) + 1; }
  // The choices at the corners of the curve, where all blocks use the same cut, by falling bytes.
  const std::vector<uint32_t>& corners() const { return corners_; }
  // The number of independent parts of the change from choice k to the next one.
  uint32_t num_parts(uint32_t k) const { return static_cast<uint32_t>(changes_[k].size()); }
  // By storage: whether choice k computes it again, after the first `parts` parts of the change to
  // the next choice.
  std::vector<uint8_t> choice(uint32_t k, uint32_t parts = 0) const;

  struct Cost {
    int64_t kept_bytes = 0;  // from the forward to the backward half
    double us = 0;           // of repetitions; gathers of parameters count as the rules charge them
  };
  Cost cost_of(const std::vector<uint8_t>& again) const;
  // A lower bound on the repeated time of every choice, listed here or not, that keeps at most
  // `kept_bytes`. It is the Lagrangian bound: exact at the corners of the curve, and linear between
  // two of them.
  double least_us(int64_t kept_bytes) const;

 private:
  struct Cut {
    std::vector<uint8_t> again;
    Cost cost;
  };
  struct Line {  // every choice has kept bytes + bytes_per_us × time ≥ least
    double bytes_per_us, least;
  };
  // Storages of a block that one of two neighbouring cuts repeats and the other does not.
  using Part = std::vector<StorageId>;
  using Change = std::vector<Part>;

  Frontier(const Joint& joint, std::vector<StepRule> rules)
      : joint_(&joint), rules_(std::move(rules)) {}
  Cut cut_at(double bytes_per_us);
  Status find_cuts(Monitor& monitor);
  void find_changes();
  Change parts_of(const std::vector<StorageId>& of_block) const;
  int32_t block_of(StorageId s) const { return rules_[joint_->writer(s)].block; }

  const Joint* joint_;
  std::vector<StepRule> rules_;  // by step; prices by kAutoBytesPerUs
  std::vector<Cut> cuts_;        // by falling bytes
  std::vector<Line> lines_;
  std::vector<Change> changes_;
  std::vector<uint32_t> corners_;
};

}  // namespace shw
