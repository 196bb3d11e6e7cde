// Convolutions.
#include <algorithm>

#include "import/onnx/table.h"
#include "import/onnx/window.h"

namespace shw::import::onnx {
namespace {

// Padding that differs between the two sides is added by a separate step.
NodeId padded(Node& n, NodeId x, std::vector<int64_t>& pads) {
  const size_t dims = pads.size() / 2;
  if (std::equal(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(dims),
                 pads.begin() + static_cast<ptrdiff_t>(dims)))
    return x;
  const NodeId wide = pad_spatial_dims(n, x, pads);
  std::fill(pads.begin(), pads.end(), 0);
  return wide;
}

void conv(Node& n) {
  NodeId x = n.in(0);
  const NodeId weight = n.in(1), bias = n.in_or_none(2);
  if (!n.ok()) return;
  if (n.rank(x) < 3 || n.rank(weight) != n.rank(x))
    return n.fail(invalid_argument("a convolution of " + to_string(n.type(x)) + " with " +
                                   to_string(n.type(weight))));
  const auto dims = static_cast<size_t>(n.rank(x) - 2);
  const Dims& shape = n.type(weight).shape;
  const std::vector<int64_t> kernel(shape.begin() + 2, shape.end());
  if (n.attr_ints("kernel_shape", kernel) != kernel)
    return n.fail(invalid_argument("kernel_shape is not that of the weight"));
  const Window w = window_of(n, kernel);
  const int64_t groups = n.attr("group", int64_t{1});
  std::vector<int64_t> pads = pads_of(n, x, w);
  if (!n.ok()) return;
  x = padded(n, x, pads);
  pads.resize(dims);
  n.out(n.add(OpKind::kConvolution, {x, weight, bias},
              {{AttrKey::kStride, w.stride},
               {AttrKey::kPadding, pads},
               {AttrKey::kDilation, w.dilation},
               {AttrKey::kGroups, groups}}));
}

constexpr Mapper kConvolutionMappers[] = {
    {"Conv", conv, 1},
};

}  // namespace

std::span<const Mapper> convolution_mappers() { return kConvolutionMappers; }

}  // namespace shw::import::onnx
