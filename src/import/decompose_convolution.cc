// A transposed convolution equals the gradient of a convolution with respect to its input. The
// gradients of a transposed convolution are a convolution, and the gradient of a convolution with
// respect to its weight. Other convolutions have their own operations.
#include "import/decompose.h"

namespace shw::import::decompose {

std::string_view convolution(Expansion& e) {
  if (!e.get_bool("transposed", false)) return {};
  const Dims shape = e.result_shape();
  if (shape.size() < 2) return e.refuse("the result has no channels");
  e.bind_ints("shape", shape);
  e.run(
      "y = convolution_backward(input, full(shape, 0, dtype=dtype(input)), weight, "
      "stride=stride, padding=padding, dilation=dilation, groups=groups, "
      "output_mask=[1, 0, 0]).0; y");
  Dims one(shape.size(), 1);
  one[1] = shape[1];
  e.bind_ints("one", one);
  return e.has("bias") ? "add(y, view(bias, one))" : "alias(y)";
}

std::string_view convolution_backward(Expansion& e) {
  if (!e.get_bool("transposed", false)) return {};
  Dims rest{0};
  for (int64_t d = 2; d < e.type("input").rank(); ++d) rest.push_back(d);
  e.bind_ints("rest", rest);
  return "(convolution(grad_output, weight, none, stride, padding, dilation, false, [0], groups), "
         "convolution_backward(input, grad_output, weight, stride=stride, padding=padding, "
         "dilation=dilation, groups=groups, output_mask=[0, 1, 0]).1, sum(grad_output, rest))";
}

}  // namespace shw::import::decompose
