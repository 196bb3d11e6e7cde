#include "lowering/transfer.h"

namespace shw {
namespace {

int64_t product(const Dims& shape, size_t first, size_t last) {
  int64_t n = 1;
  for (size_t d = first; d < last; ++d) n *= shape[d];
  return n;
}

class Emitter {
 public:
  Emitter(ProgramBuilder& builder, const Move& move, const Mesh& mesh, const MovePrices& prices)
      : b_(builder), move_(move), prices_(prices), after_(move.piece) {
    for (uint8_t a : move.axes) members_ *= mesh.size(a);
  }

  ValueId emit(ValueId piece) {
    const TensorType type = b_.value(piece).type;
    const auto from = static_cast<size_t>(move_.from_dim), to = static_cast<size_t>(move_.to_dim);
    Dims shape = type.shape;
    if (move_.to_dim >= 0) shape[to] = after_[to];
    switch (move_.kind) {
      case CollectiveKind::kNone:
        return move_.to_dim < 0 ? rescale(piece) : slice(piece, row_major(type.dtype, shape));
      case CollectiveKind::kAllReduce:
        return communicate("all_reduce", piece, row_major(type.dtype, shape));
      case CollectiveKind::kPermute:
        return communicate("collective_permute", piece, row_major(type.dtype, shape));
      case CollectiveKind::kReduceScatter:
        return communicate("reduce_scatter", split(extended(piece, to), to),
                           row_major(type.dtype, shape));
      case CollectiveKind::kAllGather:
        return narrowed(
            join(communicate("all_gather", piece, stacked(type.dtype, shape)), from, shape), from);
      case CollectiveKind::kAllToAll: {
        const ValueId sent = split(extended(piece, to), to);
        return narrowed(join(communicate("all_to_all", sent, b_.value(sent).type), from, shape),
                        from);
      }
    }
    return {};
  }

 private:
  // [n, …piece], or [n, elements] where that has too many dims.
  TensorType stacked(Dtype dtype, const Dims& piece) const {
    Dims shape{members_};
    if (piece.size() < kMaxRank)
      for (int64_t d : piece) shape.push_back(d);
    else
      shape.push_back(product(piece, 0, piece.size()));
    return row_major(dtype, shape);
  }

  // With zeros behind its end, so that the members' blocks of `dim` are equal.
  ValueId extended(ValueId piece, size_t dim) {
    TensorType type = b_.value(piece).type;
    if (type.shape[dim] == members_ * after_[dim]) return piece;
    type.shape[dim] = members_ * after_[dim];
    const ValueId out = b_.fresh(row_major(type.dtype, type.shape));
    b_.step("extend", {piece}, {out}, prices_.copy_us(b_.value(out).type.bytes()));
    return out;
  }
  // Without the padding that the last members' blocks of `dim` had.
  ValueId narrowed(ValueId piece, size_t dim) {
    TensorType type = b_.value(piece).type;
    if (type.shape[dim] == after_[dim]) return piece;
    type.shape[dim] = after_[dim];
    const ValueId window = b_.window_like(piece, type);
    return type.contiguous() ? window : copy(window);
  }

  ValueId copy(ValueId of) { return b_.clone(of, prices_.copy_us(b_.value(of).type.bytes())); }

  ValueId slice(ValueId piece, const TensorType& type) {
    const ValueId out = b_.fresh(type);
    ProgramStep& s = b_.step("local_slice", {piece}, {out}, prices_.copy_us(type.bytes()));
    s.attrs.set(AttrKey::kDim, int64_t{move_.to_dim});
    s.attrs.set(AttrKey::kDims, std::vector<int64_t>(move_.axes.begin(), move_.axes.end()));
    return out;
  }

  // A sum over n ranks is the average of n times as much.
  ValueId rescale(ValueId piece) {
    const TensorType type = b_.value(piece).type;
    const ValueId out = b_.fresh(type);
    ProgramStep& s = b_.step("mul", {piece, ValueId{}}, {out}, prices_.copy_us(type.bytes()));
    const auto n = static_cast<double>(members_);
    s.attrs.set(AttrKey::kOther, move_.op == ReduceOp::kAvg ? n : 1 / n);
    return out;
  }

  ValueId communicate(std::string_view kernel, ValueId in, const TensorType& type) {
    const ValueId out = b_.fresh(type);
    ProgramStep& s = b_.step(kernel, {in}, {out}, move_.collective_us);
    s.collective = {move_.kind, move_.op, move_.axes, move_.to_axes};
    return out;
  }

  // The n blocks of dim `dim` one after another: [n, before, block · after].
  ValueId split(ValueId piece, size_t dim) {
    const TensorType t = b_.value(piece).type;
    const int64_t before = product(t.shape, 0, dim);
    const int64_t block = product(t.shape, dim, t.shape.size()) / members_;
    const TensorType blocks{{members_, before, block}, {block, members_ * block, 1}, t.dtype};
    const ValueId window = b_.window_like(piece, blocks);
    return before == 1 ? b_.window_like(piece, row_major(t.dtype, blocks.shape)) : copy(window);
  }

  // The n pieces of `shape` in `stack` side by side along dim `dim`.
  ValueId join(ValueId stack, size_t dim, Dims shape) {
    const Dtype dtype = b_.value(stack).type.dtype;
    const int64_t before = product(shape, 0, dim);
    const int64_t block = product(shape, dim, shape.size());
    shape[dim] *= members_;
    if (before == 1) return b_.window_like(stack, row_major(dtype, shape));
    const TensorType beside{{before, members_, block}, {block, before * block, 1}, dtype};
    return b_.window_like(copy(b_.window_like(stack, beside)), row_major(dtype, shape));
  }

  ProgramBuilder& b_;
  const Move& move_;
  const MovePrices& prices_;
  const Dims& after_;  // this rank's piece after the move
  int64_t members_ = 1;
};

}  // namespace

ValueId emit_move(ProgramBuilder& builder, const Move& move, ValueId piece, const Mesh& mesh,
                  const MovePrices& prices) {
  return Emitter(builder, move, mesh, prices).emit(piece);
}

}  // namespace shw
