#include "runtime/convolution_shape.h"

namespace shw::runtime {
namespace {

// Reads attribute `key` for the last `dims` spatial dims; the dims in front of them get
// `otherwise`.
bool spatial(const Attrs& attrs, AttrKey key, size_t dims, int64_t otherwise, int64_t least,
             ConvolutionShape::Spatial* out) {
  constexpr int64_t kMost = int64_t{1} << 31;
  const std::vector<int64_t>& given = attrs.get_ints(key);
  out->fill(otherwise);
  if (given.empty()) return true;
  if (given.size() != 1 && given.size() != dims) return false;
  for (size_t d = 0; d < dims; ++d) {
    const int64_t x = given[given.size() == 1 ? 0 : d];
    if (x < least || x >= kMost) return false;
    (*out)[ConvolutionShape::kDims - dims + d] = x;
  }
  return true;
}

}  // namespace

Result<ConvolutionShape> convolution_shape(const Attrs& attrs, const TensorType& input,
                                           const TensorType& weight, const TensorType& result) {
  if (attrs.get_bool(AttrKey::kTransposed, false)) return unimplemented("transposed convolutions");
  const auto refuse = [&] {
    return bad_types(to_string(input) + " with " + to_string(weight) + " is not convolved to " +
                     to_string(result));
  };
  const size_t rank = input.shape.size();
  if (rank < 3 || rank > 2 + ConvolutionShape::kDims || weight.shape.size() != rank ||
      result.shape.size() != rank || !is_floating(input.dtype) || !is_floating(weight.dtype) ||
      !is_floating(result.dtype))
    return refuse();
  ConvolutionShape s;
  const size_t dims = rank - 2;
  if (!spatial(attrs, AttrKey::kStride, dims, 1, 1, &s.stride) ||
      !spatial(attrs, AttrKey::kPadding, dims, 0, 0, &s.padding) ||
      !spatial(attrs, AttrKey::kDilation, dims, 1, 1, &s.dilation))
    return refuse();
  s.in.fill(1);
  s.out.fill(1);
  s.kernel.fill(1);
  bool fits = true;
  for (size_t d = 0; d < dims; ++d) {
    const size_t at = ConvolutionShape::kDims - dims + d;
    constexpr int64_t kMost = int64_t{1} << 31;
    s.in[at] = input.shape[d + 2];
    s.out[at] = result.shape[d + 2];
    s.kernel[at] = weight.shape[d + 2];
    fits =
        fits && s.in[at] < kMost && s.out[at] < kMost && s.kernel[at] >= 1 && s.kernel[at] < kMost;
  }
  for (size_t d = 0; fits && d < ConvolutionShape::kDims; ++d) {
    const int64_t room = s.in[d] + 2 * s.padding[d] - s.dilation[d] * (s.kernel[d] - 1) - 1;
    fits = room >= 0 && room / s.stride[d] + 1 == s.out[d];
  }
  s.samples = input.shape[0];
  s.groups = attrs.get_int(AttrKey::kGroups, 1);
  fits = fits && s.groups >= 1 && weight.shape[0] % s.groups == 0 &&
         input.shape[1] == weight.shape[1] * s.groups && result.shape[0] == s.samples &&
         result.shape[1] == weight.shape[0];
  if (!fits) return refuse();
  s.in_channels = weight.shape[1];
  s.out_channels = weight.shape[0] / s.groups;
  SHW_RETURN_IF_ERROR(check_size(
      {s.in_channels, s.kernel[0], s.kernel[1], s.kernel[2], s.out[0], s.out[1], s.out[2]}));
  for (const TensorType* t : {&input, &weight, &result})
    SHW_RETURN_IF_ERROR(check_size({t->numel()}));
  return s;
}

Result<ConvolutionShape> convolution_shape(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType &input = *args.inputs[0], &weight = *args.inputs[1], &out = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const auto shape, convolution_shape(args.attrs, input, weight, out));
  const TensorType* bias = args.inputs.size() > 2 ? args.inputs[2] : nullptr;
  if (bias != nullptr && (bias->shape != Dims{weight.shape[0]} || !is_floating(bias->dtype)))
    return bad_types(to_string(*bias) + " is not one number per channel of " + to_string(weight));
  return shape;
}

Result<ConvolutionShape> convolution_backward_shape(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 3, 0));
  if (args.inputs.size() != 3 || args.outputs.size() != 3)
    return bad_types("a convolution has three gradients");
  const TensorType &grad = *args.inputs[0], &input = *args.inputs[1], &weight = *args.inputs[2];
  SHW_ASSIGN_OR_RETURN(const auto shape, convolution_shape(args.attrs, input, weight, grad));
  const Dims shapes[] = {input.shape, weight.shape, Dims{weight.shape[0]}};
  for (size_t i = 0; i < 3; ++i)
    if (args.outputs[i] != nullptr &&
        (args.outputs[i]->shape != shapes[i] || !is_floating(args.outputs[i]->dtype)))
      return bad_types("a gradient cannot be " + to_string(*args.outputs[i]));
  return shape;
}

}  // namespace shw::runtime
