#include "strategy/padding_wanted.h"

#include <limits>

#include "ops/placed_tensor.h"

namespace shw {
namespace {

double neutral(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMax:
      return -std::numeric_limits<double>::infinity();
    case ReduceOp::kMin:
      return std::numeric_limits<double>::infinity();
    case ReduceOp::kProduct:
      return 1;
    case ReduceOp::kSum:
    case ReduceOp::kAvg:
      break;
  }
  return 0;
}

// The reduction of the op over an unevenly cut dim; nullopt: it has none.
std::optional<ReduceOp> reduces(const Graph& graph, const Mesh& mesh, NodeId n,
                                std::span<const Layout> operand_layouts,
                                std::span<const Layout> result_layouts) {
  const auto operands = graph.operands(n);
  const auto results = graph.results(n);
  for (int m = 0; m < mesh.rank(); ++m) {
    std::optional<ReduceOp> partial;
    for (size_t r = 0; r < results.size(); ++r)
      if (results[r] && result_layouts[r][m].is_partial()) {
        const Placement p = result_layouts[r][m];
        partial = p.kind == Placement::Kind::kPartial ? p.reduce_op() : ReduceOp::kSum;
      }
    if (!partial) continue;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].valid() || graph.is_tuple(operands[k])) continue;
      const Layout& layout = operand_layouts[k];
      if (layout[m].is_shard() && !cuts_evenly(graph.type(operands[k]).shape, layout, mesh,
                                               static_cast<size_t>(layout[m].dim())))
        return partial;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<double> padding_wanted(const Graph& graph, const Mesh& mesh, NodeId n, size_t k,
                                     const Layout& lies, std::span<const Layout> operands,
                                     std::span<const Layout> results) {
  const TensorType& type = graph.type(graph.operands(n)[k]);
  if (is_evenly_sharded(type.shape, lies, mesh)) return std::nullopt;
  // A kernel that knows the position of its piece ignores the padding.
  const std::optional<PlacedTensor> placed = placed_tensor(graph, n);
  const bool knows = placed && !placed->is_result && placed->at == k;
  if (const auto op = reduces(graph, mesh, n, operands, results); op && !knows) return neutral(*op);
  if (type.dtype == Dtype::kI32 || type.dtype == Dtype::kI64) return 0;
  return std::nullopt;
}

}  // namespace shw
