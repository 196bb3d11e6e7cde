#include "ops/placed_tensor.h"

#include "ops/op_def.h"

namespace shw {

std::optional<PlacedTensor> placed_tensor(const Graph& graph, NodeId node) {
  if (graph.op(node) == OpKind::kGroupedMm) return ops::tensor_of_groups(graph, node);
  const OpDef& def = op_def(graph.op(node));
  if (!def.needs_position(graph.attrs(node))) return std::nullopt;
  switch (def.piece_position) {
    case PiecePosition::kOfOperand:
      return PlacedTensor{false, 0};
    case PiecePosition::kOfResult:
      return PlacedTensor{true, 0};
    case PiecePosition::kUnused:
      break;
  }
  return std::nullopt;
}

}  // namespace shw
