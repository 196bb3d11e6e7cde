// Ops that move or select elements.
#include "op_cases.h"

namespace shw::testing {
namespace {

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
  list.push_back({"cat of rows", OpKind::kCat, {f32({3, 16}), f32({5, 16})}, {}, kBits});
  list.push_back({"split_with_sizes of rows",
                  OpKind::kSplitWithSizes,
                  {f32({12, 16})},
                  attrs({{AttrKey::kSplitSizes, ints({4, 8})}}),
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

void picking_parts(std::vector<OpCase>& list) {
  const auto at = [](int64_t dim, int64_t index) {
    return attrs({{AttrKey::kDim, dim}, {AttrKey::kIndex, index}});
  };
  const auto slice = [](int64_t dim, int64_t start, int64_t end, int64_t step) {
    return attrs({{AttrKey::kDim, dim},
                  {AttrKey::kStart, start},
                  {AttrKey::kEnd, end},
                  {AttrKey::kStep, step}});
  };
  const auto with_sizes = [](Attrs a, std::vector<int64_t> sizes) {
    a.set(AttrKey::kInputSizes, ints(std::move(sizes)));
    return a;
  };
  list.push_back({"select", OpKind::kSelect, {f32({8, 4, 16})}, at(1, -1), kBits});
  list.push_back({"select_backward",
                  OpKind::kSelectBackward,
                  {f32({8, 16})},
                  with_sizes(at(1, 2), {8, 4, 16}),
                  kBits});
  list.push_back(
      {"select_scatter", OpKind::kSelectScatter, {f32({8, 4, 16}), f32({8, 4})}, at(-1, 5), kBits});
  list.push_back({"slice_backward",
                  OpKind::kSliceBackward,
                  {f32({8, 5, 16})},
                  with_sizes(slice(1, 3, -1, 2), {8, 14, 16}),
                  kBits});
  list.push_back({"slice_backward of first rows",
                  OpKind::kSliceBackward,
                  {f32({4, 16})},
                  with_sizes(attrs({{AttrKey::kEnd, int64_t{4}}}), {8, 16}),
                  kBits});
  list.push_back({"slice_scatter of first rows",
                  OpKind::kSliceScatter,
                  {f32({8, 16}), f32({4, 16})},
                  attrs({{AttrKey::kEnd, int64_t{4}}}),
                  kBits});
  list.push_back({"slice_scatter",
                  OpKind::kSliceScatter,
                  {f32({8, 16}), f32({3, 16})},
                  slice(0, 1, 7, 2),
                  kBits});
  list.push_back(
      {"unbind", OpKind::kUnbind, {f32({8, 3, 16})}, attrs({{AttrKey::kDim, int64_t{1}}}), kBits});
}

void rearranging(std::vector<OpCase>& list) {
  list.push_back({"pad with zeros",
                  OpKind::kPad,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kPad, ints({0, 0, 2, 1})}}),
                  kBits});
  list.push_back({"pad and crop",
                  OpKind::kPad,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kPad, ints({-2, 3})}, {AttrKey::kValue, 1.5}}),
                  kBits});
  list.push_back({"stack",
                  OpKind::kStack,
                  {f32({8, 16}), f32({8, 16}), f32({8, 16})},
                  attrs({{AttrKey::kDim, int64_t{-2}}}),
                  kBits});
  list.push_back(
      {"flip", OpKind::kFlip, {f32({8, 4, 16})}, attrs({{AttrKey::kDims, ints({0, -2})}}), kBits});
  list.push_back({"repeat",
                  OpKind::kRepeat,
                  {f32({8, 4, 1})},
                  attrs({{AttrKey::kRepeats, ints({2, 1, 3, 5})}}),
                  kBits});
  list.push_back({"transpose",
                  OpKind::kTranspose,
                  {f32({8, 4, 16})},
                  attrs({{AttrKey::kDim0, int64_t{-1}}, {AttrKey::kDim1, int64_t{0}}}),
                  kBits});
  list.push_back({"t", OpKind::kT, {f32({8, 16})}, {}, kBits});
  list.push_back({"squeeze of two dims",
                  OpKind::kSqueeze,
                  {f32({1, 8, 1, 16})},
                  attrs({{AttrKey::kDims, ints({0, 2, 3})}}),
                  kBits});
  list.push_back(
      {"squeeze of all dims of size 1", OpKind::kSqueeze, {f32({1, 8, 16, 1})}, {}, kBits});
  list.push_back({"tril", OpKind::kTril, {f32({4, 8, 8})}, {}, kBits});
  list.push_back({"triu above the diagonal",
                  OpKind::kTriu,
                  {f32({8, 16})},
                  attrs({{AttrKey::kDiagonal, int64_t{3}}}),
                  kBits});
}

}  // namespace

void movement_cases(std::vector<OpCase>& list) {
  movement(list);
  picking(list);
  picking_parts(list);
  rearranging(list);
}

}  // namespace shw::testing
