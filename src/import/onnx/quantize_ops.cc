// Quantised tensors, as integers or 8-bit floats and their scales.
#include "import/onnx/float8.h"
#include "import/onnx/table.h"
#include "import/onnx/tensor.h"

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
}

// Whether all elements of this input are known to be 0.
bool is_zero(Node& n, size_t input) {
  const Known* known = n.known(input);
  if (known == nullptr) return false;
  for (int64_t i = 0; i < known->type.numel(); ++i)
    if (number_at(*known, static_cast<size_t>(i)) != 0) return false;
  return true;
}

// The zero point determines the type, and must be 0.
void quantize_to_float8(Node& n, NodeId scale, Dtype dtype, bool saturates) {
  n.refuse_if(!is_zero(n, 2), "8-bit floats with a zero point other than 0");
  n.refuse_if(is_float8(n.type(n.in(0)).dtype), "quantisation of 8-bit floats");
  if (n.ok()) n.out(cast_to_float8(n, n.binary(OpKind::kDiv, n.in(0), scale), dtype, saturates));
}

void quantize(Node& n) {
  check_plain(n);
  const NodeId x = n.in(0), scale = n.in(1), zero = n.in_or_none(2);
  if (!n.ok()) return;
  const bool saturates = n.attr("saturate", int64_t{1}) != 0;
  const Dtype dtype = zero.valid() ? n.type(zero).dtype : Dtype::kU8;
  if (is_float8(dtype)) return quantize_to_float8(n, beside(n, scale, x), dtype, saturates);
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
  if (is_float8(n.type(x).dtype)) {
    n.refuse_if(n.has(2) && !is_zero(n, 2), "8-bit floats with a zero point other than 0");
    return n.out(n.binary(OpKind::kMul, n.cast(x, n.type(scale).dtype), beside(n, scale, x)));
  }
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
