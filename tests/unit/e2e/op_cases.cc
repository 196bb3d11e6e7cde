#include "one_op.h"

namespace shw::testing {
namespace {

Operand f32(Dims shape, double low = -2, double high = 2) {
  return {.type = row_major(Dtype::kF32, shape), .low = low, .high = high};
}
Operand bf16(Dims shape) { return {.type = row_major(Dtype::kBF16, shape)}; }
Operand c64(Dims shape) { return {.type = row_major(Dtype::kC64, shape)}; }
Operand index(Dims shape, int64_t limit) {
  return {.type = row_major(Dtype::kI64, shape), .index_limit = limit};
}
Operand truth(Dims shape) { return {.type = row_major(Dtype::kBool, shape), .index_limit = 2}; }
Operand absent() { return {.type = {}, .present = false}; }

Attrs attrs(std::initializer_list<Attrs::Item> items) {
  Attrs a;
  for (const auto& [key, value] : items) a.set(key, value);
  return a;
}
AttrValue ints(std::vector<int64_t> v) { return v; }
AttrValue text(const char* s) { return std::string(s); }

constexpr double kBits = 0;  // data movement: to the bit
constexpr double kRounding = 5e-6;
constexpr double kBf16 = 4e-3;  // one rounding to 8 bits of mantissa

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

void movement(std::vector<OpCase>& list) {
  list.push_back({"clone", OpKind::kClone, {f32({8, 16})}, {}, kBits});
  list.push_back({"alias", OpKind::kAlias, {f32({8, 16})}, {}, kBits});
  list.push_back({"permute",
                  OpKind::kPermute,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kDims, ints({2, 0, 1})}}),
                  kBits});
  list.push_back({"unsqueeze",
                  OpKind::kUnsqueeze,
                  {f32({8, 16})},
                  attrs({{AttrKey::kDim, int64_t{1}}}),
                  kBits});
  list.push_back({"squeeze",
                  OpKind::kSqueeze,
                  {f32({8, 1, 16})},
                  attrs({{AttrKey::kDim, int64_t{1}}}),
                  kBits});
  list.push_back({"expand",
                  OpKind::kExpand,
                  {f32({8, 1, 16})},
                  attrs({{AttrKey::kSize, ints({8, 4, 16})}}),
                  kBits});
  list.push_back({"expand in front",
                  OpKind::kExpand,
                  {f32({8, 16})},
                  attrs({{AttrKey::kSize, ints({4, 8, 16})}}),
                  kBits});
  list.push_back({"view split",
                  OpKind::kView,
                  {f32({8, 32})},
                  attrs({{AttrKey::kSize, ints({8, 8, 4})}}),
                  kBits});
  list.push_back({"view flatten",
                  OpKind::kView,
                  {f32({8, 8, 4})},
                  attrs({{AttrKey::kSize, ints({8, 32})}}),
                  kBits});
  list.push_back({"view flatten front",
                  OpKind::kView,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kSize, ints({-1, 16})}}),
                  kBits});
  list.push_back({"view regroup",
                  OpKind::kView,
                  {f32({8, 4, 8})},
                  attrs({{AttrKey::kSize, ints({32, 4, 2})}}),
                  kBits});
  list.push_back({"view_as_real", OpKind::kViewAsReal, {c64({8, 16})}, {}, kBits});
  list.push_back({"view_as_complex", OpKind::kViewAsComplex, {f32({8, 16, 2})}, {}, kBits});
}

void contraction(std::vector<OpCase>& list) {
  list.push_back({"mm", OpKind::kMm, {f32({8, 16}), f32({16, 8})}, {}});
  list.push_back({"mm bf16", OpKind::kMm, {bf16({8, 16}), bf16({16, 8})}, {}, 1e-2});
  list.push_back({"einsum forward",
                  OpKind::kEinsum,
                  {f32({8, 4, 16}), f32({16, 8})},
                  attrs({{AttrKey::kEquation, text("abk,kn->abn")}})});
  list.push_back({"einsum weight gradient",
                  OpKind::kEinsum,
                  {f32({8, 4, 16}), f32({8, 4, 8})},
                  attrs({{AttrKey::kEquation, text("abn,abk->kn")}})});
  list.push_back({"einsum three batch dims",
                  OpKind::kEinsum,
                  {f32({4, 2, 4, 8}), f32({8, 4})},
                  attrs({{AttrKey::kEquation, text("abck,kn->abcn")}})});
  list.push_back({"einsum batched",
                  OpKind::kEinsum,
                  {f32({4, 8, 16}), f32({4, 16, 8})},
                  attrs({{AttrKey::kEquation, text("bmk,bkn->bmn")}})});
}

