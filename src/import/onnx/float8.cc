#include "import/onnx/float8.h"

namespace shw::import::onnx {

NodeId cast_to_float8(Node& n, NodeId x, Dtype dtype, bool saturates) {
  if (!n.ok() || n.type(x).dtype == dtype) return x;
  if (!saturates) return n.cast(x, dtype);
  const Dtype from = n.type(x).dtype;
  if (!is_floating(from) || is_float8(from)) x = n.cast(x, Dtype::kF32);
  const double most = dtype == Dtype::kF8E4M3 ? 448 : 57344;
  return n.cast(n.add(OpKind::kClamp, {x}, {{AttrKey::kMin, -most}, {AttrKey::kMax, most}}), dtype);
}

}  // namespace shw::import::onnx
