// Trigonometric and hyperbolic functions.
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

template <OpKind kOp>
void unary(Node& n) {
  n.out(n.add(kOp, {n.in()}));
}

NodeId square(Node& n, NodeId x) { return n.binary(OpKind::kMul, x, x); }

void tan(Node& n) {
  const NodeId x = n.in();
  n.out(n.binary(OpKind::kDiv, n.add(OpKind::kSin, {x}), n.add(OpKind::kCos, {x})));
}

// With e = exp(x) − 1, which is exact near 0: (e + e / (e + 1)) / 2.
void sinh(Node& n) {
  const NodeId e = n.add(OpKind::kExpm1, {n.in()});
  const NodeId other = n.binary(OpKind::kDiv, e, n.binary(OpKind::kAdd, e, 1.0));
  n.out(n.binary(OpKind::kMul, n.binary(OpKind::kAdd, e, other), 0.5));
}

void cosh(Node& n) {
  const NodeId up = n.add(OpKind::kExp, {n.in()});
  n.out(n.binary(OpKind::kMul, n.binary(OpKind::kAdd, up, n.add(OpKind::kReciprocal, {up})), 0.5));
}

// sign(x) · log1p(a + a² / (1 + √(1 + a²))) with a = |x|: no cancellation.
void asinh(Node& n) {
  const NodeId x = n.in(), a = n.add(OpKind::kAbs, {x}), a2 = square(n, a);
  const NodeId root = n.add(OpKind::kSqrt, {n.binary(OpKind::kAdd, a2, 1.0)});
  const NodeId rest = n.binary(OpKind::kDiv, a2, n.binary(OpKind::kAdd, root, 1.0));
  const NodeId log = n.add(OpKind::kLog1p, {n.binary(OpKind::kAdd, a, rest)});
  n.out(n.binary(OpKind::kMul, n.add(OpKind::kSign, {x}), log));
}

// log1p(t + √(t² + 2t)) with t = x − 1.
void acosh(Node& n) {
  const NodeId t = n.binary(OpKind::kSub, n.in(), 1.0);
  const NodeId under = n.binary(OpKind::kAdd, square(n, t), n.binary(OpKind::kMul, t, 2.0));
  n.out(n.add(OpKind::kLog1p, {n.binary(OpKind::kAdd, t, n.add(OpKind::kSqrt, {under}))}));
}

// log1p(2x / (1 − x)) / 2
void atanh(Node& n) {
  const NodeId x = n.in();
  const NodeId ratio =
      n.binary(OpKind::kDiv, n.binary(OpKind::kMul, x, 2.0), n.binary(OpKind::kSub, 1.0, x));
  n.out(n.binary(OpKind::kMul, n.add(OpKind::kLog1p, {ratio}), 0.5));
}

void atan(Node& n) { n.out(n.binary(OpKind::kAtan2, n.in(), 1.0)); }

// √((1 − x)(1 + x)): the other leg of a right triangle whose hypotenuse is 1.
NodeId other_leg(Node& n, NodeId x) {
  const NodeId product =
      n.binary(OpKind::kMul, n.binary(OpKind::kSub, 1.0, x), n.binary(OpKind::kAdd, x, 1.0));
  return n.add(OpKind::kSqrt, {product});
}

void asin(Node& n) {
  const NodeId x = n.in();
  n.out(n.binary(OpKind::kAtan2, x, other_leg(n, x)));
}

void acos(Node& n) {
  const NodeId x = n.in();
  n.out(n.binary(OpKind::kAtan2, other_leg(n, x), x));
}

constexpr Mapper kTrigonometryMappers[] = {
    {"Acos", acos, 7},
    {"Asin", asin, 7},
    {"Atan", atan, 7},
    {"Acosh", acosh, 9},
    {"Asinh", asinh, 9},
    {"Atanh", atanh, 9},
    {"Cos", unary<OpKind::kCos>, 7},
    {"Cosh", cosh, 9},
    {"Sin", unary<OpKind::kSin>, 7},
    {"Sinh", sinh, 9},
    {"Tan", tan, 7},
};

}  // namespace

std::span<const Mapper> trigonometry_mappers() { return kTrigonometryMappers; }

}  // namespace shw::import::onnx
