#include "lowering/padding.h"

#include <limits>

#include "lowering/piece_attrs.h"
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

}  // namespace

// The reduction over an unevenly cut dim, if the op is one.
std::optional<ReduceOp> Padding::reduces(NodeId n) const {
  const auto operands = g_.operands(n);
  for (int m = 0; m < mesh_.rank(); ++m) {
    std::optional<ReduceOp> partial;
    const auto results = g_.results(n);
    for (size_t r = 0; r < results.size(); ++r)
      if (results[r] && a_.results(n)[r][m].is_partial()) {
        const Placement p = a_.results(n)[r][m];
        partial = p.kind == Placement::Kind::kPartial ? p.reduce_op() : ReduceOp::kSum;
      }
    if (!partial) continue;
    for (size_t k = 0; k < operands.size(); ++k) {
      if (!operands[k].valid() || g_.is_tuple(operands[k])) continue;
      const Layout& layout = a_.operands(n)[k];
      if (layout[m].is_shard() && !cuts_evenly(g_.type(operands[k]).shape, layout, mesh_,
                                               static_cast<size_t>(layout[m].dim())))
        return partial;
    }
  }
  return std::nullopt;
}

std::optional<double> Padding::wanted(NodeId n, size_t k, const Layout& layout) const {
  const TensorType& type = g_.type(g_.operands(n)[k]);
  if (is_evenly_sharded(type.shape, layout, mesh_)) return std::nullopt;
  // A kernel that knows where its piece lies leaves out what is not its own.
  const std::optional<PlacedTensor> placed = placed_tensor(g_, n);
  const bool knows = placed && !placed->is_result && placed->at == k;
  if (const auto op = reduces(n); op && !knows) return neutral(*op);
  if (type.dtype == Dtype::kI32 || type.dtype == Dtype::kI64) return 0;
  return std::nullopt;
}

ValueId Padding::filled(const Dims& shape, const Layout& layout, ValueId piece, double with) {
  std::vector<Filled>& known = filled_[piece.v];
  for (const Filled& f : known)
    if (f.with == with) return f.value;
  const TensorType type = builder_.value(piece).type;
  const ValueId out = builder_.fresh(row_major(type.dtype, type.shape));
  ProgramStep& step = builder_.step("fill_padding", {piece}, {out}, prices_.copy_us(type.bytes()));
  step.attrs.set(AttrKey::kFillValue, with);
  set_piece(step.attrs, shape, layout);
  known.push_back({with, out});
  return out;
}

}  // namespace shw
