// Casts to 8-bit floats as ONNX defines them.
#pragma once
#include "import/onnx/node.h"

namespace shw::import::onnx {

// What is too large becomes the largest number, or, where it does not saturate, NaN or infinity.
// NaN stays NaN.
NodeId cast_to_float8(Node& n, NodeId x, Dtype dtype, bool saturates);

}  // namespace shw::import::onnx
