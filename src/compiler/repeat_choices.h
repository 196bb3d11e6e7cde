// The choices of what a program computes again, over all its pairs of a forward and a backward
// half: those of recompute/frontier.h, and those of named policies.
#pragma once
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "plan/program.h"
#include "recompute/frontier.h"
#include "recompute/joint.h"
#include "recompute/recompute.h"
#include "support/monitor.h"

namespace shw {

class RepeatChoices {
 public:
  // Both must outlive it.
  static Result<RepeatChoices> of(const Program& program, const Graph& graph, Monitor& monitor);
  RepeatChoices(RepeatChoices&&) = default;  // no copies: frontiers point to joints

  // Choice 0 repeats the least. Each pair of halves has a curve of choices. With several pairs,
  // choice k is the same fraction of the way along each curve.
  uint32_t count() const { return count_; }
  // The choices at the corners of the curve; with several curves, of the longest one.
  const std::vector<uint32_t>& corners() const { return corners_; }
  // Choice k, with the first `parts` parts of the step to the next choice.
  std::vector<Repeated> choice(uint32_t k, uint32_t parts = 0) const;
  // The number of parts of the step from choice k to the next one; 1 for the last choice, and with
  // several backward halves.
  uint32_t num_parts(uint32_t k) const;
  uint64_t count_with_parts() const;
  // The first choice that keeps at most `bytes`; the last choice if none does.
  uint32_t first_keeping(int64_t bytes) const;

  // Policies that a user might choose. They are candidates because the curve adds up prices, while
  // the simulator also knows which collectives are hidden.
  static constexpr std::string_view kPolicies[] = {"cheap", "selective", "selective+gathered",
                                                   "full", "full+gathered"};
  Result<std::vector<Repeated>> by_policy(std::string_view name) const;

  int64_t kept_bytes(const std::vector<Repeated>& repeated) const;
  // How much longer the repeated steps take than those of the cheapest choice that keeps as many
  // bytes as this one and `unused` bytes more. Bytes that this one keeps in host memory count as
  // kept.
  double excess_us(const std::vector<Repeated>& repeated, int64_t unused) const;

 private:
  explicit RepeatChoices(const Graph& graph) : graph_(&graph) {}
  uint32_t choice_of(const Frontier& frontier, uint32_t k) const;

  const Graph* graph_;
  std::vector<Joint> joints_;        // what repeated steps point to
  std::vector<Frontier> frontiers_;  // by pair of halves
  uint32_t count_ = 1;
  std::vector<uint32_t> corners_{0};
};

}  // namespace shw
