// Operators that take parts of tensors, or assemble tensors from parts.
#include <algorithm>
#include <limits>

#include "import/onnx/arithmetic.h"
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

void concat(Node& n) {
  n.require("axis");
  std::vector<NodeId> parts;
  for (size_t i = 0; i < n.num_inputs() && n.ok(); ++i) parts.push_back(n.in(i));
  if (!n.ok() || parts.empty()) return n.fail(invalid_argument("there are no inputs"));
  const size_t axis = n.axis(n.attr("axis", int64_t{0}), n.rank(parts[0]));
  n.out(parts.size() == 1 ? parts[0] : n.add(OpKind::kCat, parts, {{AttrKey::kDim, axis}}));
}

// Splits into equal parts; the last one may be smaller.
std::vector<int64_t> equal_parts(Node& n, int64_t size, int64_t count) {
  const int64_t each = count < 1 ? 0 : (size + count - 1) / count;
  std::vector<int64_t> parts(static_cast<size_t>(std::max<int64_t>(count, 0)), each);
  if (count < 1 || size - each * (count - 1) < 0) {
    n.fail(invalid_argument("a dim of size " + std::to_string(size) + " is not split into " +
                            std::to_string(count) + " parts"));
    return {};
  }
  parts.back() = size - each * (count - 1);
  return parts;
}

void split(Node& n) {
  const NodeId x = n.in();
  const size_t axis = n.axis(n.attr("axis", int64_t{0}), n.rank(x));
  std::vector<int64_t> sizes = n.opset() < 13 ? n.attr_ints("split") : std::vector<int64_t>();
  if (n.opset() >= 13 && n.has(1)) sizes = n.ints(1, "the sizes of the parts");
  const int64_t count = n.attr("num_outputs", static_cast<int64_t>(n.proto().output_size()));
  if (!n.ok()) return;
  const Expr size = n.emit().sizes(x)[axis];
  if (sizes.empty() && !size.is_number())
    return n.fail(unimplemented("a split of a size that holds symbols"));
  if (count != n.proto().output_size())
    return n.fail(invalid_argument("num_outputs is not the number of outputs"));
  if (sizes.empty()) sizes = equal_parts(n, size.constant, count);
  if (n.ok() && sizes.size() != static_cast<size_t>(count))
    return n.fail(invalid_argument("there are " + std::to_string(sizes.size()) + " parts for " +
                                   std::to_string(count) + " outputs"));
  const NodeId parts =
      n.add(OpKind::kSplitWithSizes, {x}, {{AttrKey::kSplitSizes, sizes}, {AttrKey::kDim, axis}});
  for (size_t i = 0; i < sizes.size(); ++i)
    if (n.wants(i)) n.out(n.emit().element(parts, static_cast<int64_t>(i)), i);
}

// Slices one dim. For a negative step the dim is flipped first.
NodeId sliced(Node& n, NodeId x, int64_t dim, const Expr& start, const Expr& end, int64_t step) {
  if (!n.ok()) return x;
  const Expr size = n.emit().sizes(x)[static_cast<size_t>(dim)];
  if (step > 0)
    return n.add(OpKind::kSlice, {x},
                 {{AttrKey::kDim, dim},
                  {AttrKey::kStart, start},
                  {AttrKey::kEnd, end},
                  {AttrKey::kStep, step}});
  if (step == 0 || step == std::numeric_limits<int64_t>::min()) {
    n.fail(invalid_argument("a step of " + std::to_string(step)));
    return x;
  }
  if (!size.is_number() || !start.is_number() || !end.is_number()) {
    n.fail(unimplemented("a negative step over a size that holds symbols"));
    return x;
  }
  // Positions from −1 (before the first) to size − 1, then counted from the other end.
  const auto clamped = [&](int64_t at) {
    if (at < 0) at += size.constant;
    return std::clamp<int64_t>(at, -1, size.constant - 1);
  };
  const int64_t first = size.constant - 1 - clamped(start.constant);
  const int64_t last = size.constant - 1 - clamped(end.constant);
  const NodeId back = n.add(OpKind::kFlip, {x}, {{AttrKey::kDims, std::vector{dim}}});
  return n.add(OpKind::kSlice, {back},
               {{AttrKey::kDim, dim},
                {AttrKey::kStart, first},
                {AttrKey::kEnd, std::max(first, last)},
                {AttrKey::kStep, -step}});
}

void slice(Node& n) {
  NodeId x = n.in(0);
  const Exprs starts = n.sizes(1, "the starts"), ends = n.sizes(2, "the ends");
  std::vector<int64_t> axes, steps(starts.size(), 1);
  for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  if (n.has(3)) axes = n.ints(3, "the axes");
  if (n.has(4)) steps = n.ints(4, "the steps");
  axes = n.axes(axes, n.rank(x));
  if (n.ok() && (ends.size() != starts.size() || axes.size() != starts.size() ||
                 steps.size() != starts.size()))
    return n.fail(invalid_argument("starts, ends, axes and steps differ in length"));
  for (size_t i = 0; i < axes.size() && n.ok(); ++i)
    x = sliced(n, x, axes[i], starts[i], ends[i], steps[i]);
  n.out(x);
}

// pads: the sizes before each dim (or axis), then those after each.
void pad(Node& n) {
  const std::string mode = n.attr("mode", "constant");
  if (mode != "constant") return n.fail(unimplemented("padding with mode '" + mode + "'"));
  const NodeId x = n.in(0);
  const std::vector<int64_t> given = n.ints(1, "the pads");
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < n.rank(x); ++d) axes.push_back(d);
  if (n.has(3)) axes = n.axes(n.ints(3, "the axes"), n.rank(x));
  if (!n.ok()) return;
  if (given.size() != 2 * axes.size()) return n.fail(invalid_argument("pads has a wrong length"));
  std::vector<int64_t> last_first(static_cast<size_t>(2 * n.rank(x)), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto from_end = static_cast<size_t>(n.rank(x) - 1 - axes[i]);
    last_first[2 * from_end] = given[i];
    last_first[2 * from_end + 1] = given[axes.size() + i];
  }
  Arg value = int64_t{0};
  if (n.has(2)) {
    value = is_floating(n.type(x).dtype) ? Arg(n.number(2, "the value"))
                                         : Arg(n.integer(2, "the value"));
  }
  n.out(n.add(OpKind::kPad, {x}, {{AttrKey::kPad, last_first}, {AttrKey::kValue, value}}));
}

void tile(Node& n) {
  const std::vector<int64_t> repeats = n.ints(1, "the repeats");
  const NodeId x = n.in(0);
  if (n.ok() && repeats.size() != static_cast<size_t>(n.rank(x)))
    return n.fail(invalid_argument("repeats has a wrong length"));
  n.out(n.add(OpKind::kRepeat, {x}, {{AttrKey::kRepeats, repeats}}));
}

void triangle(Node& n) {
  const bool upper = n.attr("upper", int64_t{1}) != 0;
  const int64_t k = n.has(1) ? n.integer(1, "k") : 0;
  n.out(n.add(upper ? OpKind::kTriu : OpKind::kTril, {n.in(0)}, {{AttrKey::kDiagonal, k}}));
}

constexpr Mapper kMovementMappers[] = {
    {"Concat", concat, 4}, {"Pad", pad, 11},  {"Slice", slice, 10},
    {"Split", split, 2},   {"Tile", tile, 6}, {"Trilu", triangle, 14},
};

}  // namespace

std::span<const Mapper> movement_mappers() { return kMovementMappers; }

}  // namespace shw::import::onnx