void reduction(std::vector<OpCase>& list) {
  list.push_back({"sum kept",
                  OpKind::kSum,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kDims, ints({2})}, {AttrKey::kKeepDim, true}})});
  list.push_back(
      {"sum of two", OpKind::kSum, {f32({8, 4, 16})}, attrs({{AttrKey::kDims, ints({0, 1})}})});
  list.push_back({"sum of all", OpKind::kSum, {f32({8, 16})}, {}});
  list.push_back(
      {"sum bf16", OpKind::kSum, {bf16({8, 16})}, attrs({{AttrKey::kDims, ints({0})}}), 2e-2});
  list.push_back({"mean",
                  OpKind::kMean,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kDims, ints({-1})}, {AttrKey::kKeepDim, true}})});
}

void lookup_and_attention(std::vector<OpCase>& list) {
  list.push_back({"embedding", OpKind::kEmbedding, {f32({32, 8}), index({8, 4}, 32)}, {}, kBits});
  list.push_back(
      {"embedding_dense_backward",
       OpKind::kEmbeddingDenseBackward,
       {f32({8, 4, 8}), index({8, 4}, 32)},
       attrs({{AttrKey::kNumWeights, int64_t{32}}, {AttrKey::kPaddingIdx, int64_t{-1}}})});
  list.push_back(
      {"embedding_dense_backward with padding",
       OpKind::kEmbeddingDenseBackward,
       {f32({8, 4, 8}), index({8, 4}, 32)},
       attrs({{AttrKey::kNumWeights, int64_t{32}}, {AttrKey::kPaddingIdx, int64_t{21}}})});
  const Dims q{4, 8, 32, 8}, lse{4, 8, 32};
  const auto causal = [](bool is_causal) {
    return attrs({{AttrKey::kComputeLse, true},
                  {AttrKey::kCausal, is_causal},
                  {AttrKey::kKernel, text("efficient")}});
  };
  list.push_back({"sdpa", OpKind::kSdpa, {f32(q), f32(q), f32(q), absent()}, causal(false)});
  list.push_back({"sdpa causal", OpKind::kSdpa, {f32(q), f32(q), f32(q), absent()}, causal(true)});
  list.push_back({"sdpa with bias",
                  OpKind::kSdpa,
                  {f32(q), f32(q), f32(q), f32({4, 8, 32, 32})},
                  causal(false)});
  // A log-sum-exp above every score keeps the probabilities that are computed again from it
  // below 1.
  const std::vector<Operand> backward = {f32(q),          f32(q),       f32(q),
                                         f32(q),          absent(),     f32(q),
                                         f32(lse, 8, 12), index({}, 1), index({}, 1)};
  list.push_back({"sdpa_backward", OpKind::kSdpaBackward, backward, causal(false)});
  list.push_back({"sdpa_backward causal", OpKind::kSdpaBackward, backward, causal(true)});
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

void picking(std::vector<OpCase>& list) {
  const auto slice = [](int64_t dim, int64_t start, int64_t end, int64_t step) {
    return attrs({{AttrKey::kDim, dim},
                  {AttrKey::kStart, start},
                  {AttrKey::kEnd, end},
                  {AttrKey::kStep, step}});
  };
  list.push_back({"slice", OpKind::kSlice, {f32({8, 4, 16})}, slice(2, 3, -1, 2), kBits});
  list.push_back({"slice first dim", OpKind::kSlice, {f32({8, 16})}, slice(0, 1, 5, 1), kBits});
  list.push_back({"slice all", OpKind::kSlice, {f32({8, 16})}, slice(1, 0, INT64_MAX, 1), kBits});
  list.push_back({"split",
                  OpKind::kSplit,
                  {f32({8, 4, 24})},
                  attrs({{AttrKey::kSplitSize, int64_t{10}}, {AttrKey::kDim, int64_t{-1}}}),
                  kBits});
  list.push_back({"split_with_sizes",
                  OpKind::kSplitWithSizes,
                  {f32({8, 12, 4})},
                  attrs({{AttrKey::kSplitSizes, ints({2, 7, 3})}, {AttrKey::kDim, int64_t{1}}}),
                  kBits});
  list.push_back({"cat",
                  OpKind::kCat,
                  {f32({8, 3, 16}), f32({8, 1, 16}), f32({8, 4, 16})},
                  attrs({{AttrKey::kDim, int64_t{1}}}),
                  kBits});
  list.push_back(
      {"cumsum", OpKind::kCumsum, {f32({8, 4, 16})}, attrs({{AttrKey::kDim, int64_t{-1}}})});
  list.push_back({"cumsum of truth",
                  OpKind::kCumsum,
                  {truth({8, 16})},
                  attrs({{AttrKey::kDim, int64_t{0}}}),
                  kBits});
  list.push_back({"index both dims",
                  OpKind::kIndex,
                  {f32({8, 16}), index({4, 1}, 8), index({1, 8}, 16)},
                  {},
                  kBits});
  list.push_back({"index a middle dim",
                  OpKind::kIndex,
                  {f32({8, 16, 4}), index({4, 8}, 16)},
                  attrs({{AttrKey::kDims, ints({1})}}),
                  kBits});
  list.push_back({"index dims apart",
                  OpKind::kIndex,
                  {f32({8, 16, 4}), index({8}, 8), index({4, 8}, 4)},
                  attrs({{AttrKey::kDims, ints({0, 2})}}),
                  kBits});
}

void making(std::vector<OpCase>& list) {
  const auto size = ints({8, 16});
  list.push_back({"full",
                  OpKind::kFull,
                  {},
                  attrs({{AttrKey::kSize, size}, {AttrKey::kFillValue, 1.5}}),
                  kBits});
  list.push_back({"rand", OpKind::kRand, {}, attrs({{AttrKey::kSize, size}}), kBits});
  list.push_back({"iota",
                  OpKind::kIota,
                  {},
                  attrs({{AttrKey::kLength, int64_t{16}}, {AttrKey::kStart, int64_t{3}}}),
                  kBits});
  list.push_back(
      {"scalar_tensor", OpKind::kScalarTensor, {}, attrs({{AttrKey::kFillValue, 2.5}}), kBits});
}

void norm(std::vector<OpCase>& list) {
  const auto over = [](std::vector<int64_t> shape) {
    return attrs({{AttrKey::kNormalizedShape, std::move(shape)}, {AttrKey::kEps, 1e-5}});
  };
  const auto gradients = [](std::vector<int64_t> shape, std::vector<int64_t> mask) {
    return attrs(
        {{AttrKey::kNormalizedShape, std::move(shape)}, {AttrKey::kOutputMask, std::move(mask)}});
  };
  list.push_back(
      {"layer norm", OpKind::kLayerNorm, {f32({8, 4, 16}), f32({16}), f32({16})}, over({16})});
  list.push_back({"layer norm of two dims",
                  OpKind::kLayerNorm,
                  {f32({8, 4, 16}), absent(), absent()},
                  over({4, 16})});
  const std::vector<Operand> backward = {f32({8, 4, 16}), f32({8, 4, 16}), f32({8, 4, 1}),
                                         f32({8, 4, 1}),  f32({16}),       f32({16})};
  list.push_back(
      {"layer norm backward", OpKind::kLayerNormBackward, backward, gradients({16}, {1, 1, 1})});
  list.push_back({"layer norm backward masked", OpKind::kLayerNormBackward, backward,
                  gradients({16}, {0, 1, 0})});
}

}  // namespace

std::vector<OpCase> op_cases() {
  std::vector<OpCase> list;
  binary(list);
  unary(list);
  movement(list);
  contraction(list);
  reduction(list);
  lookup_and_attention(list);
  comparison(list);
  picking(list);
  making(list);
  norm(list);
  return list;
}

}  // namespace shw::testing
