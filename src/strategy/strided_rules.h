// The single-dim strided family (opt-in): rules with strided shards, next to the plain ones.
//
// A view brings strided shards about (ops/view.cc). An op that does not care where in a dim its
// indices lie (OpDef::takes_strided), and every choice point, then runs under them as it does under
// plain ones: of each rule that shards, a copy for every factor that the producer of one of its
// operands offers there. So without the view-mm-view rewrite a linear layer keeps the sequence
// sharded: forward as rows, and in the weight gradient as a contraction over strided shards of both
// operands, which gives P(sum).
#pragma once
#include <compare>
#include <unordered_map>
#include <vector>

#include "strategy/compose.h"
#include "strategy/layout_pool.h"

namespace shw {

// SS(dim, factor), of some mesh dim. Sorted, without duplicates.
using Factors = std::vector<Placement>;
using SeenFactors = std::vector<Factors>;  // by operand

// Looks each list of layouts through once.
class StridedFactors {
 public:
  const Factors& of(LayoutListId list, const LayoutPool& pool);

 private:
  std::unordered_map<uint32_t, Factors> by_list_;  // look-up only
};

// `shapes`: of results, then operands; null where the tensor is absent.
void add_strided_rules(const SeenFactors& seen, std::span<const Dims* const> shapes,
                       RuleSet& rules);

}  // namespace shw
