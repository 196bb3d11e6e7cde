// The part of a table that a rank holds, for steps whose integer operands select rows.
#pragma once
#include <string>

#include "runtime/piece.h"
#include "runtime/step_args.h"

namespace shw::runtime {

// The entries along one dim that this rank holds: `own` of them from `first` on, out of `whole`.
struct TablePart {
  int64_t first = 0, own = 0, whole = 0;
  // Position in the part; valid if has(index).
  int64_t position(int64_t index) const { return index - first; }
  bool has(int64_t index) const { return index >= first && index - first < own; }
  bool exists(int64_t index) const { return index >= 0 && index < whole; }
};
// The part along dim `dim`, where `piece` is the operand or result that is a piece of the table.
// Attributes `size` and `cuts` of the step determine the part; without them the piece is the whole
// table.
inline Result<TablePart> table_part(const KernelArgs& args, const TensorType& piece, size_t dim) {
  if (!args.attrs.has(AttrKey::kCuts)) return TablePart{0, piece.shape[dim], piece.shape[dim]};
  SHW_ASSIGN_OR_RETURN(const Piece place, piece_of(args.attrs, args.mesh, args.rank));
  if (place.whole.size() != piece.shape.size() || place.size[dim] > piece.shape[dim])
    return bad_types(to_string(piece) +
                     " does not match the piece of a table that attributes 'size' and 'cuts' "
                     "describe: expected the same rank, and at least the piece's size in dim " +
                     std::to_string(dim));
  return TablePart{place.offset[dim], place.size[dim], place.whole[dim]};
}

inline bool is_index_dtype(Dtype d) { return d == Dtype::kI32 || d == Dtype::kI64; }

inline Status index_out_of_range(int64_t index, int64_t rows) {
  return Status(Code::kOutOfRange, "index " + std::to_string(index) + " into a table of " +
                                       std::to_string(rows) + " rows");
}

}  // namespace shw::runtime
