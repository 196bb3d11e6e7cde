// Sliding windows over the spatial dims of a tensor [batch, channels, spatial…], for convolutions
// and pooling.
#pragma once
#include <vector>

#include "import/onnx/node.h"

namespace shw::import::onnx {

struct Window {
  std::vector<int64_t> kernel, stride, dilation;  // one number per spatial dim
};

// Reads the attributes `strides` and `dilations`.
Window window_of(Node& n, std::vector<int64_t> kernel);

// The padding from attribute `pads` or `auto_pad`: the sizes before all spatial dims, then those
// after them.
std::vector<int64_t> pads_of(Node& n, NodeId x, const Window& w);

// Pads the spatial dims with zeros; `pads` as above.
NodeId pad_spatial_dims(Node& n, NodeId x, const std::vector<int64_t>& pads);

}  // namespace shw::import::onnx
