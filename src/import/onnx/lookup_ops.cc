// Selects elements by index. ONNX counts negative indices from the end; this library's operations
// do not.
#include <algorithm>

#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

// Input `i` as indices into `size` elements, counted from the front.
NodeId indices(Node& n, size_t i, const Expr& size) {
  const Known* known = n.known(i);
  bool negative = known == nullptr;
  for (int64_t at = 0; known != nullptr && at < known->type.numel() && !negative; ++at)
    negative = integer_at(*known, static_cast<size_t>(at)) < 0;
  const NodeId index = n.in(i);
  if (!n.ok() || !negative) return index;
  // A remainder would turn an index beyond the end into a valid one, so it is not used.
  return n.where(n.binary(OpKind::kLt, index, 0), n.binary(OpKind::kAdd, index, size), index);
}

Expr size_of(Node& n, NodeId x, size_t axis) {
  return n.ok() ? n.emit().sizes(x)[axis] : Expr{1, {}};
}

void gather(Node& n) {
  const NodeId x = n.in(0);
  const size_t axis = n.axis(n.attr("axis", int64_t{0}), n.rank(x));
  const NodeId index = indices(n, 1, size_of(n, x, axis));
  if (!n.ok()) return;
  if (axis == 0 && n.rank(x) == 2) return n.out(n.add(OpKind::kEmbedding, {x, index}));
  if (n.rank(index) == 1)
    return n.out(n.add(OpKind::kIndexSelect, {x, index}, {{AttrKey::kDim, axis}}));
  // Indices with several dims replace the axis by these dims.
  n.out(n.add(OpKind::kIndex, {x, index},
              {{AttrKey::kDims, std::vector{static_cast<int64_t>(axis)}}}));
}

void gather_elements(Node& n) {
  const NodeId x = n.in(0);
  const size_t axis = n.axis(n.attr("axis", int64_t{0}), n.rank(x));
  const NodeId index = indices(n, 1, size_of(n, x, axis));
  n.out(n.add(OpKind::kGather, {x, index}, {{AttrKey::kDim, axis}}));
}

void scatter_elements(Node& n) {
  const std::string reduction = n.attr("reduction", "none");
  const NodeId x = n.in(0), updates = n.in(2);
  const size_t axis = n.axis(n.attr("axis", int64_t{0}), n.rank(x));
  const NodeId index = indices(n, 1, size_of(n, x, axis));
  if (reduction != "none" && reduction != "add")
    return n.fail(unimplemented("reduction '" + reduction + "'"));
  n.out(n.add(reduction == "none" ? OpKind::kScatter : OpKind::kScatterAdd, {x, index, updates},
              {{AttrKey::kDim, axis}}));
}

// The last dim of the indices names positions in the first dims of x: a tensor for each of them.
std::vector<NodeId> split_indices(Node& n, NodeId x) {
  const NodeId all = n.in(1);
  if (!n.ok() || n.rank(all) == 0) {
    n.fail(invalid_argument("the indices are a scalar"));
    return {};
  }
  const auto last = static_cast<size_t>(n.rank(all) - 1);
  if (!size_of(n, all, last).is_number()) {
    n.fail(unimplemented("indices for a number of dims that holds symbols"));
    return {};
  }
  const int64_t count = n.type(all).shape[last];
  if (count < 1 || count > n.rank(x)) {
    n.fail(invalid_argument("indices of " + std::to_string(count) + " dims into " +
                            to_string(n.type(x))));
    return {};
  }
  std::vector<NodeId> each;
  for (int64_t d = 0; d < count && n.ok(); ++d) {
    const NodeId index =
        n.add(OpKind::kSelect, {all}, {{AttrKey::kDim, last}, {AttrKey::kIndex, d}});
    const Expr size = size_of(n, x, static_cast<size_t>(d));
    each.push_back(
        n.where(n.binary(OpKind::kLt, index, 0), n.binary(OpKind::kAdd, index, size), index));
  }
  return each;
}

Args first_dims(size_t count) {
  std::vector<int64_t> dims;
  for (size_t d = 0; d < count; ++d) dims.push_back(static_cast<int64_t>(d));
  return {{AttrKey::kDims, dims}};
}

void gather_nd(Node& n) {
  n.refuse_if(n.attr("batch_dims", int64_t{0}) != 0, "batch_dims");
  const NodeId x = n.in(0);
  std::vector<NodeId> operands = split_indices(n, x);
  const size_t count = operands.size();
  operands.insert(operands.begin(), x);
  n.out(n.add(OpKind::kIndex, std::move(operands), first_dims(count)));
}

void scatter_nd(Node& n) {
  const std::string reduction = n.attr("reduction", "none");
  if (reduction != "none" && reduction != "add")
    return n.fail(unimplemented("reduction '" + reduction + "'"));
  const NodeId x = n.in(0);
  std::vector<NodeId> operands = split_indices(n, x);
  Args args = first_dims(operands.size());
  args.emplace_back(AttrKey::kAccumulate, reduction == "add");
  operands.insert(operands.begin(), {x, n.in(2)});
  n.out(n.add(OpKind::kIndexPut, std::move(operands), std::move(args)));
}

constexpr Mapper kLookupMappers[] = {
    {"Gather", gather, 1},
    {"GatherElements", gather_elements, 11},
    {"GatherND", gather_nd, 11},
    {"Scatter", scatter_elements, 9, 10},
    {"ScatterElements", scatter_elements, 11},
    {"ScatterND", scatter_nd, 11},
};

}  // namespace

std::span<const Mapper> lookup_mappers() { return kLookupMappers; }

}  // namespace shw::import::onnx
