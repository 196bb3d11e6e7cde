// What a rank holds of a table whose rows integers choose.
#pragma once
#include <string>

#include "runtime/piece.h"
#include "runtime/step_args.h"

namespace shw::runtime {

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

}  // namespace shw::runtime
