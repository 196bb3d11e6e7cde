// Casts to 8-bit floats as ONNX defines them.
#pragma once
#include "import/onnx/node.h"

namespace shw::import::onnx {

// With `saturates`, numbers that are too large become the largest number; otherwise NaN or
// infinity. NaN stays NaN.
NodeId cast_to_float8(Node& n, NodeId x, Dtype dtype, bool saturates);

}  // namespace shw::import::onnx
