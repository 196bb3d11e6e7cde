#include "runtime/reduced_dims.h"

#include <array>
#include <string>

#include "runtime/step_args.h"

namespace shw::runtime {

Result<ReducedDims> reduced_dims(const KernelArgs& args) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  const auto rank = static_cast<size_t>(in.rank());
  std::array<bool, kMaxRank> reduce{};
  for (int64_t d : args.attrs.get_ints(AttrKey::kDims)) {
    const int64_t at = d < 0 ? d + in.rank() : d;
    if (at < 0 || at >= in.rank())
      return invalid_argument("dim " + std::to_string(d) + " of " + to_string(in) +
                              " cannot be reduced");
    reduce[static_cast<size_t>(at)] = true;
  }
  if (args.attrs.get_ints(AttrKey::kDims).empty()) reduce.fill(true);
  const bool keepdim = args.attrs.get_bool(AttrKey::kKeepDim, false);
  ReducedDims s;
  Dims expected;
  for (size_t d = 0; d < rank; ++d) {
    const int64_t stride = in.strides[d] * dtype_size(in.dtype);
    if (reduce[d]) {
      s.reduced.push_back(in.shape[d]);
      s.reduced_in.push_back(stride);
      s.count *= in.shape[d];
      if (keepdim) expected.push_back(1);
      continue;
    }
    const size_t at = expected.size();
    if (at < out.strides.size()) s.kept_out.push_back(out.strides[at] * dtype_size(out.dtype));
    s.kept.push_back(in.shape[d]);
    s.kept_in.push_back(stride);
    expected.push_back(in.shape[d]);
  }
  if (out.shape != expected)
    return bad_types(to_string(in) + " does not reduce to " + to_string(out));
  return s;
}

}  // namespace shw::runtime
