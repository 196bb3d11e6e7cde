// grouped_mm(a, b, offsets?): a product for each group; offsets say where each group ends in the
// rows of a, the columns of b, or the terms of the sum. Behind the last group: zeros.
//
// With attributes `size` and `cuts` the tensor with a dim of groups is this rank's piece of a
// larger one, and the rows or columns of groups that lie elsewhere are zeros. The offsets are
// always those of all groups.
#pragma once
#include "runtime/table_part.h"

namespace shw::runtime {

struct GroupedShape {
  TablePart groups;  // what this rank has of them
  // Of a product: where groups are cut along one of them, of all groups. `depth`: the terms of the
  // sum, without the padding of an uneven piece.
  int64_t rows = 0, columns = 0, depth = 0;
  bool a_by_group = false, b_by_group = false;  // whether the operand has a dim of groups
  bool has_offsets = false;                     // else both operands have a dim of groups
  // The size of what offsets cut: rows of a, columns of b, or what is summed.
  int64_t ragged() const { return b_by_group ? rows : a_by_group ? columns : depth; }
};
Result<GroupedShape> grouped_shape(const KernelArgs& args);

}  // namespace shw::runtime
