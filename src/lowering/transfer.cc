#include "lowering/transfer.h"

namespace shw {
namespace {

int64_t product(const Dims& shape, size_t first, size_t last) {
  int64_t n = 1;
  for (size_t d = first; d < last; ++d) n *= shape[d];
  return n;
}

// Dims and strides, without dims of one element.
struct Strided {
  Dims sizes, strides;
  void push_back(int64_t size, int64_t stride) {
    if (size == 1) return;
    sizes.push_back(size);
    strides.push_back(stride);
  }
  bool is_contiguous() const {
    int64_t stride = 1;
    for (size_t d = sizes.size(); d-- > 0; stride *= sizes[d])
      if (strides[d] != stride) return false;
    return true;
  }
};

class Emitter {
 public:
  Emitter(ProgramBuilder& builder, const Move& move, const Mesh& mesh, const MovePrices& prices)
      : b_(builder), move_(move), prices_(prices), after_(move.piece) {
    for (uint8_t a : move.axes) members_ *= mesh.size(a);
  }

  ValueId emit(ValueId piece) {
    const TensorType type = b_.value(piece).type;
    if (move_.several.size() > 0) return of_several(piece, type);
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
  // [n, …piece], or [n, elements] if that has too many dims.
  TensorType stacked(Dtype dtype, const Dims& piece) const {
    Dims shape{members_};
    if (piece.size() < kMaxRank)
      for (int64_t d : piece) shape.push_back(d);
    else
      shape.push_back(product(piece, 0, piece.size()));
    return row_major(dtype, shape);
  }

  // Pads `dim` with zeros at its end, so that the blocks of all members are equal.
  ValueId extended(ValueId piece, size_t dim) {
    TensorType type = b_.value(piece).type;
    if (type.shape[dim] == members_ * after_[dim]) return piece;
    type.shape[dim] = members_ * after_[dim];
    const ValueId out = b_.fresh(row_major(type.dtype, type.shape));
    b_.step("extend", {piece}, {out}, prices_.copy_us(b_.value(out).type.bytes()));
    return out;
  }
  // Removes the padding in the last members' blocks of `dim`.
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

  // A partial sum over n ranks becomes a partial average by multiplying each part by n, and the
  // reverse by dividing.
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

  // Puts the n blocks of dim `dim` one after another: [n, before, block · after].
  ValueId split(ValueId piece, size_t dim) {
    const TensorType t = b_.value(piece).type;
    const int64_t before = product(t.shape, 0, dim);
    const int64_t block = product(t.shape, dim, t.shape.size()) / members_;
    const TensorType blocks{{members_, before, block}, {block, members_ * block, 1}, t.dtype};
    const ValueId window = b_.window_like(piece, blocks);
    return before == 1 ? b_.window_like(piece, row_major(t.dtype, blocks.shape)) : copy(window);
  }

  // Joins the n pieces of `shape` in `stack` along dim `dim`.
  ValueId join(ValueId stack, size_t dim, Dims shape) {
    const Dtype dtype = b_.value(stack).type.dtype;
    const int64_t before = product(shape, 0, dim);
    const int64_t block = product(shape, dim, shape.size());
    shape[dim] *= members_;
    if (before == 1) return b_.window_like(stack, row_major(dtype, shape));
    const TensorType beside{{before, members_, block}, {block, before * block, 1}, dtype};
    return b_.window_like(copy(b_.window_like(stack, beside)), row_major(dtype, shape));
  }

  ValueId of_several(ValueId piece, const TensorType& type) {
    const bool gathers = move_.kind == CollectiveKind::kAllGather;
    const Blocks blocks(gathers ? type.shape : after_, move_.several);
    if (gathers) {
      const ValueId stack = communicate("all_gather", piece, stacked(type.dtype, type.shape));
      return ordered(stack, blocks.in_stack(), row_major(type.dtype, after_));
    }
    const ValueId stack = ordered(piece, blocks.in_tensor(), stacked(type.dtype, after_));
    return communicate("reduce_scatter", stack, row_major(type.dtype, after_));
  }

  // Blocks of a tensor that is cut along several dims. `parts_` are the sizes of a block, with its
  // dims grouped: [the dims before the first cut dim, the first cut dim and those up to the second,
  // …]. `counts_` are the numbers of blocks along the cut dims.
  class Blocks {
   public:
    Blocks(const Dims& block, const BlocksByDim& several) {
      size_t first = 0;
      for (const DimBlocks& b : several) {
        parts_.push_back(product(block, first, b.dim));
        counts_.push_back(b.blocks);
        first = b.dim;
      }
      parts_.push_back(product(block, first, block.size()));
    }
    // For consecutive blocks: reads them in the order of the whole tensor, [part, n, part, n, …].
    Strided in_stack() const {
      Strided s;
      int64_t elements = 1, stride = 1;
      for (int64_t n : parts_) elements *= n;
      std::vector<int64_t> part_strides(parts_.size()), count_strides(counts_.size());
      for (size_t i = parts_.size(); i-- > 0; stride *= parts_[i]) part_strides[i] = stride;
      for (size_t i = counts_.size(); i-- > 0; elements *= counts_[i]) count_strides[i] = elements;
      for (size_t i = 0; i < parts_.size(); ++i) {
        s.push_back(parts_[i], part_strides[i]);
        if (i < counts_.size()) s.push_back(counts_[i], count_strides[i]);
      }
      return s;
    }
    // For a whole tensor: reads its blocks one after another, [n, n, …, part, part, …].
    Strided in_tensor() const {
      std::vector<int64_t> part_strides(parts_.size()), count_strides(counts_.size());
      int64_t stride = 1;
      for (size_t i = parts_.size(); i-- > 0;) {
        part_strides[i] = stride;
        stride *= parts_[i];
        if (i > 0) count_strides[i - 1] = stride, stride *= counts_[i - 1];
      }
      Strided s;
      for (size_t i = 0; i < counts_.size(); ++i) s.push_back(counts_[i], count_strides[i]);
      for (size_t i = 0; i < parts_.size(); ++i) s.push_back(parts_[i], part_strides[i]);
      return s;
    }

   private:
    std::vector<int64_t> parts_, counts_;
  };

  // Copies the elements in another order, as `type`.
  ValueId ordered(ValueId of, const Strided& order, const TensorType& type) {
    const TensorType as{order.sizes, order.strides, type.dtype};
    const ValueId window = b_.window_like(of, as);
    return b_.window_like(order.is_contiguous() ? of : copy(window), type);
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
