// Windows that move over the spatial dims of a tensor [batch, channels, spatial…], of convolutions
// and of pooling.
#pragma once
#include <vector>

#include "import/onnx/node.h"

namespace shw::import::onnx {

struct Window {
  std::vector<int64_t> kernel, stride, dilation;  // one number a spatial dim
};

// Reads the attributes `strides` and `dilations`.
Window window_of(Node& n, std::vector<int64_t> kernel);

// What the attribute `pads` or `auto_pad` adds before each spatial dim, then behind each.
std::vector<int64_t> pads_of(Node& n, NodeId x, const Window& w);

// Zeros around the spatial dims; `pads` as above.
NodeId pad_spatial_dims(Node& n, NodeId x, const std::vector<int64_t>& pads);

}  // namespace shw::import::onnx
