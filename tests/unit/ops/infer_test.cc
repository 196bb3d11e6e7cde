// The types that ops infer, and the operands that they refuse.
#include <gtest/gtest.h>

#include "infer.h"

namespace shw {
namespace {

using testing::attrs;
using testing::f32;
using testing::infer;
using testing::ints;
using testing::of;

TEST(Infer, PointwiseBroadcastsAndPromotes) {
  EXPECT_EQ(infer(OpKind::kAdd, {f32({4, 1, 8}), f32({3, 8})}), "f32[4,3,8]");
  EXPECT_EQ(infer(OpKind::kMul, {f32({4}), of(Dtype::kBF16, {4})}), "f32[4]");
  EXPECT_EQ(infer(OpKind::kMul, {of(Dtype::kC64, {4, 1}), of(Dtype::kC64, {2})}), "c64[4,2]");
  EXPECT_EQ(
      infer(OpKind::kAdd, {of(Dtype::kI64, {4}), std::nullopt}, attrs({{AttrKey::kOther, 0.5}})),
      "f32[4]");
  EXPECT_EQ(infer(OpKind::kAdd, {of(Dtype::kI64, {4}), std::nullopt},
                  attrs({{AttrKey::kOther, int64_t{1}}})),
            "i64[4]");
  EXPECT_EQ(infer(OpKind::kSub, {std::nullopt, of(Dtype::kBF16, {4})},
                  attrs({{AttrKey::kSelf, int64_t{1}}})),
            "bf16[4]");
  EXPECT_EQ(infer(OpKind::kDiv, {of(Dtype::kI64, {4}), of(Dtype::kI64, {4})}), "f32[4]");
  EXPECT_EQ(infer(OpKind::kExp, {of(Dtype::kI32, {4})}), "f32[4]");
  EXPECT_EQ(infer(OpKind::kAdd, {f32({4}), f32({3})}),
            "!shapes do not broadcast: 3 against 4 in dim 0");
  EXPECT_EQ(infer(OpKind::kAdd, {std::nullopt, std::nullopt}), "!no operand is a tensor");
}

TEST(Infer, Contractions) {
  EXPECT_EQ(infer(OpKind::kMm, {f32({4, 8}), f32({8, 3})}), "f32[4,3]");
  EXPECT_EQ(infer(OpKind::kMm, {f32({4, 8}), f32({7, 3})}),
            "!expected [m,k] × [k,n], got f32[4,8] × f32[7,3]");
  const auto einsum = [](std::string e, std::vector<OptionalType> o) {
    return infer(OpKind::kEinsum, std::move(o), attrs({{AttrKey::kEquation, std::move(e)}}));
  };
  EXPECT_EQ(einsum("abk,kn->abn", {f32({2, 4, 8}), f32({8, 3})}), "f32[2,4,3]");
  EXPECT_EQ(einsum("abn,abk->kn", {f32({2, 4, 3}), f32({2, 4, 8})}), "f32[8,3]");
  EXPECT_EQ(einsum("abk,kn->abn", {f32({2, 4, 8}), f32({7, 3})}), "!dim 'k' is 8 and 7");
  for (const char* bad :
       {"", "ab,bc", "ab->ab", "aa,ab->ab", "ab,bc->ad", "a.,b->ab", "ab,bc,cd->ad"})
    EXPECT_EQ(einsum(bad, {f32({2, 2}), f32({2, 2})})[0], '!') << bad;
}

TEST(Infer, Reductions) {
  const auto sum = [](std::vector<int64_t> dims, bool keep) {
    return infer(OpKind::kSum, {f32({2, 3, 4})},
                 attrs({{AttrKey::kDims, dims}, {AttrKey::kKeepDim, keep}}));
  };
  EXPECT_EQ(sum({2}, true), "f32[2,3,1]");
  EXPECT_EQ(sum({0, -1}, false), "f32[3]");
  EXPECT_EQ(sum({}, false), "f32[]");
  EXPECT_EQ(sum({3}, false), "!dims: 3 is not a dim of a tensor of rank 3");
  EXPECT_EQ(sum({1, -2}, false), "!dims: -2 is listed twice");
  EXPECT_EQ(infer(OpKind::kSum, {of(Dtype::kBool, {4})}), "i64[]");
  EXPECT_EQ(infer(OpKind::kMean, {of(Dtype::kBF16, {4})}), "bf16[]");
}

TEST(Infer, ViewsHaveAtensStrides) {
  const OptionalType t = TensorType{{8, 4}, {1, 8}, Dtype::kF32};  // a transposed [4,8]
  EXPECT_EQ(infer(OpKind::kPermute, {t}, attrs({{AttrKey::kDims, ints({1, 0})}})), "f32[4,8]");
  EXPECT_EQ(infer(OpKind::kPermute, {t}, attrs({{AttrKey::kDims, ints({0, 0})}})),
            "!dims is not a permutation of the 2 dims");
  EXPECT_EQ(infer(OpKind::kUnsqueeze, {f32({2, 3})}, attrs({{AttrKey::kDim, int64_t{-1}}})),
            "f32[2,3,1]");
  EXPECT_EQ(infer(OpKind::kSqueeze, {f32({2, 1, 3})}, attrs({{AttrKey::kDim, int64_t{1}}})),
            "f32[2,3]");
  EXPECT_EQ(infer(OpKind::kSqueeze, {f32({2, 1, 3})}, attrs({{AttrKey::kDim, int64_t{0}}})),
            "f32[2,1,3]");
  EXPECT_EQ(infer(OpKind::kExpand, {f32({2, 1})}, attrs({{AttrKey::kSize, ints({5, -1, 4})}})),
            "f32[5,2,4]{0,1,0}");
  EXPECT_EQ(infer(OpKind::kExpand, {f32({2, 3})}, attrs({{AttrKey::kSize, ints({2, 4})}})),
            "!dim 1 of size 3 does not expand to 4");
  EXPECT_EQ(infer(OpKind::kView, {f32({4, 6})}, attrs({{AttrKey::kSize, ints({2, -1, 3})}})),
            "f32[2,4,3]");
  EXPECT_EQ(infer(OpKind::kView, {f32({4, 6})}, attrs({{AttrKey::kSize, ints({5, -1})}}))[0], '!');
  EXPECT_EQ(infer(OpKind::kView, {f32({4, 6})}, attrs({{AttrKey::kSize, ints({-1, -1})}}))[0], '!');
  EXPECT_EQ(infer(OpKind::kView, {OptionalType(TensorType{{2, 4, 3}, {3, 6, 1}, Dtype::kF32})},
                  attrs({{AttrKey::kSize, ints({8, 3})}})),
            "f32[8,3]")
      << "no strides fit: the view will copy";
  EXPECT_EQ(infer(OpKind::kView, {OptionalType(TensorType{{2, 3}, {1, 2}, Dtype::kF32})},
                  attrs({{AttrKey::kSize, ints({2, 3, 1})}})),
            "f32[2,3,1]{1,2,2}");
  EXPECT_EQ(infer(OpKind::kViewAsReal, {of(Dtype::kC64, {3, 4})}), "f32[3,4,2]");
  EXPECT_EQ(infer(OpKind::kViewAsComplex, {f32({3, 4, 2})}), "c64[3,4]");
  EXPECT_EQ(infer(OpKind::kViewAsComplex, {f32({3, 4})})[0], '!');
}

TEST(Infer, AttentionAndLookups) {
  const OptionalType q = f32({2, 8, 40, 16}), kv = f32({2, 4, 40, 16});
  EXPECT_EQ(
      infer(OpKind::kSdpa, {q, kv, kv, std::nullopt},
            attrs({{AttrKey::kComputeLse, true}, {AttrKey::kKernel, std::string("efficient")}})),
      "f32[2,8,40,16], f32[2,8,64], i64[], i64[]");
  EXPECT_EQ(infer(OpKind::kSdpa, {q, kv, kv, std::nullopt},
                  attrs({{AttrKey::kKernel, std::string("cudnn")}})),
            "f32[2,8,40,16], f32[2,8,40,1], i64[], i64[]");
  EXPECT_EQ(infer(OpKind::kSdpa, {q, kv, f32({2, 3, 40, 16}), std::nullopt})[0], '!');
  EXPECT_EQ(infer(OpKind::kSdpaBackward,
                  {q, q, kv, kv, std::nullopt, q, f32({2, 8, 64}), std::nullopt, std::nullopt}),
            "f32[2,8,40,16], f32[2,4,40,16], f32[2,4,40,16], none");
  const auto packed = [&](OptionalType documents) {
    return infer(OpKind::kSdpa, {q, kv, kv, std::nullopt, documents},
                 attrs({{AttrKey::kKernel, std::string("cpu")}}));
  };
  EXPECT_EQ(packed(of(Dtype::kI32, {2, 5})), "f32[2,8,40,16], f32[2,8,40], none, none");
  EXPECT_EQ(packed(f32({2, 5})),
            "!documents are f32[2,5], expected integers: 0 and the end of each, for each row of "
            "f32[2,8,40,16]");
  for (const Dims& shape : {Dims{3, 5}, Dims{2, 0}, Dims{2}, Dims{}})
    EXPECT_EQ(packed(of(Dtype::kI32, shape))[0], '!');
  EXPECT_EQ(infer(OpKind::kSdpa, {q, f32({2, 4, 41, 16}), f32({2, 4, 41, 16}), std::nullopt,
                                  of(Dtype::kI32, {2, 5})}),
            "!documents divide queries and keys alike, but there are 40 queries and 41 keys");
  EXPECT_EQ(infer(OpKind::kSdpaBackward, {q, q, kv, kv, std::nullopt, q, f32({2, 8, 64}),
                                          std::nullopt, std::nullopt, of(Dtype::kI32, {3, 5})})[0],
            '!');
  EXPECT_EQ(infer(OpKind::kEmbedding, {f32({100, 16}), of(Dtype::kI64, {2, 3})}), "f32[2,3,16]");
  EXPECT_EQ(infer(OpKind::kEmbedding, {f32({100, 16}), f32({2, 3})}),
            "!indices are f32[2,3], expected i64 or i32");
  EXPECT_EQ(infer(OpKind::kEmbeddingDenseBackward, {f32({2, 3, 16}), of(Dtype::kI64, {2, 3})},
                  attrs({{AttrKey::kNumWeights, int64_t{100}}})),
            "f32[100,16]");
  EXPECT_EQ(infer(OpKind::kEmbeddingDenseBackward, {f32({2, 4, 16}), of(Dtype::kI64, {2, 3})},
                  attrs({{AttrKey::kNumWeights, int64_t{100}}}))[0],
            '!');
}

TEST(OpDefs, EveryParameterNameIsAnAttributeOrAnOperand) {
  for (uint16_t k = 0; k < static_cast<uint16_t>(OpKind::kCount); ++k) {
    const OpDef& def = op_def(static_cast<OpKind>(k));
    SCOPED_TRACE(op_name(def.kind));
    EXPECT_EQ(static_cast<uint16_t>(def.kind), k) << "the constant stands in the wrong file";
    EXPECT_EQ(op_from_name(op_name(def.kind)), def.kind);
    for (const Param& p : def.params) {
      const bool operand = p.kind == ParamKind::kTensor || p.kind == ParamKind::kOptionalTensor ||
                           p.kind == ParamKind::kTensorList ||
                           p.kind == ParamKind::kOptionalTensorList ||
                           p.kind == ParamKind::kTrailingTensor || p.kind == ParamKind::kIgnored;
      EXPECT_TRUE(operand || attr_key_from_name(p.name).has_value()) << p.name;
    }
    EXPECT_TRUE(def.sharding != Sharding::kFollow || def.follow)
        << "says that it follows, but not how";
    EXPECT_TRUE(def.sharding != Sharding::kRules || def.rules) << "has no rules";
  }
}

}  // namespace
}  // namespace shw
