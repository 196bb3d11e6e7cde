// Comparisons, truth values, choices and casts.
#include <limits>

#include "import/onnx/float8.h"
#include "import/onnx/table.h"

namespace shw::import::onnx {
namespace {

void logical_not(Node& n) { n.out(n.add(OpKind::kLogicalNot, {n.in()})); }

void is_nan(Node& n) {
  const NodeId x = n.in();
  n.out(n.binary(OpKind::kNe, x, x));
}

void is_inf(Node& n) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const bool positive = n.attr("detect_positive", int64_t{1}) != 0;
  const bool negative = n.attr("detect_negative", int64_t{1}) != 0;
  const NodeId x = n.in();
  if (positive && negative)
    return n.out(n.binary(OpKind::kEq, n.add(OpKind::kAbs, {x}), kInfinity));
  if (positive) return n.out(n.binary(OpKind::kEq, x, kInfinity));
  if (negative) return n.out(n.binary(OpKind::kEq, x, -kInfinity));
  n.out(n.binary(OpKind::kNe, n.binary(OpKind::kEq, x, x), n.binary(OpKind::kEq, x, x)));
}

void where(Node& n) { n.out(n.where(n.in(0), n.in(1), n.in(2))); }

void cast_to(Node& n, Dtype dtype) {
  const bool saturates = n.attr("saturate", int64_t{1}) != 0;
  const NodeId x = n.in();
  n.refuse_if(is_complex(n.type(x).dtype) != is_complex(dtype), "a cast between real and complex");
  n.out(is_float8(dtype) ? cast_to_float8(n, x, dtype, saturates) : n.cast(x, dtype));
}

void cast(Node& n) {
  n.require("to");
  const Dtype dtype = n.emit().value_or_fail(dtype_of(n.attr("to", int64_t{0})));
  if (n.ok()) cast_to(n, dtype);
}

void cast_like(Node& n) {
  const NodeId like = n.in(1);
  if (n.ok()) cast_to(n, n.type(like).dtype);
}

constexpr Mapper kTruthMappers[] = {
    {"And", map_binary<OpKind::kLogicalAnd>, 7},
    {"Cast", cast, 6},
    {"CastLike", cast_like, 15},
    {"Equal", map_binary<OpKind::kEq>, 7},
    {"Greater", map_binary<OpKind::kGt>, 7},
    {"GreaterOrEqual", map_binary<OpKind::kGe>, 12},
    {"IsInf", is_inf, 10},
    {"IsNaN", is_nan, 9},
    {"Less", map_binary<OpKind::kLt>, 7},
    {"LessOrEqual", map_binary<OpKind::kLe>, 12},
    {"Not", logical_not, 1},
    {"Or", map_binary<OpKind::kLogicalOr>, 7},
    {"Where", where, 9},
    {"Xor", map_binary<OpKind::kNe>, 7},
};

}  // namespace

std::span<const Mapper> truth_mappers() { return kTruthMappers; }

}  // namespace shw::import::onnx
