// The position of the diagonal of tril and triu in a rank's piece.
#pragma once
#include <algorithm>

#include "runtime/table_part.h"

namespace shw::runtime {

// Column minus row on the diagonal, in coordinates of the piece. Attribute `diagonal` is in
// coordinates of the whole tensor; `size` and `cuts` give the position of the piece.
inline Result<int64_t> triangle_shift(const KernelArgs& args) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  const size_t rank = in.shape.size();
  if (rank < 2 || in.shape != out.shape || in.dtype != out.dtype)
    return bad_types("the triangle of " + to_string(in) + " cannot be " + to_string(out) +
                     ": expected at least two dims, and a result of the same shape and dtype");
  SHW_ASSIGN_OR_RETURN(const TablePart rows, table_part(args, in, rank - 2));
  SHW_ASSIGN_OR_RETURN(const TablePart columns, table_part(args, in, rank - 1));
  // A diagonal outside the matrix is equivalent to one at its edge.
  const int64_t edge = rows.whole + columns.whole;
  const int64_t diagonal = std::clamp(args.attrs.get_int(AttrKey::kDiagonal, 0), -edge, edge);
  return diagonal + rows.first - columns.first;
}

}  // namespace shw::runtime
