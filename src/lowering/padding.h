// Fills the padding of uneven pieces where it would change a result (strategy/padding_wanted.h).
#pragma once
#include <optional>
#include <unordered_map>

#include "graph/graph.h"
#include "lowering/builder.h"
#include "redistribution/move_prices.h"
#include "strategy/assignment.h"
#include "strategy/padding_wanted.h"

namespace shw {

class Padding {
 public:
  Padding(const Graph& graph, const Mesh& mesh, const Assignment& assignment,
          ProgramBuilder& builder, const MovePrices& prices)
      : g_(graph), mesh_(mesh), a_(assignment), builder_(builder), prices_(prices) {}

  std::optional<double> wanted(NodeId n, size_t k, const Layout& layout) const {
    return padding_wanted(g_, mesh_, n, k, layout, a_.operands(n), a_.results(n));
  }
  // `piece`, of a tensor of `shape`, with its padding filled with `with`. Each filled piece is made
  // once.
  ValueId filled(const Dims& shape, const Layout& layout, ValueId piece, double with);

 private:
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
