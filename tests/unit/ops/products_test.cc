// The types that matrix products and convolutions infer, and the operands that they refuse.
#include <gtest/gtest.h>

#include "infer.h"

namespace shw {
namespace {

using testing::attrs;
using testing::f32;
using testing::ints;
using testing::of;

// An error is returned as "!": these tests do not check its message.
std::string product(OpKind op, const std::vector<OptionalType>& operands, const Attrs& a = {}) {
  const std::string type = testing::infer(op, operands, a);
  return type.starts_with('!') ? "!" : type;
}

TEST(Products, OfBatches) {
  EXPECT_EQ(product(OpKind::kBmm, {f32({2, 4, 8}), f32({2, 8, 3})}), "f32[2,4,3]");
  EXPECT_EQ(product(OpKind::kBmm, {f32({2, 4, 8}), f32({3, 8, 3})}), "!") << "batches";
  EXPECT_EQ(product(OpKind::kBmm, {f32({2, 4, 8}), f32({2, 7, 3})}), "!") << "inner dims";
  EXPECT_EQ(product(OpKind::kBmm, {f32({2, 4, 8}), f32({8, 3})}), "!") << "rank";
  EXPECT_EQ(product(OpKind::kBmm, {f32({2, 4, 8}), of(Dtype::kBF16, {2, 8, 3})}), "!") << "dtype";
  EXPECT_EQ(product(OpKind::kBmm, {f32({2, 4, 8}), std::nullopt}), "!");
}

TEST(Products, WithABiasThatBroadcasts) {
  const OptionalType a = f32({4, 8}), b = f32({8, 3});
  for (const Dims& bias : {Dims{}, Dims{1}, Dims{3}, Dims{4, 1}, Dims{1, 3}, Dims{4, 3}})
    EXPECT_EQ(product(OpKind::kAddmm, {f32(bias), a, b}), "f32[4,3]") << to_string(*f32(bias));
  for (const Dims& bias : {Dims{4}, Dims{3, 4}, Dims{8, 3}, Dims{1, 4, 3}})
    EXPECT_EQ(product(OpKind::kAddmm, {f32(bias), a, b}), "!") << to_string(*f32(bias));
  EXPECT_EQ(product(OpKind::kAddmm, {of(Dtype::kF64, {3}), a, b}), "!") << "dtype";
  EXPECT_EQ(product(OpKind::kAddmm, {std::nullopt, a, b}), "!");
  EXPECT_EQ(product(OpKind::kBaddbmm, {f32({3}), f32({2, 4, 8}), f32({2, 8, 3})}), "f32[2,4,3]");
  EXPECT_EQ(product(OpKind::kBaddbmm, {f32({4, 1, 3}), f32({2, 4, 8}), f32({2, 8, 3})}), "!");
}

TEST(Products, OfIntegersTakeWholeFactors) {
  const OptionalType i = of(Dtype::kI32, {4, 4});
  EXPECT_EQ(product(OpKind::kAddmm, {i, i, i}, attrs({{AttrKey::kAlpha, int64_t{2}}})), "i32[4,4]");
  EXPECT_EQ(product(OpKind::kAddmm, {i, i, i}, attrs({{AttrKey::kAlpha, 0.5}})), "!");
  EXPECT_EQ(product(OpKind::kAddmm, {i, i, i}, attrs({{AttrKey::kBeta, 2.0}})), "!");
}

TEST(Products, Scaled) {
  const auto scaled = [](OptionalType scale_a, OptionalType scale_b, OptionalType bias,
                         const Attrs& a = {}, Dtype in = Dtype::kBF16) {
    return product(OpKind::kScaledMm, {of(in, {4, 8}), of(in, {8, 3}), scale_a, scale_b, bias}, a);
  };
  const Attrs f16 = attrs({{AttrKey::kDtype, Dtype::kF16}});
  EXPECT_EQ(scaled(f32({}), f32({1}), {}), "bf16[4,3]");
  EXPECT_EQ(scaled(f32({4, 1}), f32({1, 3}), of(Dtype::kF16, {3}), f16), "f16[4,3]");
  EXPECT_EQ(scaled(f32({}), f32({}), {}, f16, Dtype::kI8), "f16[4,3]");
  EXPECT_EQ(scaled(f32({}), f32({}), {}, {}, Dtype::kI8), "!") << "sums are no i8";
  EXPECT_EQ(scaled(f32({}), f32({}), {}, f16, Dtype::kC64), "!");
  EXPECT_EQ(scaled(f32({1, 4}), f32({1, 3}), {}), "!") << "not one a row";
  EXPECT_EQ(scaled(f32({4, 1}), f32({3, 1}), {}), "!") << "not one a column";
  EXPECT_EQ(scaled(of(Dtype::kI32, {}), f32({}), {}), "!");
  EXPECT_EQ(scaled(f32({}), f32({}), f32({4})), "!") << "bias";
  EXPECT_EQ(scaled(f32({}), f32({}), of(Dtype::kC64, {3})), "!") << "bias";
}

TEST(Products, ByGroups) {
  const auto grouped = [](Dims a, Dims b, OptionalType offsets, const Attrs& attrs = {}) {
    return product(OpKind::kGroupedMm, {f32(a), f32(b), offsets}, attrs);
  };
  const OptionalType ends = of(Dtype::kI32, {4});
  EXPECT_EQ(grouped({9, 8}, {4, 8, 3}, ends), "f32[9,3]");
  EXPECT_EQ(grouped({4, 9, 8}, {8, 3}, ends), "f32[9,3]");
  EXPECT_EQ(grouped({9, 8}, {8, 3}, ends), "f32[4,9,3]");
  EXPECT_EQ(grouped({4, 9, 8}, {4, 8, 3}, {}), "f32[4,9,3]");
  EXPECT_EQ(grouped({9, 8}, {4, 8, 3}, {}), "!") << "no offsets";
  EXPECT_EQ(grouped({4, 9, 8}, {4, 8, 3}, ends), "!") << "needless offsets";
  EXPECT_EQ(grouped({9, 8}, {5, 8, 3}, ends), "!") << "four offsets for five groups";
  EXPECT_EQ(grouped({9, 8}, {4, 7, 3}, ends), "!") << "inner dims";
  EXPECT_EQ(grouped({8}, {4, 8, 3}, ends), "!") << "rank";
  EXPECT_EQ(grouped({9, 8}, {4, 8, 3}, f32({4})), "!") << "offsets that are reals";
  EXPECT_EQ(grouped({9, 8}, {4, 8, 3}, ends, attrs({{AttrKey::kDtype, Dtype::kI32}})), "!");
}

TEST(Convolution, CountsPlaces) {
  const auto shape = [](Dims x, Dims w, std::initializer_list<Attrs::Item> a) {
    return product(OpKind::kConvolution, {f32(x), f32(w), std::nullopt}, attrs(a));
  };
  EXPECT_EQ(shape({2, 3, 32, 30}, {8, 3, 4, 4}, {{AttrKey::kStride, ints({4, 4})}}),
            "f32[2,8,8,7]");
  EXPECT_EQ(shape({2, 3, 9}, {8, 3, 3}, {{AttrKey::kDilation, ints({2})}}), "f32[2,8,5]");
  EXPECT_EQ(shape({2, 4, 5, 5, 5}, {8, 2, 3, 3, 3},
                  {{AttrKey::kPadding, ints({1})}, {AttrKey::kGroups, int64_t{2}}}),
            "f32[2,8,5,5,5]");
}

TEST(Convolution, RefusesWhatDoesNotFit) {
  const OptionalType x = f32({2, 4, 8, 8}), w = f32({6, 4, 3, 3});
  const auto refused = [&](OptionalType input, OptionalType weight, OptionalType bias,
                           std::initializer_list<Attrs::Item> a) {
    return product(OpKind::kConvolution, {input, weight, bias}, attrs(a)) == "!";
  };
  ASSERT_FALSE(refused(x, w, f32({6}), {}));
  EXPECT_TRUE(refused(x, w, f32({4}), {})) << "bias";
  EXPECT_TRUE(refused(x, w, of(Dtype::kF64, {6}), {})) << "bias";
  EXPECT_TRUE(refused(x, f32({6, 3, 3, 3}), {}, {})) << "channels";
  EXPECT_TRUE(refused(x, w, {}, {{AttrKey::kGroups, int64_t{2}}})) << "channels";
  EXPECT_TRUE(refused(x, w, {}, {{AttrKey::kGroups, int64_t{0}}}));
  EXPECT_TRUE(refused(x, f32({6, 4, 9, 3}), {}, {})) << "a kernel larger than the input";
  EXPECT_TRUE(refused(x, f32({6, 4, 0, 3}), {}, {}));
  EXPECT_TRUE(refused(f32({4, 8, 8}), w, {}, {})) << "rank";
  EXPECT_TRUE(refused(f32({2, 4}), f32({6, 4}), {}, {})) << "nothing spatial";
  EXPECT_TRUE(refused(of(Dtype::kBF16, {2, 4, 8, 8}), w, {}, {})) << "dtype";
  EXPECT_TRUE(refused(of(Dtype::kI32, {2, 4, 8, 8}), of(Dtype::kI32, {6, 4, 3, 3}), {}, {}));
  for (AttrKey key : {AttrKey::kStride, AttrKey::kDilation})
    EXPECT_TRUE(refused(x, w, {}, {{key, ints({0, 1})}})) << attr_key_name(key);
  for (AttrKey key : {AttrKey::kStride, AttrKey::kDilation, AttrKey::kPadding}) {
    EXPECT_TRUE(refused(x, w, {}, {{key, ints({-1, 1})}})) << attr_key_name(key);
    EXPECT_TRUE(refused(x, w, {}, {{key, ints({1, 1, 1})}})) << attr_key_name(key);
    EXPECT_TRUE(refused(x, w, {}, {{key, ints({INT64_MAX, 1})}})) << attr_key_name(key);
  }
  const std::vector<OptionalType> operands = {x, w, std::nullopt};
  const Attrs transposed = attrs({{AttrKey::kTransposed, true}});
  EXPECT_EQ(op_def(OpKind::kConvolution).infer({operands, &transposed}).status().code(),
            Code::kUnimplemented);
}

TEST(Convolution, HasTheGradientsThatAreWanted) {
  const auto gradients = [](OptionalType grad, std::vector<int64_t> mask) {
    return product(OpKind::kConvolutionBackward, {grad, f32({2, 4, 8, 8}), f32({6, 2, 3, 3})},
                   attrs({{AttrKey::kGroups, int64_t{2}}, {AttrKey::kOutputMask, ints(mask)}}));
  };
  EXPECT_EQ(gradients(f32({2, 6, 6, 6}), {1, 1, 1}), "f32[2,4,8,8], f32[6,2,3,3], f32[6]");
  EXPECT_EQ(gradients(f32({2, 6, 6, 6}), {0, 1, 0}), "none, f32[6,2,3,3], none");
  EXPECT_EQ(gradients(f32({2, 6, 6, 5}), {1, 1, 1}), "!");
  EXPECT_EQ(gradients(of(Dtype::kBF16, {2, 6, 6, 6}), {1, 1, 1}), "!");
}

}  // namespace
}  // namespace shw
