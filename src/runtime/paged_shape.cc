#include "runtime/paged_shape.h"

#include <cmath>
#include <string>

#include "runtime/step_args.h"
#include "runtime/table_part.h"

namespace shw::runtime {
namespace {

constexpr size_t kOperands = 5;

Status check_types(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, kOperands));
  if (args.inputs.size() != kOperands) return bad_types("attention over pages has five operands");
  const TensorType &q = *args.inputs[0], &k = *args.inputs[1], &v = *args.inputs[2],
                   &table = *args.inputs[3], &lengths = *args.inputs[4], &out = *args.outputs[0];
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4 || q.shape[3] != k.shape[3] ||
      v.shape[0] != k.shape[0] || v.shape[1] != k.shape[1] || v.shape[2] != k.shape[2] ||
      (k.shape[2] == 0 ? q.shape[1] != 0 : q.shape[1] % k.shape[2] != 0) ||
      out.shape != Dims{q.shape[0], q.shape[1], q.shape[2], v.shape[3]})
    return bad_types("attention of " + to_string(q) + " over pages " + to_string(k) + ", " +
                     to_string(v) + " into " + to_string(out));
  if (table.rank() != 2 || table.shape[0] != q.shape[0] || !is_index_dtype(table.dtype) ||
      lengths.shape != Dims{q.shape[0]} || !is_index_dtype(lengths.dtype))
    return bad_types("no page table and lengths of " + to_string(q) + ": " + to_string(table) +
                     ", " + to_string(lengths));
  for (const TensorType* t : {&q, &k, &v, &out})
    if (!is_floating(t->dtype) || (t->dtype == Dtype::kF64) != (q.dtype == Dtype::kF64))
      return unimplemented("attention in " + std::string(dtype_name(t->dtype)));
  return {};
}

}  // namespace

Result<PagedShape> paged_shape(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(check_types(args));
  const Dims &q = args.inputs[0]->shape, &k = args.inputs[1]->shape, &v = args.inputs[2]->shape,
             &table = args.inputs[3]->shape;
  const int64_t widest = std::max({q[3], v[3], kQueryBlock});
  SHW_RETURN_IF_ERROR(check_size({table[1], k[1], widest}));
  SHW_RETURN_IF_ERROR(check_size({q[2], widest}));
  const int64_t capacity = table[1] * k[1];
  SHW_ASSIGN_OR_RETURN(const KeyWindow window, key_window(args.attrs, capacity, capacity));
  const double standard = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, q[3])));
  return PagedShape{q[0],  q[1], k[2], q[2],     q[3],
                    v[3],  k[0], k[1], table[1], args.attrs.get_number(AttrKey::kScale, standard),
                    window};
}

}  // namespace shw::runtime
