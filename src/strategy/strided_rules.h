// The single-dim strided family (opt-in): rules with strided shards in addition to the plain ones.
//
// Views create strided shards (ops/view.cc). Choice points, and ops for which the position of an
// index within a dim is irrelevant (OpDef::takes_strided), can run under them as under plain
// shards. Each of their sharding rules is copied for every factor that the producer of an operand
// offers. Without the view-mm-view rewrite, a linear layer then keeps the sequence sharded: as rows
// in the forward pass, and in the weight gradient as a contraction of two strided operands, which
// yields P(sum).
#pragma once
#include <compare>
#include <unordered_map>
#include <vector>

#include "strategy/compose.h"
#include "strategy/layout_pool.h"

namespace shw {

// SS(dim, factor) of some mesh dim. Sorted, without duplicates.
using Factors = std::vector<Placement>;
using SeenFactors = std::vector<Factors>;  // by operand

// Scans each list of layouts once.
class StridedFactors {
 public:
  const Factors& of(LayoutListId list, const LayoutPool& pool);

 private:
  std::unordered_map<uint32_t, Factors> by_list_;  // look-up only
};

// `shapes`: those of the results, then of the operands; null if the tensor is absent.
void add_strided_rules(const SeenFactors& seen, std::span<const Dims* const> shapes,
                       RuleSet& rules);

}  // namespace shw
