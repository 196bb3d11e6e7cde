// Finds the tensor of a node for which the kernel must know the position of its piece in the whole
// (OpDef::piece_position).
#pragma once
#include <optional>

#include "graph/graph.h"

namespace shw {

struct PlacedTensor {
  bool is_result = false;  // otherwise an operand
  size_t at = 0;
};
// nullopt: the kernel does not depend on the position of its piece.
std::optional<PlacedTensor> placed_tensor(const Graph& graph, NodeId node);

namespace ops {

// grouped_mm: the tensor whose first dim numbers the groups that the offsets divide. nullopt: there
// are no offsets.
std::optional<PlacedTensor> tensor_of_groups(const Graph& graph, NodeId node);

}  // namespace ops
}  // namespace shw
