// What a program may compute again, over all its pairs of a forward and a backward half: the
// choices of recompute/frontier.h, and those of named policies.
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

  // Choice 0 repeats the least. With several backward halves, all are the same part of the way
  // along their choices.
  uint32_t count() const { return count_; }
  // Those at the corners of the curve; of the longest one, with several backward halves.
  const std::vector<uint32_t>& corners() const { return corners_; }
  // With the first so many parts of the next choice.
  std::vector<Repeated> choice(uint32_t k, uint32_t parts = 0) const;
  // Between choice k and the next one, where there is one backward half alone.
  uint32_t num_parts(uint32_t k) const;
  uint64_t count_with_parts() const;
  // The first choice that keeps at most so much; the last one if none does.
  uint32_t first_keeping(int64_t bytes) const;

  // What a person would ask for. The prices of the curve add up; the simulator knows which
  // collectives are hidden.
  static constexpr std::string_view kPolicies[] = {"cheap", "selective", "selective+gathered",
                                                   "full", "full+gathered"};
  Result<std::vector<Repeated>> by_policy(std::string_view name) const;

  int64_t kept_bytes(const std::vector<Repeated>& repeated) const;
  // Against choices that keep what this one keeps, in host memory too, and the memory that it
  // leaves unused.
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
