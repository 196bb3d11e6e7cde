// stack: the inputs side by side in a new dim, attrs.dim.
#include <algorithm>

#include "runtime/cpu/parts.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(1, args.inputs.size())));
  const TensorType& out = *args.outputs[0];
  int64_t dim = args.attrs.get_int(AttrKey::kDim, 0);
  if (dim < 0) dim += out.rank();
  if (dim < 0 || dim >= out.rank() ||
      out.shape[static_cast<size_t>(dim)] != static_cast<int64_t>(args.inputs.size()))
    return bad_types(std::to_string(args.inputs.size()) + " tensors do not stack to " +
                     to_string(out));
  const auto d = static_cast<size_t>(dim);
  std::vector<Part> parts;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    Part part{i, out, static_cast<int64_t>(i) * out.strides[d] * dtype_size(out.dtype)};
    part.window.shape.erase(d);
    part.window.strides.erase(d);
    parts.push_back(part);
  }
  return prepare_parts(args, parts, Ground::kNone);
}

}  // namespace

extern const Kernel kStack;
constinit const Kernel kStack = {"stack", prepare};

}  // namespace shw::runtime::cpu
