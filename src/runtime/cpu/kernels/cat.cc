// cat: the inputs one after another along attrs.dim.
#include <algorithm>

#include "runtime/cpu/parts.h"
#include "runtime/dim.h"

namespace shw::runtime::cpu {
namespace {

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(1, args.inputs.size())));
  const TensorType& out = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const size_t d, dim_of(args.attrs, out));
  std::vector<Part> parts;
  int64_t at = 0;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const TensorType& in = *args.inputs[i];
    if (in.rank() != out.rank() || in.shape[d] > out.shape[d] - at)
      return bad_types(to_string(in) + " is no part of " + to_string(out));
    Part part{i, out, at * out.strides[d] * dtype_size(out.dtype)};
    part.window.shape[d] = in.shape[d];
    parts.push_back(part);
    at += in.shape[d];
  }
  if (at != out.shape[d]) return bad_types("the parts do not fill " + to_string(out));
  return prepare_parts(args, parts, Ground::kNone);
}

}  // namespace

extern const Kernel kCat;
constinit const Kernel kCat = {"cat", prepare};

}  // namespace shw::runtime::cpu
