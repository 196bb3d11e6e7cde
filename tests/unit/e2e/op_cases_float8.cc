// 8-bit floats: ops that move, create, compare and cast them, and their products.
#include "op_cases.h"

namespace shw::testing {
namespace {

Attrs to(Dtype dtype) { return attrs({{AttrKey::kDtype, dtype}}); }

void casts(std::vector<OpCase>& list) {
  for (OpKind op : {OpKind::kConvertElementType, OpKind::kDtypeCast, OpKind::kToCopy}) {
    const std::string name(op_name(op));
    list.push_back({name + " to f8e4m3fn", op, {f32({8, 16})}, to(Dtype::kF8E4M3), kBits});
    list.push_back({name + " to f8e5m2", op, {bf16({8, 16})}, to(Dtype::kF8E5M2), kBits});
    list.push_back({name + " from f8e4m3fn", op, {f8e4m3({8, 16})}, to(Dtype::kF32), kBits});
    list.push_back({name + " from f8e5m2", op, {f8e5m2({8, 16})}, to(Dtype::kF8E4M3), kBits});
  }
}

void moves(std::vector<OpCase>& list) {
  const Attrs dim0 = attrs({{AttrKey::kDim, int64_t{0}}}),
              dim1 = attrs({{AttrKey::kDim, int64_t{1}}});
  list.push_back({"clone f8", OpKind::kClone, {f8e4m3({8, 16})}, {}, kBits});
  list.push_back({"cat f8", OpKind::kCat, {f8e4m3({8, 4}), f8e4m3({8, 12})}, dim1, kBits});
  list.push_back({"stack f8", OpKind::kStack, {f8e5m2({8, 16}), f8e5m2({8, 16})}, dim0, kBits});
  list.push_back(
      {"flip f8", OpKind::kFlip, {f8e4m3({8, 16})}, attrs({{AttrKey::kDims, ints({1})}}), kBits});
  list.push_back({"view f8",
                  OpKind::kView,
                  {f8e4m3({8, 16})},
                  attrs({{AttrKey::kSize, ints({8, 4, 4})}}),
                  kBits});
  list.push_back({"tril f8", OpKind::kTril, {f8e4m3({8, 16})}, {}, kBits});
  list.push_back(
      {"embedding f8", OpKind::kEmbedding, {f8e4m3({32, 8}), index({8, 4}, 32)}, {}, kBits});
  list.push_back({"gather f8", OpKind::kGather, {f8e5m2({8, 16}), index({8, 4}, 16)}, dim1, kBits});
  list.push_back({"index f8", OpKind::kIndex, {f8e4m3({8, 16}), index({4}, 8)}, {}, kBits});
  list.push_back(
      {"where f8", OpKind::kWhere, {truth({8, 16}), f8e4m3({8, 16}), f8e4m3({1, 16})}, {}, kBits});
  list.push_back({"full_like f8",
                  OpKind::kFullLike,
                  {f8e4m3({8, 16})},
                  attrs({{AttrKey::kFillValue, 1.5}}),
                  kBits});
  list.push_back({"lt f8", OpKind::kLt, {f8e4m3({8, 16}), f8e4m3({8, 16})}, {}, kBits});
}

void products(std::vector<OpCase>& list) {
  const Operand one = f32({}, 1, 2);
  list.push_back({"scaled_mm f8 to bf16",
                  OpKind::kScaledMm,
                  {f8e4m3({8, 16}), f8e4m3({16, 8}), one, one, absent()},
                  to(Dtype::kBF16),
                  kBf16});
  list.push_back(
      {"scaled_mm f8 by rows with bias",
       OpKind::kScaledMm,
       {f8e5m2({8, 16}), f8e4m3({16, 8}), f32({8, 1}, 1, 2), f32({1, 8}, 1, 2), f32({8})},
       to(Dtype::kF32)});
  // There are no partial sums in f8, so every strategy computes the same bits.
  list.push_back({"scaled_mm f8 to f8",
                  OpKind::kScaledMm,
                  {f8e4m3({8, 16}), f8e4m3({16, 8}), one, one, absent()},
                  {},
                  kBits});
}

}  // namespace

void float8_cases(std::vector<OpCase>& list) {
  casts(list);
  moves(list);
  products(list);
}

}  // namespace shw::testing
