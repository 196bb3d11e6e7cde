#include "runtime/grouped_shape.h"

namespace shw::runtime {
namespace {

// Whether the shapes fit a grouped product. The number of groups is checked later.
bool shapes_fit(const Dims& a, const Dims& b, const Dims& out, bool has_offsets) {
  const bool batches = a.size() == 3 && b.size() == 3;
  if (a.size() < 2 || a.size() > 3 || b.size() < 2 || b.size() > 3 || a.back() != b[b.size() - 2] ||
      batches == has_offsets || (batches && a[0] != b[0]))
    return false;
  const int64_t m = a[a.size() - 2], n = b.back();
  if (a.size() != b.size()) return out == Dims{m, n};
  return out.size() == 3 && out == Dims{batches ? a[0] : out[0], m, n};
}

}  // namespace

Result<GroupedShape> grouped_shape(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &a = *args.inputs[0], &b = *args.inputs[1], &out = *args.outputs[0];
  const TensorType* offsets = args.inputs.size() > 2 ? args.inputs[2] : nullptr;
  if (!is_floating(a.dtype) || !is_floating(b.dtype) || !is_floating(out.dtype) ||
      !shapes_fit(a.shape, b.shape, out.shape, offsets != nullptr) ||
      (offsets != nullptr && (offsets->rank() != 1 || !is_index_dtype(offsets->dtype))))
    return bad_types("no products of " + to_string(a) + " and " + to_string(b) + " in " +
                     to_string(out));
  for (const TensorType* t : {&a, &b, &out}) SHW_RETURN_IF_ERROR(check_size({t->numel()}));
  GroupedShape s;
  s.a_by_group = a.rank() == 3;
  s.b_by_group = b.rank() == 3;
  s.has_offsets = offsets != nullptr;
  s.rows = a.shape[a.shape.size() - 2];
  s.columns = b.shape.back();
  s.depth = a.shape.back();
  const TensorType& by_group = s.a_by_group ? a : s.b_by_group ? b : out;
  SHW_ASSIGN_OR_RETURN(s.groups, table_part(args, by_group, 0));
  if (offsets != nullptr && offsets->shape[0] != s.groups.whole)
    return bad_types(to_string(*offsets) + " does not end the groups of " + to_string(by_group));
  if (s.a_by_group || s.b_by_group) {
    SHW_ASSIGN_OR_RETURN(const TablePart terms, table_part(args, by_group, s.a_by_group ? 2 : 1));
    s.depth = terms.own;
  }
  return s;
}

}  // namespace shw::runtime
