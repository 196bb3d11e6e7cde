// Matrix products, with and without an added or scaled operand, and convolutions.
#include "op_cases.h"

namespace shw::testing {
namespace {

void products(std::vector<OpCase>& list) {
  list.push_back({"bmm", OpKind::kBmm, {f32({4, 8, 16}), f32({4, 16, 8})}, {}});
  list.push_back({"addmm", OpKind::kAddmm, {f32({8}), f32({8, 16}), f32({16, 8})}, {}});
  list.push_back({"addmm of a column with numbers",
                  OpKind::kAddmm,
                  {f32({8, 1}), f32({8, 16}), f32({16, 8})},
                  attrs({{AttrKey::kBeta, 0.5}, {AttrKey::kAlpha, int64_t{-2}}})});
  list.push_back(
      {"addmm bf16", OpKind::kAddmm, {bf16({8, 8}), bf16({8, 16}), bf16({16, 8})}, {}, 1e-2});
  list.push_back({"baddbmm",
                  OpKind::kBaddbmm,
                  {f32({4, 8, 1}), f32({4, 8, 16}), f32({4, 16, 8})},
                  attrs({{AttrKey::kAlpha, 0.25}})});
  list.push_back({"scaled_mm",
                  OpKind::kScaledMm,
                  {f32({8, 16}), f32({16, 8}), f32({}, 1, 2), f32({}, 1, 2), f32({8})},
                  {}});
  list.push_back({"scaled_mm by rows",
                  OpKind::kScaledMm,
                  {f32({8, 16}), f32({16, 8}), f32({8, 1}, 1, 2), f32({1, 8}, 1, 2), absent()},
                  {}});
}

// Rows after the last offset belong to no group.
void grouped(std::vector<OpCase>& list) {
  const auto ends = [](int64_t last, int64_t groups = 4) {
    return Operand{.type = row_major(Dtype::kI32, Dims{groups}), .rises_to = last};
  };
  list.push_back(
      {"grouped_mm of rows", OpKind::kGroupedMm, {f32({8, 16}), f32({4, 16, 8}), ends(7)}, {}});
  list.push_back(
      {"grouped_mm of columns", OpKind::kGroupedMm, {f32({4, 8, 16}), f32({16, 8}), ends(6)}, {}});
  list.push_back(
      {"grouped_mm of terms", OpKind::kGroupedMm, {f32({8, 16}), f32({16, 8}), ends(15)}, {}});
  // Five experts on four ranks: two, two, one and none.
  list.push_back({"grouped_mm of rows of five",
                  OpKind::kGroupedMm,
                  {f32({8, 16}), f32({5, 16, 8}), ends(7, 5)},
                  {}});
  list.push_back({"grouped_mm of terms of five",
                  OpKind::kGroupedMm,
                  {f32({8, 16}), f32({16, 8}), ends(15, 5)},
                  {}});
  list.push_back({"grouped_mm of batches",
                  OpKind::kGroupedMm,
                  {f32({4, 8, 16}), f32({4, 16, 8}), absent()},
                  {}});
}

void convolutions(std::vector<OpCase>& list) {
  const auto numbers = [](int64_t stride, int64_t padding, int64_t groups) {
    return attrs({{AttrKey::kStride, ints({stride})},
                  {AttrKey::kPadding, ints({padding})},
                  {AttrKey::kGroups, groups}});
  };
  list.push_back({"convolution",
                  OpKind::kConvolution,
                  {f32({4, 4, 6, 5}), f32({6, 2, 3, 3}), f32({6})},
                  numbers(2, 1, 2)});
  list.push_back({"convolution into patches",
                  OpKind::kConvolution,
                  {f32({4, 3, 8, 16}), f32({8, 3, 4, 4}), f32({8})},
                  numbers(4, 0, 1)});
  list.push_back({"convolution into rows of patches",
                  OpKind::kConvolution,
                  {f32({4, 4, 8, 7}), f32({8, 4, 2, 3}), absent()},
                  attrs({{AttrKey::kStride, ints({2, 1})}, {AttrKey::kPadding, ints({0, 1})}})});
  list.push_back({"convolution of a row",
                  OpKind::kConvolution,
                  {f32({4, 2, 9}), f32({3, 2, 3}), absent()},
                  attrs({{AttrKey::kDilation, ints({2})}})});
  list.push_back({"convolution_backward",
                  OpKind::kConvolutionBackward,
                  {f32({4, 6, 3, 3}), f32({4, 4, 6, 5}), f32({6, 2, 3, 3})},
                  numbers(2, 1, 2)});
  list.push_back({"convolution_backward of a row",
                  OpKind::kConvolutionBackward,
                  {f32({4, 4, 7}), f32({4, 2, 9}), f32({4, 2, 3})},
                  {}});
  list.push_back({"convolution_backward of channels",
                  OpKind::kConvolutionBackward,
                  {f32({4, 4, 4, 7}), f32({4, 4, 8, 7}), f32({4, 4, 2, 3})},
                  attrs({{AttrKey::kStride, ints({2, 1})}, {AttrKey::kPadding, ints({0, 1})}})});
  Attrs masked = numbers(4, 0, 1);
  masked.set(AttrKey::kOutputMask, ints({0, 1, 1}));
  list.push_back({"convolution_backward of patches",
                  OpKind::kConvolutionBackward,
                  {f32({4, 8, 2, 4}), f32({4, 3, 8, 16}), f32({8, 3, 4, 4})},
                  masked});
}

}  // namespace

void product_cases(std::vector<OpCase>& list) {
  products(list);
  grouped(list);
  convolutions(list);
}

}  // namespace shw::testing
