// Operators that change the shape and keep the elements.
#include <algorithm>

#include "import/onnx/arithmetic.h"
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

// 0 keeps a dim, unless `allowzero`; −1 is computed from the number of elements.
void reshape(Node& n) {
  const bool allow_zero = n.attr("allowzero", int64_t{0}) != 0;
  Exprs size = n.sizes(1, "the shape");
  const NodeId x = n.in(0);
  if (!n.ok()) return;
  const Exprs from = n.emit().sizes(x);
  for (size_t i = 0; i < size.size(); ++i) {
    if (size[i] != Expr{} || allow_zero) continue;
    if (i >= from.size())
      return n.fail(invalid_argument("a 0 in the shape keeps a dim that x lacks"));
    size[i] = from[i];
  }
  n.out(n.view(x, std::move(size)));
}

void flatten(Node& n) {
  const NodeId x = n.in();
  const int64_t rank = n.rank(x), given = n.attr("axis", int64_t{1});
  const auto axis = given == rank ? static_cast<size_t>(rank) : n.axis(given, rank);
  if (!n.ok()) return;
  const Exprs all = n.emit().sizes(x);
  const auto rows = product(std::span(all).first(axis)),
             columns = product(std::span(all).subspan(axis));
  if (!rows || !columns)
    return n.fail(unimplemented("flattened dims of which more than one holds symbols"));
  n.out(n.view(x, {*rows, *columns}));
}

void squeeze(Node& n) {
  const NodeId x = n.in();
  std::vector<int64_t> axes = n.axes_given(13, n.rank(x));
  if (!n.ok()) return;
  for (int64_t a : axes)
    if (n.emit().sizes(x)[static_cast<size_t>(a)] != Expr{1, {}})
      return n.fail(invalid_argument("dim " + std::to_string(a) + " of " + to_string(n.type(x)) +
                                     " is not of size 1"));
  if (axes.empty()) return n.out(n.add(OpKind::kSqueeze, {x}));
  n.out(n.add(OpKind::kSqueeze, {x}, {{AttrKey::kDims, axes}}));
}

void unsqueeze(Node& n) {
  NodeId x = n.in();
  const std::vector<int64_t> given = n.opset() < 13 ? n.attr_ints("axes") : n.ints(1, "the axes");
  const int64_t rank = n.rank(x) + static_cast<int64_t>(given.size());
  std::vector<int64_t> axes = n.axes(given, rank);
  if (n.ok() && rank > kMaxRank) return n.fail(unimplemented("more than 8 dims"));
  std::sort(axes.begin(), axes.end());
  for (int64_t a : axes) x = n.add(OpKind::kUnsqueeze, {x}, {{AttrKey::kDim, a}});
  n.out(x);
}

void transpose(Node& n) {
  const NodeId x = n.in();
  std::vector<int64_t> reversed;
  for (int64_t d = n.rank(x); d-- > 0;) reversed.push_back(d);
  n.out(n.add(OpKind::kPermute, {x}, {{AttrKey::kDims, n.attr_ints("perm", reversed)}}));
}

// The shape of x and the given one, each broadcast to the other.
void expand(Node& n) {
  const Exprs given = n.sizes(1, "the shape");
  const NodeId x = n.in(0);
  if (!n.ok()) return;
  const Exprs own = n.emit().sizes(x);
  const size_t rank = std::max(own.size(), given.size());
  Exprs size;
  for (size_t i = 0; i < rank; ++i) {
    const Expr one{1, {}};
    const Expr& a = i + own.size() >= rank ? own[i + own.size() - rank] : one;
    const Expr& b = i + given.size() >= rank ? given[i + given.size() - rank] : one;
    size.push_back(b == one ? a : b);
  }
  n.out(n.add(OpKind::kExpand, {x}, {{AttrKey::kSize, std::move(size)}}));
}

// [N,C,H,W] with blocks of b·b positions in the channels, and back.
struct Blocks {
  Expr n = {}, c = {}, h = {}, w = {};
  int64_t b = 1;
};
Blocks blocks_of(Node& n, NodeId x) {
  n.require("blocksize");
  Blocks all{.b = n.attr("blocksize", int64_t{1})};
  if (n.ok() && (n.rank(x) != 4 || all.b < 1 || all.b > 1 << 15))
    n.fail(invalid_argument("expected 4 dims and a positive blocksize"));
  if (!n.ok()) return all;
  const Exprs size = n.emit().sizes(x);
  all.n = size[0], all.c = size[1], all.h = size[2], all.w = size[3];
  return all;
}

Expr times(Node& n, const Expr& a, int64_t b) {
  const auto all = product(a, Expr{b, {}});
  if (!all) n.fail(invalid_argument("a size is too large"));
  return all.value_or(Expr{});
}
Expr over(Node& n, const Expr& a, int64_t b) {
  const auto all = quotient(a, Expr{b, {}});
  if (!all || times(n, *all, b) != a)
    n.fail(invalid_argument("blocksize does not divide the sizes"));
  return all.value_or(Expr{});
}

NodeId permuted(Node& n, NodeId x, std::vector<int64_t> dims) {
  return n.add(OpKind::kPermute, {x}, {{AttrKey::kDims, std::move(dims)}});
}

void depth_to_space(Node& n) {
  const NodeId x = n.in();
  const std::string mode = n.attr("mode", "DCR");
  const Blocks s = blocks_of(n, x);
  if (n.ok() && mode != "DCR" && mode != "CRD")
    return n.fail(invalid_argument("mode '" + mode + "' is unknown"));
  const Expr b{s.b, {}}, c = over(n, s.c, s.b * s.b);
  if (!n.ok()) return;
  const bool blocks_first = mode == "DCR";
  const NodeId parts = blocks_first
                           ? permuted(n, n.view(x, {s.n, b, b, c, s.h, s.w}), {0, 3, 4, 1, 5, 2})
                           : permuted(n, n.view(x, {s.n, c, b, b, s.h, s.w}), {0, 1, 4, 2, 5, 3});
  n.out(n.view(parts, {s.n, c, times(n, s.h, s.b), times(n, s.w, s.b)}));
}

void space_to_depth(Node& n) {
  const NodeId x = n.in();
  const Blocks s = blocks_of(n, x);
  const Expr b{s.b, {}}, h = over(n, s.h, s.b), w = over(n, s.w, s.b);
  if (!n.ok()) return;
  const NodeId parts = permuted(n, n.view(x, {s.n, s.c, h, b, w, b}), {0, 3, 5, 1, 2, 4});
  n.out(n.view(parts, {s.n, times(n, s.c, s.b * s.b), h, w}));
}

constexpr Mapper kShapeMappers[] = {
    {"DepthToSpace", depth_to_space, 11},
    {"Expand", expand, 8},
    {"Flatten", flatten, 1},
    {"Reshape", reshape, 5},
    {"SpaceToDepth", space_to_depth, 1},
    {"Squeeze", squeeze, 1},
    {"Transpose", transpose, 1},
    {"Unsqueeze", unsqueeze, 1},
};

}  // namespace

std::span<const Mapper> shape_mappers() { return kShapeMappers; }

}  // namespace shw::import::onnx
