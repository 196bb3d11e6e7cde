// stack: the inputs side by side in a new dim, attrs.dim.
#include <algorithm>

#include "runtime/cpu/parts.h"
#include "runtime/dim.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(1, args.inputs.size())));
  const TensorType& out = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const size_t d, dim_of(args.attrs, out));
  if (out.shape[d] != static_cast<int64_t>(args.inputs.size()))
    return bad_types(std::to_string(args.inputs.size()) + " tensors do not stack to " +
                     to_string(out));
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
