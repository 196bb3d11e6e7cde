// Integer tensors that choose rows of a table.
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/rows.h"
#include "runtime/piece.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {

// Walks an index tensor beside another operand, in row-major order of the indices.
class IndexWalk {
 public:
  IndexWalk() = default;
  // `beside`: strides in bytes of the other operand along the dims of `indices`.
  IndexWalk(const TensorType& indices, const Dims& beside) : load_(load_row<Int>(indices.dtype)) {
    // Row-major order goes in as the operand that decides, and out again: the walk must be the same
    // whatever the layout, as sums of rows depend on it.
    const Dims strides[3] = {row_major_strides(indices.shape),
                             broadcast_strides_bytes(indices, indices.shape), beside};
    loop_ = make_loop(indices.shape, strides);
    for (size_t o = 0; o < 2; ++o) {
      loop_.stride_bytes[o] = loop_.stride_bytes[o + 1];
      loop_.row_stride_bytes[o] = loop_.row_stride_bytes[o + 1];
    }
  }

  // Calls f(index, other operand) for each; the first status that is not OK ends the walk.
  template <class F>
  Status for_each(void* indices, void* other, F&& f) const {
    Status status;
    for_each_row(loop_,
                 std::array{static_cast<std::byte*>(indices), static_cast<std::byte*>(other)},
                 [&](const std::array<std::byte*, 2>& p) {
                   for (int64_t i = 0; status.ok() && i < loop_.row_size; ++i) {
                     Int index;
                     load_(p[0] + i * loop_.row_stride_bytes[0], 0, 1, &index);
                     status = f(index.v, p[1] + i * loop_.row_stride_bytes[1]);
                   }
                 });
    return status;
  }

 private:
  LoadRow<Int> load_ = nullptr;
  StridedLoop loop_;
};

// The entries along one dim of a table that this rank holds, of those that there are.
struct TablePart {
  int64_t first = 0, own = 0, whole = 0;
  int64_t position(int64_t index) const { return index - first; }  // in the part, if it is there
  bool has(int64_t index) const { return index >= first && index - first < own; }
  bool exists(int64_t index) const { return index >= 0 && index < whole; }
};
// Of dim `dim` of operand or result `piece`. The step says where it lies by attributes `size` and
// `cuts`; without them it is the whole.
inline Result<TablePart> table_part(const KernelArgs& args, const TensorType& piece, size_t dim) {
  if (!args.attrs.has(AttrKey::kCuts)) return TablePart{0, piece.shape[dim], piece.shape[dim]};
  SHW_ASSIGN_OR_RETURN(const Piece place, piece_of(args.attrs, args.mesh, args.rank));
  if (place.whole.size() != piece.shape.size() || place.size[dim] > piece.shape[dim])
    return bad_types(to_string(piece) + " is not the piece of a table that 'size' and 'cuts' say");
  return TablePart{place.offset[dim], place.size[dim], place.whole[dim]};
}

inline bool is_index_dtype(Dtype d) { return d == Dtype::kI32 || d == Dtype::kI64; }

inline Status index_out_of_range(int64_t index, int64_t rows) {
  return Status(Code::kOutOfRange, "index " + std::to_string(index) + " into a table of " +
                                       std::to_string(rows) + " rows");
}

}  // namespace shw::runtime::cpu
