// Losses of class probabilities.
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

// −weight[target] · log_probability[target], of [N,C,…] and [N,…]; 0 where the target is ignored.
NodeId negative_likelihood(Node& n, NodeId log_p) {
  const std::string reduction = n.attr("reduction", "mean");
  const NodeId target = n.in(1);
  if (!n.ok()) return kNoNode;
  if (n.rank(log_p) < 2 || n.rank(target) != n.rank(log_p) - 1) {
    n.fail(invalid_argument("a loss of " + to_string(n.type(log_p)) + " and targets " +
                            to_string(n.type(target))));
    return kNoNode;
  }
  const Dtype dtype = n.type(log_p).dtype;
  NodeId classes = n.cast(target, Dtype::kI64), kept = kNoNode, weight = kNoNode;
  if (n.has_attr("ignore_index")) {  // ignored targets become class 0, with weight 0
    kept = n.binary(OpKind::kNe, classes, n.attr("ignore_index", int64_t{0}));
    classes = n.binary(OpKind::kMul, classes, n.cast(kept, Dtype::kI64));
    weight = n.cast(kept, dtype);
  }
  const NodeId column = n.add(OpKind::kUnsqueeze, {classes}, {{AttrKey::kDim, 1}});
  const NodeId taken =
      n.add(OpKind::kSqueeze, {n.add(OpKind::kGather, {log_p, column}, {{AttrKey::kDim, 1}})},
            {{AttrKey::kDim, 1}});
  NodeId loss = n.add(OpKind::kNeg, {taken});
  if (kept.valid()) loss = n.where(kept, loss, n.scalar(0, dtype));  // not ∞ · 0
  if (n.has(2)) {
    const NodeId given =
        n.add(OpKind::kIndex, {n.in(2), classes}, {{AttrKey::kDims, std::vector<int64_t>{0}}});
    loss = n.binary(OpKind::kMul, loss, given);
    weight = kept.valid() ? n.binary(OpKind::kMul, given, weight) : given;
  }
  if (reduction == "none") return loss;
  if (reduction == "sum") return n.add(OpKind::kSum, {loss});
  if (reduction != "mean") n.fail(invalid_argument("reduction '" + reduction + "' is unknown"));
  if (!weight.valid()) return n.add(OpKind::kMean, {loss});
  return n.binary(OpKind::kDiv, n.add(OpKind::kSum, {loss}), n.add(OpKind::kSum, {weight}));
}

void likelihood_loss(Node& n) { n.out(negative_likelihood(n, n.in(0))); }

void softmax_loss(Node& n) {
  const NodeId log_p = n.add(OpKind::kLogSoftmax, {n.in(0)}, {{AttrKey::kDim, 1}});
  n.out(negative_likelihood(n, log_p), 0);
  if (n.wants(1)) n.out(log_p, 1);
}

constexpr Mapper kLossMappers[] = {
    {"NegativeLogLikelihoodLoss", likelihood_loss, 12},
    {"SoftmaxCrossEntropyLoss", softmax_loss, 12},
};

}  // namespace

std::span<const Mapper> loss_mappers() { return kLossMappers; }

}  // namespace shw::import::onnx
