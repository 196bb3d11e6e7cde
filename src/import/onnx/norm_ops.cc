// Normalisations, for inference.
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

std::vector<int64_t> dims_from(int64_t first, int64_t rank) {
  std::vector<int64_t> dims;
  for (int64_t d = first; d < rank; ++d) dims.push_back(d);
  return dims;
}

// (x − mean) / √(variance + eps) over these dims.
NodeId normalised(Node& n, NodeId x, const std::vector<int64_t>& dims, double eps) {
  const NodeId mean =
      n.add(OpKind::kMean, {x}, {{AttrKey::kDims, dims}, {AttrKey::kKeepDim, true}});
  const NodeId centred = n.binary(OpKind::kSub, x, mean);
  const NodeId variance = n.add(OpKind::kMean, {n.binary(OpKind::kMul, centred, centred)},
                                {{AttrKey::kDims, dims}, {AttrKey::kKeepDim, true}});
  return n.binary(OpKind::kMul, centred,
                  n.add(OpKind::kRsqrt, {n.binary(OpKind::kAdd, variance, eps)}));
}

// x · scale + bias along dim 1, the channels.
NodeId affine(Node& n, NodeId x, NodeId scale, NodeId bias, int64_t rank) {
  return n.binary(OpKind::kAdd, n.binary(OpKind::kMul, x, n.along(scale, 1, rank)),
                  n.along(bias, 1, rank));
}

void layer_norm(Node& n) {
  const double eps = n.attr("epsilon", 1e-5);
  n.refuse_if(n.attr("stash_type", int64_t{1}) != 1, "stash_type other than float");
  const NodeId x = n.in(0);
  const auto axis = static_cast<int64_t>(n.axis(n.attr("axis", int64_t{-1}), n.rank(x)));
  if (!n.ok()) return;
  Exprs normalised = n.emit().sizes(x);
  normalised.erase(normalised.begin(), normalised.begin() + axis);
  // ONNX allows smaller scales and biases; this library's operation needs the normalised shape.
  const auto of_shape = [&](NodeId w) {
    if (!w.valid() || n.emit().sizes(w) == normalised) return w;
    return n.add(OpKind::kExpand, {w}, {{AttrKey::kSize, normalised}});
  };
  const NodeId all = n.add(OpKind::kLayerNorm, {x, of_shape(n.in(1)), of_shape(n.in_or_none(2))},
                           {{AttrKey::kNormalizedShape, normalised}, {AttrKey::kEps, eps}});
  for (size_t i = 0; i < 3; ++i)
    if (n.wants(i)) n.out(n.emit().element(all, static_cast<int64_t>(i)), i);
}

void batch_norm(Node& n) {
  n.refuse_if(n.attr("training_mode", int64_t{0}) != 0, "BatchNormalization in training");
  n.skip("momentum");  // only for training
  const double eps = n.attr("epsilon", 1e-5);
  const NodeId x = n.in(0);
  const int64_t rank = n.rank(x);
  n.refuse_if(n.wants(1), "outputs other than the first are not supported");
  if (n.ok() && rank < 2) return n.fail(invalid_argument("expected at least two dims"));
  const NodeId rstd = n.add(OpKind::kRsqrt, {n.binary(OpKind::kAdd, n.in(4), eps)});
  const NodeId centred = n.binary(OpKind::kSub, x, n.along(n.in(3), 1, rank));
  const NodeId scale = n.binary(OpKind::kMul, n.in(1), rstd);
  n.out(affine(n, centred, scale, n.in(2), rank));
}

void instance_norm(Node& n) {
  const double eps = n.attr("epsilon", 1e-5);
  const NodeId x = n.in(0);
  const int64_t rank = n.rank(x);
  if (n.ok() && rank < 3) return n.fail(invalid_argument("expected at least three dims"));
  n.out(affine(n, normalised(n, x, dims_from(2, rank), eps), n.in(1), n.in(2), rank));
}

// Before opset 21, scale and bias have one number per group; from then on, one per channel.
void group_norm(Node& n) {
  const double eps = n.attr("epsilon", 1e-5);
  n.refuse_if(n.attr("stash_type", int64_t{1}) != 1, "stash_type other than float");
  n.require("num_groups");
  const int64_t groups = n.attr("num_groups", int64_t{1});
  const NodeId x = n.in(0);
  const int64_t rank = n.rank(x);
  if (!n.ok()) return;
  const Exprs whole = n.emit().sizes(x);
  if (rank < 2 || groups < 1 || !whole[1].is_number() || whole[1].constant % groups != 0)
    return n.fail(invalid_argument("the channels of " + to_string(n.type(x)) + " are not " +
                                   std::to_string(groups) + " groups"));
  if (rank + 1 > kMaxRank) return n.fail(unimplemented("more than 7 dims"));
  Exprs grouped = whole;
  grouped[1] = {whole[1].constant / groups, {}};
  grouped.insert(grouped.begin() + 1, Expr{groups, {}});
  NodeId y = normalised(n, n.view(x, grouped), dims_from(2, rank + 1), eps);
  if (n.opset() < 21) return n.out(n.view(affine(n, y, n.in(1), n.in(2), rank + 1), whole));
  n.out(affine(n, n.view(y, whole), n.in(1), n.in(2), rank));
}

void mean_variance_norm(Node& n) {
  const NodeId x = n.in();
  const std::vector<int64_t> dims = n.axes(n.attr_ints("axes", {0, 2, 3}), n.rank(x));
  n.out(normalised(n, x, dims, 1e-9));
}

void lp_norm(Node& n) {
  const NodeId x = n.in();
  const int64_t p = n.attr("p", int64_t{2});
  const std::vector<int64_t> dims = n.axes({n.attr("axis", int64_t{-1})}, n.rank(x));
  n.refuse_if(p != 1 && p != 2, "a norm other than L1 and L2");
  const NodeId each = p == 1 ? n.add(OpKind::kAbs, {x}) : n.binary(OpKind::kMul, x, x);
  const NodeId sum =
      n.add(OpKind::kSum, {each}, {{AttrKey::kDims, dims}, {AttrKey::kKeepDim, true}});
  n.out(n.binary(OpKind::kDiv, x, p == 1 ? sum : n.add(OpKind::kSqrt, {sum})));
}

// In inference dropout keeps all elements, and the mask is all true.
void dropout(Node& n) {
  n.skip("seed");
  n.skip("ratio");
  const bool trains = n.has(2) && n.number(2, "the training mode") != 0;
  const bool drops = trains && !(n.has(1) && n.number(1, "the ratio") == 0);
  n.refuse_if(drops, "Dropout in training");
  const NodeId x = n.in(0);
  n.out(x, 0);
  if (n.wants(1))
    n.out(n.add(OpKind::kFullLike, {x},
                {{AttrKey::kFillValue, true}, {AttrKey::kDtype, Dtype::kBool}}),
          1);
}

constexpr Mapper kNormMappers[] = {
    {"BatchNormalization", batch_norm, 9},
    {"Dropout", dropout, 10},
    {"GroupNormalization", group_norm, 18},
    {"InstanceNormalization", instance_norm, 6},
    {"LayerNormalization", layer_norm, 17},
    {"LpNormalization", lp_norm, 1},
    {"MeanVarianceNormalization", mean_variance_norm, 9},
};

}  // namespace

std::span<const Mapper> norm_mappers() { return kNormMappers; }

}  // namespace shw::import::onnx
