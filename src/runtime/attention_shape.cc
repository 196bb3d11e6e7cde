#include "runtime/attention_shape.h"

#include <array>
#include <cmath>
#include <string>

#include "runtime/step_args.h"
#include "runtime/table_part.h"

namespace shw::runtime {

Result<AttentionShape> attention_shape(const KernelArgs& args, const TensorType& q,
                                       const TensorType& k, const TensorType& v) {
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4 || q.shape[0] != k.shape[0] ||
      q.shape[3] != k.shape[3] || v.shape[0] != k.shape[0] || v.shape[1] != k.shape[1] ||
      v.shape[2] != k.shape[2] ||
      (k.shape[1] == 0 ? q.shape[1] != 0 : q.shape[1] % k.shape[1] != 0))
    return bad_types("attention of " + to_string(q) + ", " + to_string(k) + ", " + to_string(v));
  for (const TensorType* t : {&q, &k, &v})
    if (!is_floating(t->dtype) || (t->dtype == Dtype::kF64) != (q.dtype == Dtype::kF64))
      return unimplemented("attention in " + std::string(dtype_name(t->dtype)));
  for (int64_t n : {q.shape[2], k.shape[2]})
    for (int64_t width : {q.shape[3], v.shape[3], kQueryBlock})
      SHW_RETURN_IF_ERROR(check_size({n, width}));
  SHW_ASSIGN_OR_RETURN(const KeyWindow window, key_window(args.attrs, q.shape[2], k.shape[2]));
  const double standard = 1 / std::sqrt(static_cast<double>(std::max<int64_t>(1, q.shape[3])));
  return AttentionShape{
      q.shape[0], q.shape[1], k.shape[1], q.shape[2],
      k.shape[2], q.shape[3], v.shape[3], args.attrs.get_number(AttrKey::kScale, standard),
      window};
}

Status check_documents(const AttentionShape& shape, const TensorType& documents) {
  if (documents.rank() != 2 || documents.shape[0] != shape.batch || documents.shape[1] == 0 ||
      !is_index_dtype(documents.dtype) || shape.queries != shape.keys)
    return bad_types("no documents of these queries and keys: " + to_string(documents));
  return check_size({shape.batch, std::max(documents.shape[1], shape.queries)});
}

Result<TensorType> as_heads(const KernelArgs& args, const TensorType& written) {
  const auto dims = args.attrs.get_ints(AttrKey::kDims);
  if (dims.empty()) return written;
  TensorType seen = written;
  std::array<bool, 4> there{};
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims.size() != 4 || written.rank() != 4 || dims[i] < 0 || dims[i] > 3 ||
        there[static_cast<size_t>(dims[i])])
      return bad_types("attribute 'dims' is not a permutation of the dims of " +
                       to_string(written) + ": expected 4 dims, each of 0 to 3 once");
    const auto to = static_cast<size_t>(dims[i]);
    there[to] = true;
    seen.shape[to] = written.shape[i];
    seen.strides[to] = written.strides[i];
  }
  return seen;
}

Result<LogSumExp> LogSumExp::create(const TensorType& type, const AttentionShape& shape,
                                    Dtype dtype) {
  const bool column = type.rank() == 4 && type.shape[3] == 1;
  if ((type.rank() != 3 && !column) || type.shape[0] != shape.batch ||
      type.shape[1] != shape.heads || (type.shape[2] < shape.queries && type.shape[2] != 0) ||
      type.dtype != dtype)
    return bad_types("the softmax denominators do not fit in " + to_string(type));
  return LogSumExp{type.strides[0], type.strides[1], type.strides[2], type.shape[2]};
}

}  // namespace shw::runtime
