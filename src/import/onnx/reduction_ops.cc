// Reductions over axes, running sums, and indices of extremes.
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

using Reduce = NodeId (*)(Node&, NodeId x, const Args& over);

// Calls `reduce` with the axes and keepdims as arguments. The axes are an attribute before opset
// `axes_input`, and an input from then on.
template <Reduce kReduce, int64_t kAxesInput = 18>
void reduction(Node& n) {
  const NodeId x = n.in();
  const bool keep = n.attr("keepdims", int64_t{1}) != 0;
  const bool nothing = n.attr("noop_with_empty_axes", int64_t{0}) != 0;
  if (!n.ok()) return;
  std::vector<int64_t> axes = n.axes_given(kAxesInput, n.rank(x));
  if (axes.empty() && nothing) {  // each element is reduced by itself
    const NodeId alone = n.add(OpKind::kUnsqueeze, {x}, {{AttrKey::kDim, n.rank(x)}});
    Args last;
    last.emplace_back(AttrKey::kDims, std::vector<int64_t>{n.rank(x)});
    return n.out(kReduce(n, alone, last));
  }
  if (axes.empty())  // all of them
    for (int64_t i = 0; i < n.rank(x); ++i) axes.push_back(i);
  Args over;
  if (!axes.empty()) {
    over.emplace_back(AttrKey::kDims, axes);
    over.emplace_back(AttrKey::kKeepDim, keep);
  }
  const NodeId y = kReduce(n, x, over);
  // This library's means and roots of integers are floats; ONNX keeps the type.
  n.refuse_if(n.type(y).dtype != n.type(x).dtype, "integer inputs are not supported");
  n.out(y);
}

template <OpKind kOp>
NodeId plain(Node& n, NodeId x, const Args& over) {
  return n.add(kOp, {x}, over);
}

// Sums keep the type of the elements, as ONNX requires.
template <OpKind kOp>
NodeId same_type(Node& n, NodeId x, const Args& over) {
  if (!n.ok() || is_floating(n.type(x).dtype)) return n.add(kOp, {x}, over);
  Args typed = over;
  typed.emplace_back(AttrKey::kDtype, n.type(x).dtype);
  return n.add(kOp, {x}, std::move(typed));
}
NodeId sum(Node& n, NodeId x, const Args& over) { return same_type<OpKind::kSum>(n, x, over); }

NodeId l1(Node& n, NodeId x, const Args& over) { return sum(n, n.add(OpKind::kAbs, {x}), over); }
NodeId sum_square(Node& n, NodeId x, const Args& over) {
  return sum(n, n.binary(OpKind::kMul, x, x), over);
}
NodeId l2(Node& n, NodeId x, const Args& over) {
  return n.add(OpKind::kSqrt, {sum_square(n, x, over)});
}
NodeId log_sum(Node& n, NodeId x, const Args& over) {
  return n.add(OpKind::kLog, {sum(n, x, over)});
}

// m + log Σ exp(x − m), with m the largest element, so that exp does not overflow. If m is
// infinite, it is the result; x − m would be NaN.
NodeId log_sum_exp(Node& n, NodeId x, const Args& over) {
  Args kept = over;
  for (auto& [key, value] : kept)
    if (key == AttrKey::kKeepDim) value = true;
  const auto finite = [&](NodeId m) {
    const NodeId is_finite = n.binary(OpKind::kEq, n.binary(OpKind::kSub, m, m), 0.0);
    return n.where(is_finite, m, n.scalar(0, n.type(m).dtype));
  };
  const NodeId most = finite(n.add(OpKind::kAmax, {x}, kept));
  const NodeId exps = n.add(OpKind::kExp, {n.binary(OpKind::kSub, x, most)});
  const NodeId log = n.add(OpKind::kLog, {n.add(OpKind::kSum, {exps}, over)});
  return n.binary(OpKind::kAdd, log, finite(n.add(OpKind::kAmax, {x}, over)));
}

