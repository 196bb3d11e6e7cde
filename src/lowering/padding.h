// Padding of uneven pieces, where it would count.
//
// A piece is as large as rank 0's; what the last ranks lack is padding at the end, and may hold
// anything. An op that keeps a cut dim leaves it where it is. An op that sums over a cut dim – its
// result is partial on that mesh dim – would add it, so its operands are filled before: with zeros
// for a sum (all of them: zero times what is no number is none), else with what changes no maximum,
// minimum or product. And integers are filled with zeros always: they may be indices.
#pragma once
#include <optional>
#include <unordered_map>

#include "graph/graph.h"
#include "lowering/builder.h"
#include "redistribution/move_prices.h"
#include "strategy/assignment.h"

namespace shw {

class Padding {
 public:
  Padding(const Graph& graph, const Mesh& mesh, const Assignment& assignment,
          ProgramBuilder& builder, const MovePrices& prices)
      : g_(graph), mesh_(mesh), a_(assignment), builder_(builder), prices_(prices) {}

  // What must be in the padding of operand `k`, which lies as `layout`; nullopt: it has none, or
  // anything will do.
  std::optional<double> wanted(NodeId n, size_t k, const Layout& layout) const;
  // `piece`, of a tensor of `shape`, with that padding; made once for each.
  ValueId filled(const Dims& shape, const Layout& layout, ValueId piece, double with);

 private:
  std::optional<ReduceOp> reduces(NodeId n) const;

  const Graph& g_;
  const Mesh& mesh_;
  const Assignment& a_;
  ProgramBuilder& builder_;
  const MovePrices& prices_;
  struct Filled {
    double with;
    ValueId value;
  };
  std::unordered_map<uint32_t, std::vector<Filled>> filled_;  // by piece; look-up only
};

}  // namespace shw
