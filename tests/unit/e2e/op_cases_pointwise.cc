// Pointwise ops.
#include "op_cases.h"

namespace shw::testing {
namespace {

void binary(std::vector<OpCase>& list) {
  for (const auto& [name, op] : {std::pair("add", OpKind::kAdd), std::pair("sub", OpKind::kSub),
                                 std::pair("mul", OpKind::kMul)}) {
    const std::string n = name;
    list.push_back({n, op, {f32({8, 16}), f32({8, 16})}, {}});
    list.push_back({n + " broadcast", op, {f32({8, 4, 16}), f32({16})}, {}});
    list.push_back({n + " bf16", op, {bf16({8, 16}), bf16({8, 1})}, {}, kBf16});
    list.push_back({n + " number", op, {f32({8, 16}), absent()}, attrs({{AttrKey::kOther, 1.5}})});
    list.push_back(
        {"number " + n, op, {absent(), f32({8, 16})}, attrs({{AttrKey::kSelf, int64_t{1}}})});
  }
  list.push_back({"add with alpha",
                  OpKind::kAdd,
                  {f32({8, 16}), f32({8, 16})},
                  attrs({{AttrKey::kAlpha, 2.0}})});
  list.push_back({"mul complex", OpKind::kMul, {c64({8, 4, 8}), c64({4, 8})}, {}});
  list.push_back({"div", OpKind::kDiv, {f32({8, 16}), f32({8, 1}, 1, 3)}, {}});
  list.push_back({"div number",
                  OpKind::kDiv,
                  {f32({8, 16}), absent()},
                  attrs({{AttrKey::kOther, int64_t{4}}})});
}

void unary(std::vector<OpCase>& list) {
  for (const auto& [name, op] :
       {std::pair("neg", OpKind::kNeg), std::pair("exp", OpKind::kExp),
        std::pair("sigmoid", OpKind::kSigmoid), std::pair("relu", OpKind::kRelu)}) {
    list.push_back({name, op, {f32({8, 4, 16})}, {}});
    list.push_back({std::string(name) + " bf16", op, {bf16({8, 16})}, {}, kBf16});
  }
  list.push_back({"rsqrt", OpKind::kRsqrt, {f32({8, 16}, 1, 3)}, {}});
  list.push_back(
      {"pow 2", OpKind::kPow, {f32({8, 16})}, attrs({{AttrKey::kExponent, int64_t{2}}})});
  list.push_back(
      {"pow 1.5", OpKind::kPow, {f32({8, 16}, 1, 3)}, attrs({{AttrKey::kExponent, 1.5}})});
  list.push_back({"threshold_backward",
                  OpKind::kThresholdBackward,
                  {f32({8, 16}), f32({8, 16})},
                  attrs({{AttrKey::kThreshold, int64_t{0}}}),
                  kBits});
  list.push_back({"conj", OpKind::kConj, {c64({8, 16})}, {}, kBits});
  list.push_back({"convert to bf16",
                  OpKind::kConvertElementType,
                  {f32({8, 16})},
                  attrs({{AttrKey::kDtype, Dtype::kBF16}}),
                  kBf16});
  list.push_back({"convert to f32",
                  OpKind::kConvertElementType,
                  {bf16({8, 16})},
                  attrs({{AttrKey::kDtype, Dtype::kF32}})});
  list.push_back({"dtype_cast",
                  OpKind::kDtypeCast,
                  {f32({8, 16})},
                  attrs({{AttrKey::kDtype, Dtype::kBF16}}),
                  kBf16});
}

void comparison(std::vector<OpCase>& list) {
  for (const auto& [name, op] :
       {std::pair("eq", OpKind::kEq), std::pair("ne", OpKind::kNe), std::pair("lt", OpKind::kLt),
        std::pair("le", OpKind::kLe), std::pair("gt", OpKind::kGt), std::pair("ge", OpKind::kGe)}) {
    list.push_back({name, op, {f32({8, 16}), f32({16})}, {}, kBits});
    list.push_back({std::string(name) + " integers",
                    op,
                    {index({8, 16}, 3), absent()},
                    attrs({{AttrKey::kOther, int64_t{1}}}),
                    kBits});
  }
  list.push_back({"bitwise_and", OpKind::kBitwiseAnd, {truth({8, 16}), truth({8, 1})}, {}, kBits});
  list.push_back({"bitwise_and integers",
                  OpKind::kBitwiseAnd,
                  {index({8, 16}, 9), index({16}, 9)},
                  {},
                  kBits});
  list.push_back(
      {"where", OpKind::kWhere, {truth({8, 4, 16}), f32({4, 16}), f32({8, 1, 16})}, {}, kBits});
  list.push_back({"tanh", OpKind::kTanh, {f32({8, 16})}, {}});
}

void more_unary(std::vector<OpCase>& list) {
  for (const auto& [name, op] : {std::pair("abs", OpKind::kAbs), std::pair("expm1", OpKind::kExpm1),
                                 std::pair("erf", OpKind::kErf), std::pair("cos", OpKind::kCos),
                                 std::pair("sin", OpKind::kSin), std::pair("silu", OpKind::kSilu)})
    list.push_back({name, op, {f32({8, 4, 16})}, {}});
  for (const auto& [name, op] :
       {std::pair("sqrt", OpKind::kSqrt), std::pair("log", OpKind::kLog),
        std::pair("log1p", OpKind::kLog1p), std::pair("reciprocal", OpKind::kReciprocal)})
    list.push_back({name, op, {f32({8, 16}, 1, 3)}, {}});
  for (const auto& [name, op] :
       {std::pair("floor", OpKind::kFloor), std::pair("ceil", OpKind::kCeil),
        std::pair("round", OpKind::kRound), std::pair("sign", OpKind::kSign)})
    list.push_back({name, op, {f32({8, 16})}, {}, kBits});
  list.push_back({"abs integers", OpKind::kAbs, {index({8, 16}, 9)}, {}, kBits});
  list.push_back({"logical_not", OpKind::kLogicalNot, {f32({8, 16})}, {}, kBits});
  list.push_back({"bitwise_not", OpKind::kBitwiseNot, {index({8, 16}, 9)}, {}, kBits});
  list.push_back({"bitwise_not of truth", OpKind::kBitwiseNot, {truth({8, 16})}, {}, kBits});
  list.push_back({"clamp",
                  OpKind::kClamp,
                  {f32({8, 16})},
                  attrs({{AttrKey::kMin, -0.5}, {AttrKey::kMax, int64_t{1}}}),
                  kBits});
  for (const char* approximate : {"none", "tanh"}) {
    const Attrs a = attrs({{AttrKey::kApproximate, text(approximate)}});
    list.push_back({std::string("gelu ") + approximate, OpKind::kGelu, {f32({8, 16})}, a});
    list.push_back({std::string("gelu_backward ") + approximate,
                    OpKind::kGeluBackward,
                    {f32({8, 16}), f32({8, 16})},
                    a});
  }
  for (const auto& [name, op] : {std::pair("silu_backward", OpKind::kSiluBackward),
                                 std::pair("sigmoid_backward", OpKind::kSigmoidBackward),
                                 std::pair("tanh_backward", OpKind::kTanhBackward)})
    list.push_back({name, op, {f32({8, 16}), f32({8, 16}, -0.875, 0.875)}, {}});
  list.push_back({"to_copy", OpKind::kToCopy, {f32({8, 16})}, {}, kBits});
  list.push_back({"to_copy to bf16",
                  OpKind::kToCopy,
                  {f32({8, 16})},
                  attrs({{AttrKey::kDtype, Dtype::kBF16}}),
                  kBf16});
  list.push_back({"to_copy to integers",
                  OpKind::kToCopy,
                  {f32({8, 16})},
                  attrs({{AttrKey::kDtype, Dtype::kI32}}),
                  kBits});
}

void more_binary(std::vector<OpCase>& list) {
  for (const auto& [name, op] :
       {std::pair("maximum", OpKind::kMaximum), std::pair("minimum", OpKind::kMinimum)}) {
    list.push_back({name, op, {f32({8, 4, 16}), f32({4, 1})}, {}, kBits});
    list.push_back({std::string(name) + " number",
                    op,
                    {f32({8, 16}), absent()},
                    attrs({{AttrKey::kOther, 0.5}}),
                    kBits});
  }
  for (const auto& [name, op] :
       {std::pair("logical_and", OpKind::kLogicalAnd), std::pair("logical_or", OpKind::kLogicalOr)})
    list.push_back({name, op, {index({8, 16}, 3), truth({8, 1})}, {}, kBits});
  list.push_back({"pow_tensor", OpKind::kPowTensor, {f32({8, 16}, 0.5, 2), f32({16})}, {}});
  list.push_back({"pow_tensor of a number",
                  OpKind::kPowTensor,
                  {absent(), index({8, 16}, 12)},
                  attrs({{AttrKey::kSelf, int64_t{-3}}}),
                  kBits});
  list.push_back({"atan2", OpKind::kAtan2, {f32({8, 16}), f32({8, 1})}, {}});
  list.push_back({"bitwise_or", OpKind::kBitwiseOr, {truth({8, 16}), truth({8, 1})}, {}, kBits});
  for (const auto& [name, op] : {std::pair("remainder", OpKind::kRemainder),
                                 std::pair("floor_divide", OpKind::kFloorDivide)}) {
    list.push_back({name, op, {f32({8, 16}), f32({16}, 0.5, 2)}, {}});
    list.push_back({std::string(name) + " integers",
                    op,
                    {index({8, 16}, 100), absent()},
                    attrs({{AttrKey::kOther, int64_t{-7}}}),
                    kBits});
  }
  list.push_back({"masked_fill",
                  OpKind::kMaskedFill,
                  {f32({8, 4, 16}), truth({8, 1, 16}), absent()},
                  attrs({{AttrKey::kValue, -1e9}}),
                  kBits});
  list.push_back({"masked_fill by a tensor",
                  OpKind::kMaskedFill,
                  {f32({8, 16}), truth({8, 16}), f32({})},
                  {},
                  kBits});
}

}  // namespace

void pointwise_cases(std::vector<OpCase>& list) {
  binary(list);
  unary(list);
  comparison(list);
  more_unary(list);
  more_binary(list);
}

}  // namespace shw::testing
