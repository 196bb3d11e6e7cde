// The efficient choices of what to repeat, from the least memory freed to the most, and a bound on
// what no choice can beat.
//
// The sum of bytes kept and of repeated time, each at its price, is the least for a smallest cut
// (cut.h). As memory gets dearer, the cuts of a block repeat ever more. Between two neighbouring
// cuts the blocks change over one after another, the first ones first: what they keep is held
// longest. So there are choices for every amount of memory, not only at the corners of the curve.
// In a block, what does not depend on one another can change over part by part, too. At the price
// at which both cuts are worth the same, each part is, so all these choices are on the curve.
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
  // Choices at the corners of the curve, by falling bytes: no block is between two cuts.
  const std::vector<uint32_t>& corners() const { return corners_; }
  // Of what changes from choice k to the next one.
  uint32_t num_parts(uint32_t k) const { return static_cast<uint32_t>(changes_[k].size()); }
  // By storage: whether it is computed again. With the first so many parts of the next choice.
  std::vector<uint8_t> choice(uint32_t k, uint32_t parts = 0) const;

  struct Cost {
    int64_t kept_bytes = 0;  // from the forward to the backward half
    double us = 0;           // of repetitions, with gathers of parameters as they are charged
  };
  Cost cost_of(const std::vector<uint8_t>& again) const;
  // No choice that keeps at most so many bytes repeats less, whether or not it is one of these. The
  // Lagrangian bound: exact at the corners of the curve, and on the line between two of them.
  double least_us(int64_t kept_bytes) const;

 private:
  struct Cut {
    std::vector<uint8_t> again;
    Cost cost;
  };
  struct Line {  // kept bytes + bytes_per_us × time is at least `least`
    double bytes_per_us, least;
  };
  // What a block repeats in a cut and not in the one before, or the other way round.
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
