// grouped_mm(a, b, offsets?): one product per group. Depending on the operands, offset g is the end
// of group g in the rows of a, the columns of b, or the summed dim. Rows or columns after the last
// group are zeros.
//
// With attributes `size` and `cuts`, the tensor that has a dim of groups is this rank's piece of a
// larger tensor. Rows or columns of groups on other ranks are zeros. The offsets are always those
// of all groups.
#pragma once
#include "runtime/table_part.h"

namespace shw::runtime {

struct GroupedShape {
  TablePart groups;  // the groups on this rank
  // The sizes of one product. If offsets cut a size into groups, it is the total over all groups.
  // `depth` is the length of the sum, without the padding of an uneven piece.
  int64_t rows = 0, columns = 0, depth = 0;
  bool a_by_group = false, b_by_group = false;  // the operand has a dim of groups
  bool has_offsets = false;                     // if false, both operands have a dim of groups
  // The size of the dim that offsets cut: rows of a, columns of b, or the summed dim.
  int64_t ragged() const { return b_by_group ? rows : a_by_group ? columns : depth; }
};
Result<GroupedShape> grouped_shape(const KernelArgs& args);

}  // namespace shw::runtime
