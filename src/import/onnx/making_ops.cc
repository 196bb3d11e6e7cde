// Operators that create tensors: constants, shapes of other tensors, ranges.
#include <algorithm>
#include <cmath>
#include <limits>

#include "import/onnx/arithmetic.h"
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

Value known_value(Known known) { return {.known = std::move(known)}; }

Known floats(std::span<const float> values, const Dims& shape) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  return {row_major(Dtype::kF32, shape),
          std::make_shared<const std::vector<uint8_t>>(bytes, bytes + values.size_bytes())};
}

void constant(Node& n) {
  if (const TensorProto* t = n.attr_tensor("value"))
    return n.out(known_value(n.emit().value_or_fail(known_of(*t))));
  if (n.has_attr("value_int"))
    return n.out(known_value(known_integers({n.attr("value_int", int64_t{0})}, {}, Dtype::kI64)));
  if (n.has_attr("value_ints")) {
    const std::vector<int64_t> v = n.attr_ints("value_ints");
    return n.out(known_value(known_integers(v, {static_cast<int64_t>(v.size())}, Dtype::kI64)));
  }
  if (n.has_attr("value_float")) {
    const auto v = static_cast<float>(n.attr("value_float", 0.0));
    return n.out(known_value(floats(std::span(&v, 1), {})));
  }
  if (n.has_attr("value_floats")) {
    const AttributeProto* a = n.attr_any("value_floats");
    const std::vector<float> v(a->floats().begin(), a->floats().end());
    return n.out(known_value(floats(v, {static_cast<int64_t>(v.size())})));
  }
  n.fail(unimplemented("a constant that is neither a tensor nor numbers"));
}

// The sizes of a value. Does not add the value to the graph.
Exprs sizes_of_input(Node& n) {
  const Value* v = n.required(0);
  if (v == nullptr) return {};
  if (v->node.valid()) return n.emit().sizes(v->node);
  Exprs sizes;
  for (int64_t d : v->known ? v->known->type.shape : v->sizes->shape) sizes.push_back({d, {}});
  return sizes;
}

void shape(Node& n) {
  const Exprs all = sizes_of_input(n);
  const auto rank = static_cast<int64_t>(all.size());
  const auto bound = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const int64_t start = bound(n.attr("start", int64_t{0})), end = bound(n.attr("end", rank));
  if (!n.ok()) return;
  Sizes part;
  if (start < end) part.items.assign(all.begin() + start, all.begin() + end);
  part.shape = {static_cast<int64_t>(part.items.size())};
  n.out(value_of_sizes({}, std::move(part)));
}

void size(Node& n) {
  const auto all = product(sizes_of_input(n));
  if (n.ok() && !all) return n.fail(unimplemented("a product of symbols"));
  if (n.ok()) n.out(value_of_sizes({}, {{}, Dtype::kI64, {*all}}));
}

void constant_of_shape(Node& n) {
  const Exprs size = n.sizes(0, "the shape");
  const TensorProto* t = n.attr_tensor("value");
  Known value = floats(std::vector<float>{0}, {1});
  if (t != nullptr) value = n.emit().value_or_fail(known_of(*t));
  if (!n.ok()) return;
  if (value.type.numel() != 1) return n.fail(invalid_argument("value is not one number"));
  const Arg fill = is_floating(value.type.dtype)      ? Arg(number_at(value, 0))
                   : value.type.dtype == Dtype::kBool ? Arg(integer_at(value, 0) != 0)
                                                      : Arg(integer_at(value, 0));
  n.out(n.add(
      OpKind::kFull, {},
      {{AttrKey::kSize, size}, {AttrKey::kFillValue, fill}, {AttrKey::kDtype, value.type.dtype}}));
}

