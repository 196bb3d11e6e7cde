// Elementwise arithmetic of one, two or any number of tensors.
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

// Whether a division of these integers that rounds down differs from one towards zero.
NodeId is_rounded_down(Node& n, NodeId a, NodeId b) {
  const NodeId rest = n.binary(OpKind::kRemainder, a, b);
  const NodeId signs =
      n.binary(OpKind::kNe, n.binary(OpKind::kLt, a, 0), n.binary(OpKind::kLt, b, 0));
  return n.binary(OpKind::kLogicalAnd, n.binary(OpKind::kNe, rest, 0), signs);
}

// Integer division rounds towards zero.
void divide(Node& n) {
  const NodeId a = n.in(0), b = n.in(1);
  const Dtype dtype = n.type(a).dtype;
  if (is_floating(dtype)) return map_binary<OpKind::kDiv>(n);
  const NodeId down = n.binary(OpKind::kFloorDivide, a, b);
  if (dtype == Dtype::kU8) return n.out(down);
  n.out(n.binary(OpKind::kAdd, down, n.cast(is_rounded_down(n, a, b), dtype)));
}

// The result has the sign of the divisor if fmod = 0, and that of the dividend if fmod = 1.
void modulo(Node& n) {
  const bool like_c = n.attr("fmod", int64_t{0}) != 0;
  const NodeId a = n.in(0), b = n.in(1);
  if (!like_c) return n.out(n.binary(OpKind::kRemainder, a, b));
  if (is_floating(n.type(a).dtype)) {
    const NodeId rest =
        n.binary(OpKind::kRemainder, n.add(OpKind::kAbs, {a}), n.add(OpKind::kAbs, {b}));
    return n.out(n.binary(OpKind::kMul, n.add(OpKind::kSign, {a}), rest));
  }
  const NodeId rest = n.binary(OpKind::kRemainder, a, b);
  n.out(n.where(is_rounded_down(n, a, b), n.binary(OpKind::kSub, rest, b), rest));
}

// The result has the type of the base. Mixed integers and floats are computed in f64, in which a
// large integer exponent stays even or odd; integers are computed in the wider of the two types.
void power_of_tensor(Node& n) {
  NodeId x = n.in(0), exponent = n.in(1);
  const Dtype dtype = n.type(x).dtype;
  if (is_floating(dtype) != is_floating(n.type(exponent).dtype)) {
    x = n.cast(x, Dtype::kF64);
    exponent = n.cast(exponent, Dtype::kF64);
  }
  n.out(n.cast(n.binary(OpKind::kPowTensor, x, exponent), dtype));
}

void power(Node& n) {
  const Known* exponent = n.known(1);
  if (exponent == nullptr || exponent->type.numel() != 1 || exponent->type.rank() > n.rank(n.in(0)))
    return power_of_tensor(n);
  const double e = number_at(*exponent, 0);
  const NodeId x = n.in(0);
  if (is_floating(n.type(x).dtype) || is_floating(exponent->type.dtype)) {
    // A fractional exponent is a float, so integers are raised to it in f64.
    const Dtype dtype = n.type(x).dtype;
    const NodeId base = is_floating(dtype) ? x : n.cast(x, Dtype::kF64);
    return n.out(n.cast(n.add(OpKind::kPow, {base}, {{AttrKey::kExponent, e}}), dtype));
  }
  n.out(n.add(OpKind::kPow, {x}, {{AttrKey::kExponent, integer_at(*exponent, 0)}}));
}

template <OpKind kOp>
NodeId of_all(Node& n) {
  if (n.num_inputs() == 0) n.fail(invalid_argument("there are no inputs"));
  NodeId all = n.in(0);
  for (size_t i = 1; i < n.num_inputs() && n.ok(); ++i) all = n.binary(kOp, all, n.in(i));
  return all;
}

template <OpKind kOp>
void variadic(Node& n) {
  n.out(of_all<kOp>(n));
}

void mean(Node& n) {
  n.out(n.binary(OpKind::kDiv, of_all<OpKind::kAdd>(n), static_cast<double>(n.num_inputs())));
}

// min and max are numbers that may be known at import, or scalars.
void clip(Node& n) {
  NodeId x = n.in();
  if (n.has(1)) x = n.binary(OpKind::kMaximum, x, n.operand(1, 0));
  if (n.has(2)) x = n.binary(OpKind::kMinimum, x, n.operand(2, 0));
  n.out(x);
}

void identity(Node& n) {
  if (const Value* v = n.required(0)) n.out(*v);
}

constexpr Mapper kArithmeticMappers[] = {
    {"Abs", map_unary<OpKind::kAbs>, 6},
    {"Add", map_binary<OpKind::kAdd>, 7},
    {"BitwiseAnd", map_binary<OpKind::kBitwiseAnd>, 18},
    {"BitwiseNot", map_unary<OpKind::kBitwiseNot>, 18},
    {"BitwiseOr", map_binary<OpKind::kBitwiseOr>, 18},
    {"Ceil", map_unary<OpKind::kCeil>, 6},
    {"Clip", clip, 11},
    {"Div", divide, 7},
    {"Erf", map_unary<OpKind::kErf>, 9},
    {"Exp", map_unary<OpKind::kExp>, 6},
    {"Floor", map_unary<OpKind::kFloor>, 6},
    {"Identity", identity, 1},
    {"Log", map_unary<OpKind::kLog>, 6},
    {"Max", variadic<OpKind::kMaximum>, 8},
    {"Mean", mean, 8},
    {"Min", variadic<OpKind::kMinimum>, 8},
    {"Mod", modulo, 10},
    {"Mul", map_binary<OpKind::kMul>, 7},
    {"Neg", map_unary<OpKind::kNeg>, 6},
    {"Pow", power, 7},
    {"Reciprocal", map_unary<OpKind::kReciprocal>, 6},
    {"Round", map_unary<OpKind::kRound>, 11},
    {"Sign", map_unary<OpKind::kSign>, 9},
    {"Sqrt", map_unary<OpKind::kSqrt>, 6},
    {"Sub", map_binary<OpKind::kSub>, 7},
    {"Sum", variadic<OpKind::kAdd>, 8},
};

}  // namespace

std::span<const Mapper> arithmetic_mappers() { return kArithmeticMappers; }

}  // namespace shw::import::onnx
