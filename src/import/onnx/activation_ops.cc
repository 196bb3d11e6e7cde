// Activation functions; formulas where this library has no such operation.
#include <cmath>

#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

constexpr double kSeluAlpha = 1.67326319217681884765625, kSeluGamma = 1.05070102214813232421875;

NodeId zeros_like(Node& n, NodeId x) { return n.scalar(0, n.type(x).dtype); }
NodeId is_positive(Node& n, NodeId x) { return n.binary(OpKind::kGt, x, 0.0); }

// x where x > 0, else `negative`.
NodeId positive_or(Node& n, NodeId x, NodeId negative) {
  return n.where(is_positive(n, x), x, negative);
}

// scale · (exp(x / width) − 1) for x ≤ 0 only: for x > 0, exp could overflow in the branch that is
// not selected.
NodeId exponential_branch(Node& n, NodeId x, double scale, double width) {
  NodeId negative = n.binary(OpKind::kMinimum, x, 0.0);
  if (width != 1) negative = n.binary(OpKind::kDiv, negative, width);
  return n.binary(OpKind::kMul, n.add(OpKind::kExpm1, {negative}), scale);
}

void elu(Node& n) {
  const NodeId x = n.in();
  n.out(positive_or(n, x, exponential_branch(n, x, n.attr("alpha", 1.0), 1)));
}

void celu(Node& n) {
  const NodeId x = n.in();
  const double alpha = n.attr("alpha", 1.0);
  n.out(positive_or(n, x, exponential_branch(n, x, alpha, alpha)));
}

void selu(Node& n) {
  const NodeId x = n.in();
  const double alpha = n.attr("alpha", kSeluAlpha), gamma = n.attr("gamma", kSeluGamma);
  n.out(n.binary(OpKind::kMul, positive_or(n, x, exponential_branch(n, x, alpha, 1)), gamma));
}

void leaky_relu(Node& n) {
  const NodeId x = n.in();
  n.out(
      n.where(n.binary(OpKind::kGe, x, 0.0), x, n.binary(OpKind::kMul, x, n.attr("alpha", 0.01))));
}

void prelu(Node& n) {
  const NodeId x = n.in(0), slope = n.in(1);
  const bool is_float = is_floating(n.type(x).dtype);
  const NodeId is_negative = is_float ? n.binary(OpKind::kLt, x, 0.0) : n.binary(OpKind::kLt, x, 0);
  n.out(n.where(is_negative, n.binary(OpKind::kMul, x, slope), x));
}

void thresholded_relu(Node& n) {
  const NodeId x = n.in();
  n.out(n.where(n.binary(OpKind::kGt, x, n.attr("alpha", 1.0)), x, zeros_like(n, x)));
}

NodeId hard_sigmoid(Node& n, NodeId x, double alpha, double beta) {
  const NodeId line = n.binary(OpKind::kAdd, n.binary(OpKind::kMul, x, alpha), beta);
  return n.add(OpKind::kClamp, {line}, {{AttrKey::kMin, 0.0}, {AttrKey::kMax, 1.0}});
}

void hard_sigmoid(Node& n) {
  n.out(hard_sigmoid(n, n.in(), n.attr("alpha", 0.2), n.attr("beta", 0.5)));
}

void hard_swish(Node& n) {
  const NodeId x = n.in();
  n.out(n.binary(OpKind::kMul, x, hard_sigmoid(n, x, 1.0 / 6, 0.5)));
}

// log(1 + exp(x)) without overflow.
NodeId softplus(Node& n, NodeId x) {
  const NodeId tail = n.add(OpKind::kExp, {n.add(OpKind::kNeg, {n.add(OpKind::kAbs, {x})})});
  return n.binary(OpKind::kAdd, n.add(OpKind::kRelu, {x}), n.add(OpKind::kLog1p, {tail}));
}
void softplus(Node& n) { n.out(softplus(n, n.in())); }

void softsign(Node& n) {
  const NodeId x = n.in();
  n.out(n.binary(OpKind::kDiv, x, n.binary(OpKind::kAdd, n.add(OpKind::kAbs, {x}), 1.0)));
}

void mish(Node& n) {
  const NodeId x = n.in();
  n.out(n.binary(OpKind::kMul, x, n.add(OpKind::kTanh, {softplus(n, x)})));
}

void gelu(Node& n) {
  n.out(n.add(OpKind::kGelu, {n.in()}, {{AttrKey::kApproximate, n.attr("approximate", "none")}}));
}

void shrink(Node& n) {
  const double bias = n.attr("bias", 0.0), lambda = n.attr("lambd", 0.5);
  const NodeId x = n.in();
  const Dtype dtype = n.type(x).dtype;
  n.refuse_if(!is_floating(dtype), "Shrink of integers");
  const NodeId low = n.binary(OpKind::kLt, x, -lambda), high = n.binary(OpKind::kGt, x, lambda);
  n.out(n.where(low, n.binary(OpKind::kAdd, x, bias),
                n.where(high, n.binary(OpKind::kSub, x, bias), n.scalar(0, dtype))));
}

template <OpKind kOp>
void softmax(Node& n) {
  const NodeId x = n.in();
  const auto dim = static_cast<int64_t>(n.axis(n.attr("axis", int64_t{-1}), n.rank(x)));
  n.out(n.add(kOp, {x}, {{AttrKey::kDim, dim}}));
}

// 1 at the first of the largest elements, else 0.
void hardmax(Node& n) {
  const NodeId x = n.in();
  const size_t axis = n.axis(n.attr("axis", int64_t{-1}), n.rank(x));
  if (!n.ok()) return;
  n.refuse_if(n.emit().has_symbols(x), "inputs with symbolic sizes are not supported");
  const NodeId place =
      n.add(OpKind::kArgmax, {x}, {{AttrKey::kDim, axis}, {AttrKey::kKeepDim, true}});
  const NodeId places = n.along(
      n.add(OpKind::kIota, {}, {{AttrKey::kLength, n.type(x).shape[axis]}}), axis, n.rank(x));
  n.out(n.cast(n.binary(OpKind::kEq, place, places), n.type(x).dtype));
}

constexpr Mapper kActivationMappers[] = {
    {"Celu", celu, 12},
    {"Elu", elu, 6},
    {"Gelu", gelu, 20},
    {"HardSigmoid", hard_sigmoid, 6},
    {"HardSwish", hard_swish, 14},
    {"Hardmax", hardmax, 13},
    {"LeakyRelu", leaky_relu, 6},
    {"LogSoftmax", softmax<OpKind::kLogSoftmax>, 13},
    {"Mish", mish, 18},
    {"PRelu", prelu, 9},
    {"Relu", map_unary<OpKind::kRelu>, 6},
    {"Selu", selu, 6},
    {"Shrink", shrink, 9},
    {"Sigmoid", map_unary<OpKind::kSigmoid>, 6},
    {"Softmax", softmax<OpKind::kSoftmax>, 13},
    {"Softplus", softplus, 1},
    {"Softsign", softsign, 1},
    {"Tanh", map_unary<OpKind::kTanh>, 6},
    {"ThresholdedRelu", thresholded_relu, 10},
};

}  // namespace

std::span<const Mapper> activation_mappers() { return kActivationMappers; }

}  // namespace shw::import::onnx