// The index of the first or the last occurrence of the extreme.
template <OpKind kOp>
void place_of_extreme(Node& n) {
  NodeId x = n.in();
  const bool keep = n.attr("keepdims", int64_t{1}) != 0;
  const bool last = n.attr("select_last_index", int64_t{0}) != 0;
  const size_t axis = n.axis(n.attr("axis", int64_t{0}), n.rank(x));
  if (!n.ok()) return;
  n.refuse_if(last && n.emit().has_symbols(x),
              "select_last_index is not supported for inputs with symbolic sizes");
  const int64_t end = n.type(x).shape[axis] - 1;
  if (last)
    x = n.add(OpKind::kFlip, {x}, {{AttrKey::kDims, std::vector{static_cast<int64_t>(axis)}}});
  const NodeId place = n.add(kOp, {x}, {{AttrKey::kDim, axis}, {AttrKey::kKeepDim, keep}});
  n.out(last ? n.binary(OpKind::kSub, end, place) : place);
}

NodeId flipped(Node& n, NodeId x, int64_t dim, bool really) {
  return really ? n.add(OpKind::kFlip, {x}, {{AttrKey::kDims, std::vector{dim}}}) : x;
}

// `exclusive`: sums exclude the element itself, so they move by one position.
void cumsum(Node& n) {
  const bool exclusive = n.attr("exclusive", int64_t{0}) != 0;
  const bool reverse = n.attr("reverse", int64_t{0}) != 0;
  NodeId x = n.in();
  const auto dim = static_cast<int64_t>(n.axis(n.integer(1, "the axis"), n.rank(x)));
  if (!n.ok()) return;
  const Dtype dtype = n.type(x).dtype;
  x = flipped(n, x, dim, reverse);
  if (exclusive) {
    std::vector<int64_t> pad(static_cast<size_t>(2 * (n.rank(x) - dim)), 0);
    pad[pad.size() - 2] = 1;
    pad[pad.size() - 1] = -1;
    x = n.add(OpKind::kPad, {x}, {{AttrKey::kPad, pad}});
  }
  NodeId y = n.add(OpKind::kCumsum, {x}, {{AttrKey::kDim, dim}, {AttrKey::kDtype, dtype}});
  n.out(flipped(n, y, dim, reverse));
}

void topk(Node& n) {
  const bool largest = n.attr("largest", int64_t{1}) != 0;
  const bool sorted = n.attr("sorted", int64_t{1}) != 0;
  const NodeId x = n.in();
  const size_t axis = n.axis(n.attr("axis", int64_t{-1}), n.rank(x));
  const int64_t k = n.integer(1, "k");
  const NodeId both = n.add(OpKind::kTopk, {x},
                            {{AttrKey::kK, k},
                             {AttrKey::kDim, axis},
                             {AttrKey::kLargest, largest},
                             {AttrKey::kSorted, sorted}});
  n.out(n.emit().element(both, 0), 0);
  n.out(n.emit().element(both, 1), 1);
}

constexpr Mapper kReductionMappers[] = {
    {"ArgMax", place_of_extreme<OpKind::kArgmax>, 1},
    {"ArgMin", place_of_extreme<OpKind::kArgmin>, 1},
    {"CumSum", cumsum, 11},
    {"ReduceL1", reduction<l1>, 1},
    {"ReduceL2", reduction<l2>, 1},
    {"ReduceLogSum", reduction<log_sum>, 1},
    {"ReduceLogSumExp", reduction<log_sum_exp>, 1},
    {"ReduceMax", reduction<plain<OpKind::kAmax>>, 1},
    {"ReduceMean", reduction<plain<OpKind::kMean>>, 1},
    {"ReduceMin", reduction<plain<OpKind::kAmin>>, 1},
    {"ReduceProd", reduction<same_type<OpKind::kProd>>, 1},
    {"ReduceSum", reduction<sum, 13>, 1},
    {"ReduceSumSquare", reduction<sum_square>, 1},
    {"TopK", topk, 11},
};

}  // namespace

std::span<const Mapper> reduction_mappers() { return kReductionMappers; }

}  // namespace shw::import::onnx
