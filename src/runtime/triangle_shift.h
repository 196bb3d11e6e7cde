// Where the diagonal of tril and triu lies in a rank's piece.
#pragma once
#include <algorithm>

#include "runtime/table_part.h"

namespace shw::runtime {

// Column less row of the diagonal. Attribute `diagonal` counts in the whole; `size` and `cuts` tell
// where a piece of it lies.
inline Result<int64_t> triangle_shift(const KernelArgs& args) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  const size_t rank = in.shape.size();
  if (rank < 2 || in.shape != out.shape || in.dtype != out.dtype)
    return bad_types("no triangle of " + to_string(in) + " in " + to_string(out));
  SHW_ASSIGN_OR_RETURN(const TablePart rows, table_part(args, in, rank - 2));
  SHW_ASSIGN_OR_RETURN(const TablePart columns, table_part(args, in, rank - 1));
  // A diagonal beyond the matrix is as good as one at its edge.
  const int64_t edge = rows.whole + columns.whole;
  const int64_t diagonal = std::clamp(args.attrs.get_int(AttrKey::kDiagonal, 0), -edge, edge);
  return diagonal + rows.first - columns.first;
}

}  // namespace shw::runtime