void range(Node& n) {
  const Known* start = n.known(0);
  if (start != nullptr && is_floating(start->type.dtype)) {
    const double from = n.number(0, "the start"), to = n.number(1, "the limit"),
                 by = n.number(2, "the step");
    const double count = by == 0 ? -1 : std::max(0.0, std::ceil((to - from) / by));
    if (n.ok() && !(count >= 0 && count < 1e9))
      return n.fail(invalid_argument("a range without an end"));
    const NodeId steps =
        n.cast(n.add(OpKind::kIota, {}, {{AttrKey::kLength, static_cast<int64_t>(count)}}),
               start->type.dtype);
    return n.out(n.binary(OpKind::kAdd, n.binary(OpKind::kMul, steps, by), from));
  }
  const Exprs from = n.sizes(0, "the start"), to = n.sizes(1, "the limit");
  const std::vector<int64_t> by = n.ints(2, "the step");
  if (!n.ok()) return;
  if (from.size() != 1 || to.size() != 1 || by.size() != 1 || by[0] == 0 || !from[0].is_number())
    return n.fail(
        unimplemented("start, limit and step must be single numbers, the start must not be "
                      "symbolic, and the step must not be 0"));
  std::optional<Expr> length = sum(to[0], from[0], -1);
  if (length && length->is_number()) {
    const int64_t span = length->constant, step = by[0];
    if (span == std::numeric_limits<int64_t>::min())  // its quotient by −1 overflows
      return n.fail(invalid_argument("a range of this length"));
    length->constant =
        std::max<int64_t>(0, span / step + (span % step != 0 && (span < 0) == (step < 0)));
  } else if (by[0] != 1) {
    length = std::nullopt;
  }
  if (!length) return n.fail(unimplemented("a range of this length, which holds symbols"));
  const Known* limit = n.known(1);
  n.out(n.add(OpKind::kIota, {},
              {{AttrKey::kLength, *length},
               {AttrKey::kStart, from[0].constant},
               {AttrKey::kStep, by[0]},
               {AttrKey::kDtype, limit == nullptr ? Dtype::kI64 : limit->type.dtype}}));
}

NodeId iota(Node& n, int64_t length) {
  return n.add(OpKind::kIota, {}, {{AttrKey::kLength, length}});
}

// Ones on diagonal k, in the shape of the input.
void eye_like(Node& n) {
  const Exprs size = sizes_of_input(n);
  const int64_t k = n.attr("k", int64_t{0});
  const Value* like = n.value(0);
  if (!n.ok()) return;
  Dtype dtype = like->node.valid() ? n.type(like->node).dtype
                : like->known      ? like->known->type.dtype
                                   : like->sizes->dtype;
  if (n.has_attr("dtype")) dtype = n.emit().value_or_fail(dtype_of(n.attr("dtype", int64_t{0})));
  if (size.size() != 2 || has_symbols(size))
    return n.fail(unimplemented("EyeLike of other than two dims that are numbers"));
  const NodeId rows = n.add(OpKind::kUnsqueeze, {iota(n, size[0].constant)}, {{AttrKey::kDim, 1}});
  const NodeId columns = iota(n, size[1].constant);
  n.out(n.cast(n.binary(OpKind::kEq, n.binary(OpKind::kAdd, rows, k), columns), dtype));
}

// values = [off, on]; an index outside −depth … depth − 1 sets no element to `on`.
void one_hot(Node& n) {
  NodeId index = n.in(0);
  const int64_t depth = n.integer(1, "the depth");
  const NodeId values = n.in(2);
  if (!n.ok()) return;
  const int64_t rank = n.rank(index) + 1;
  const size_t axis = n.axis(n.attr("axis", int64_t{-1}), rank);
  if (n.ok() && rank > kMaxRank) return n.fail(unimplemented("more than 8 dims"));
  index = n.cast(index, Dtype::kI64);
  index = n.where(n.binary(OpKind::kLt, index, 0), n.binary(OpKind::kAdd, index, depth), index);
  const NodeId places = n.along(iota(n, depth), axis, rank);
  const NodeId hit =
      n.binary(OpKind::kEq, n.add(OpKind::kUnsqueeze, {index}, {{AttrKey::kDim, axis}}), places);
  const auto value = [&](int64_t i) {
    return n.add(OpKind::kSelect, {values}, {{AttrKey::kDim, 0}, {AttrKey::kIndex, i}});
  };
  n.out(n.where(hit, value(1), value(0)));
}

constexpr Mapper kMakingMappers[] = {
    {"Constant", constant, 1}, {"ConstantOfShape", constant_of_shape, 9},
    {"EyeLike", eye_like, 9},  {"OneHot", one_hot, 11},
    {"Range", range, 11},      {"Shape", shape, 1},
    {"Size", size, 1},
};

}  // namespace

std::span<const Mapper> making_mappers() { return kMakingMappers; }

}  // namespace shw::import::onnx
