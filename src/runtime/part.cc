#include "runtime/part.h"

#include <algorithm>

#include "runtime/dim.h"

namespace shw::runtime {
namespace {

Status check_window(const KernelArgs& args, const Part& part) {
  if (args.inputs[part.input]->shape == part.window.shape) return {};
  return bad_types(to_string(*args.inputs[part.input]) +
                   " does not have the shape of the part of " + to_string(*args.outputs[0]) +
                   " that it is copied to");
}

}  // namespace

Status check_parts(const KernelArgs& args, const std::vector<Part>& parts, Ground ground) {
  for (const Part& p : parts) SHW_RETURN_IF_ERROR(check_window(args, p));
  if (ground == Ground::kInput && args.inputs[0]->shape != args.outputs[0]->shape)
    return bad_types(to_string(*args.inputs[0]) + " does not have the shape of " +
                     to_string(*args.outputs[0]));
  return {};
}

Result<std::vector<Part>> joined_parts(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, std::max<size_t>(1, args.inputs.size())));
  const TensorType& out = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const size_t d, dim_of(args.attrs, out));
  std::vector<Part> parts;
  int64_t at = 0;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const TensorType& in = *args.inputs[i];
    if (in.rank() != out.rank() || in.shape[d] > out.shape[d] - at)
      return bad_types(to_string(in) + " cannot be a part of " + to_string(out) +
                       ": expected the same rank, and parts whose sizes in dim " +
                       std::to_string(d) + " add up to that of the result");
    Part part{i, out, at * out.strides[d] * dtype_size(out.dtype)};
    part.window.shape[d] = in.shape[d];
    parts.push_back(part);
    at += in.shape[d];
  }
  if (at != out.shape[d]) return bad_types("the parts do not fill " + to_string(out));
  return parts;
}

Result<std::vector<Part>> stacked_parts(const KernelArgs& args) {
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
  return parts;
}

Result<Part> selected_part(const KernelArgs& args, size_t input) {
  SHW_RETURN_IF_ERROR(expect_operands(args, input + 1));
  SHW_ASSIGN_OR_RETURN(const size_t dim, dim_of(args.attrs, *args.outputs[0]));
  const TensorType& out = *args.outputs[0];
  int64_t index = args.attrs.get_int(AttrKey::kIndex, 0);
  if (index < 0) index += out.shape[dim];
  if (index < 0 || index >= out.shape[dim])
    return bad_types("no such element in " + to_string(out));
  Part part{input, out, index * out.strides[dim] * dtype_size(out.dtype)};
  part.window.shape.erase(dim);
  part.window.strides.erase(dim);
  return part;
}

Result<Part> sliced_part(const KernelArgs& args, size_t input) {
  SHW_RETURN_IF_ERROR(expect_operands(args, input + 1));
  SHW_ASSIGN_OR_RETURN(const size_t dim, dim_of(args.attrs, *args.outputs[0]));
  const TensorType& out = *args.outputs[0];
  const int64_t n = out.shape[dim], step = args.attrs.get_int(AttrKey::kStep, 1);
  const auto bound = [n](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + n : at, 0, n); };
  const int64_t start = bound(args.attrs.get_int(AttrKey::kStart, 0));
  const int64_t span = std::max<int64_t>(0, bound(args.attrs.get_int(AttrKey::kEnd, n)) - start);
  if (step < 1) return bad_types("a slice with step " + std::to_string(step));
  Part part{input, out, start * out.strides[dim] * dtype_size(out.dtype)};
  part.window.shape[dim] = span / step + (span % step != 0);
  part.window.strides[dim] *= std::min(step, std::max<int64_t>(n, 1));
  if (part.window.numel() == 0) part.offset_bytes = 0;  // else it might lie after the result's end
  return part;
}

}  // namespace shw::runtime
