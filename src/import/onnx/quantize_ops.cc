// Quantised tensors, as integers and their scales.
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

// A scale or zero point for the whole tensor, or one for each slice along `axis`.
NodeId beside(Node& n, NodeId scale, NodeId x) {
  const int64_t axis = n.attr("axis", int64_t{1});
  if (!n.ok() || n.type(scale).numel() == 1) return scale;
  return n.along(scale, n.axis(axis, n.rank(x)), n.rank(x));
}

void check_plain(Node& n) {
  n.refuse_if(n.attr("block_size", int64_t{0}) != 0, "quantisation in blocks");
  n.skip("axis");
  n.skip("saturate");  // of 8-bit floats, which we do not have
}

void quantize(Node& n) {
  check_plain(n);
  const NodeId x = n.in(0), scale = n.in(1), zero = n.in_or_none(2);
  if (!n.ok()) return;
  const Dtype dtype = zero.valid() ? n.type(zero).dtype : Dtype::kU8;
  if (dtype != Dtype::kU8 && dtype != Dtype::kI8)
    return n.fail(unimplemented("quantisation to " + std::string(dtype_name(dtype))));
  n.refuse_if(n.type(x).dtype != Dtype::kF32, "quantisation of other than f32");
  NodeId y = n.add(OpKind::kRound, {n.binary(OpKind::kDiv, x, beside(n, scale, x))});
  if (zero.valid()) y = n.binary(OpKind::kAdd, y, beside(n, n.cast(zero, Dtype::kF32), x));
  const bool is_signed = dtype == Dtype::kI8;
  y = n.add(
      OpKind::kClamp, {y},
      {{AttrKey::kMin, is_signed ? -128.0 : 0.0}, {AttrKey::kMax, is_signed ? 127.0 : 255.0}});
  n.out(n.cast(y, dtype));
}

void dequantize(Node& n) {
  check_plain(n);
  const NodeId x = n.in(0), scale = n.in(1);
  if (!n.ok()) return;
  NodeId y = n.cast(x, Dtype::kI32);
  if (n.has(2)) y = n.binary(OpKind::kSub, y, beside(n, n.cast(n.in(2), Dtype::kI32), x));
  n.out(n.binary(OpKind::kMul, n.cast(y, n.type(scale).dtype), beside(n, scale, x)));
}

constexpr Mapper kQuantizeMappers[] = {
    {"DequantizeLinear", dequantize, 10},
    {"QuantizeLinear", quantize, 10},
};

}  // namespace

std::span<const Mapper> quantize_mappers() { return kQuantizeMappers; }

}  // namespace shw::import::onnx
