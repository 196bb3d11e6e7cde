#include "runtime/search_dims.h"

namespace shw::runtime {

Result<Search> search_of(const KernelArgs& args, const std::array<const TensorType*, 2>& results) {
  const TensorType& in = *args.inputs[0];
  const bool all = !args.attrs.has(AttrKey::kDim),
             keep = args.attrs.get_bool(AttrKey::kKeepDim, false);
  int64_t dim = args.attrs.get_int(AttrKey::kDim, 0);
  if (dim < 0) dim += in.rank();
  if (!all && (dim < 0 || dim >= in.rank())) return bad_types("no such dim in " + to_string(in));
  Search s;
  Dims expected;
  for (size_t d = 0; d < in.shape.size(); ++d) {
    const bool gone = all || static_cast<int64_t>(d) == dim;
    const int64_t stride = in.strides[d] * dtype_size(in.dtype);
    (gone ? s.searched : s.kept).push_back(in.shape[d]);
    (gone ? s.searched_strides[0] : s.kept_strides[0]).push_back(stride);
    const size_t at = expected.size();
    if (!gone || keep) expected.push_back(gone ? 1 : in.shape[d]);
    for (size_t r = 0; r < 2 && !gone; ++r) {
      const bool there = results[r] != nullptr && at < results[r]->strides.size();
      s.kept_strides[r + 1].push_back(
          there ? results[r]->strides[at] * dtype_size(results[r]->dtype) : 0);
    }
  }
  bool fits = true;
  for (const TensorType* t : results) fits = fits && (t == nullptr || t->shape == expected);
  for (int64_t n : s.searched) fits = fits && n > 0;
  if (!fits)
    return bad_types("the results do not match the operand " + to_string(in) +
                     ": expected its shape without the searched dims, or with size 1 in them if "
                     "'keepdim' is set; searched dims must not be empty");
  return s;
}

}  // namespace shw::runtime
