// The work of ops, in the terms in which kernels are measured.
#include "placement/kernel_work.h"

#include <gtest/gtest.h>

namespace shw {
namespace {

OptionalType f32(Dims shape) { return row_major(Dtype::kF32, shape); }

std::vector<cost::KernelWork> works(OpKind op, std::vector<OptionalType> operands,
                                    std::vector<OptionalType> results, Attrs attrs = {}) {
  return kernel_works(op, {operands, &attrs}, results);
}

void expect_work(const cost::KernelWork& w, std::string_view kernel, std::array<int64_t, 3> sizes,
                 double times = 1) {
  EXPECT_EQ(w.kernel, kernel);
  EXPECT_EQ(w.sizes, sizes);
  EXPECT_EQ(w.times, times);
}

TEST(KernelWork, ProductsAreMmOfEachBatch) {
  expect_work(works(OpKind::kMm, {f32({2, 3}), f32({3, 5})}, {f32({2, 5})}).at(0), "mm", {2, 5, 3});
  expect_work(works(OpKind::kBmm, {f32({7, 2, 3}), f32({7, 3, 5})}, {f32({7, 2, 5})}).at(0), "mm",
              {2, 5, 3}, 7);
  Attrs attrs;
  attrs.set(AttrKey::kEquation, std::string("abk,kn->abn"));
  expect_work(works(OpKind::kEinsum, {f32({4, 2, 3}), f32({3, 5})}, {f32({4, 2, 5})}, attrs).at(0),
              "mm", {8, 5, 3});
  attrs.set(AttrKey::kEquation, std::string("bmk,bkn->bmn"));
  expect_work(
      works(OpKind::kEinsum, {f32({4, 2, 3}), f32({4, 3, 5})}, {f32({4, 2, 5})}, attrs).at(0), "mm",
      {2, 5, 3}, 4);
}

OptionalType transposed(Dims shape) {
  TensorType type = row_major(Dtype::kF32, shape);
  type.strides[shape.size() - 2] = 1;
  type.strides[shape.size() - 1] = shape[shape.size() - 2];
  return type;
}

TEST(KernelWork, ProductsTellHowTheirOperandsLie) {
  const OptionalType x = f32({2, 3}), y = f32({3, 5}), out = f32({2, 5});
  expect_work(works(OpKind::kMm, {x, transposed({3, 5})}, {out}).at(0), "mm.nt", {2, 5, 3});
  expect_work(works(OpKind::kMm, {transposed({2, 3}), y}, {out}).at(0), "mm.tn", {2, 5, 3});
  Attrs attrs;
  const auto einsum = [&](std::string equation, OptionalType a, OptionalType b, OptionalType c) {
    attrs.set(AttrKey::kEquation, std::move(equation));
    return works(OpKind::kEinsum, {std::move(a), std::move(b)}, {std::move(c)}, attrs).at(0);
  };
  expect_work(einsum("abk,kn->abn", f32({4, 2, 3}), transposed({3, 5}), f32({4, 2, 5})), "mm.nt",
              {8, 5, 3});
  expect_work(einsum("abn,abk->nk", f32({4, 2, 5}), f32({4, 2, 3}), f32({5, 3})), "mm.tn",
              {5, 3, 8});
}

TEST(KernelWork, ProductsByGroupsCopyTheirOperandsFirst) {
  const auto w = works(OpKind::kGroupedMm,
                       {f32({8, 3}), f32({4, 3, 5}), row_major(Dtype::kI32, {4})}, {f32({8, 5})});
  ASSERT_EQ(w.size(), 4u);
  expect_work(w[0], "mm", {2, 5, 3}, 4);
  expect_work(w[1], "clone", {24, 3, 0});
  expect_work(w[2], "clone", {60, 5, 0});
  expect_work(w[3], "clone", {40, 5, 0});
}

TEST(KernelWork, AttentionIsThatOfEachHead) {
  const OptionalType q = f32({2, 3, 16, 8}), k = f32({2, 3, 64, 8});
  expect_work(works(OpKind::kSdpa, {q, k, k}, {q}).at(0), "sdpa", {64, 8, 0}, 2 * 3 * 16 / 64.0);
  Attrs causal;
  causal.set(AttrKey::kCausal, true);
  expect_work(works(OpKind::kSdpaBackward, {q, q, k, k}, {q}, causal).at(0), "sdpa_backward.causal",
              {64, 8, 0}, 2 * 3 * 16 / 64.0);
}

TEST(KernelWork, ConvolutionsAreThoseOfEachGroup) {
  const OptionalType input = f32({2, 6, 9, 9}), weight = f32({4, 3, 3, 3}), out = f32({2, 4, 7, 7});
  Attrs attrs;
  attrs.set(AttrKey::kGroups, int64_t{2});
  expect_work(works(OpKind::kConvolution, {input, weight}, {out}, attrs).at(0), "convolution",
              {2 * 7 * 7, 2, 3 * 3 * 3}, 2);
  expect_work(
      works(OpKind::kConvolutionBackward, {out, input, weight}, {input, weight, f32({4})}, attrs)
          .at(0),
      "convolution_backward", {2 * 7 * 7, 2, 3 * 3 * 3}, 2);
}

TEST(KernelWork, AWindowTakesItsShareOfThePairs) {
  const OptionalType q = f32({2, 3, 16, 8});
  Attrs window;
  window.set(AttrKey::kWindowLeft, int64_t{0});
  window.set(AttrKey::kWindowRight, int64_t{0});
  expect_work(works(OpKind::kSdpa, {q, q, q}, {q}, window).at(0), "sdpa", {16, 8, 0}, 6 / 16.0);
  window.set(AttrKey::kCausal, true);
  expect_work(works(OpKind::kSdpa, {q, q, q}, {q}, window).at(0), "sdpa.causal", {16, 8, 0},
              6 * (16 / 136.0));
}

TEST(KernelWork, AttentionWithNumbersAddedIsAnotherKernel) {
  const OptionalType q = f32({2, 3, 16, 8}), bias = f32({2, 3, 16, 16});
  const std::vector<OptionalType> backward{q, q, q, q, bias, q, f32({2, 3, 16})};
  expect_work(works(OpKind::kSdpa, {q, q, q, bias}, {q}).at(0), "sdpa.biased", {16, 8, 0}, 6);
  expect_work(works(OpKind::kSdpaBackward, backward, {q, q, q}).at(0), "sdpa_backward.biased",
              {16, 8, 0}, 6);
  Attrs causal;
  causal.set(AttrKey::kCausal, true);
  expect_work(works(OpKind::kSdpa, {q, q, q, bias}, {q}, causal).at(0), "sdpa.causal", {16, 8, 0},
              6);
}

TEST(KernelWork, LinesAreRowsOfWhatWorksAlongThem) {
  const OptionalType x = f32({6, 4, 8});
  Attrs attrs;
  attrs.set(AttrKey::kDim, int64_t{-1});
  expect_work(works(OpKind::kSoftmax, {x}, {x}, attrs).at(0), "softmax", {192, 8, 0});
  expect_work(works(OpKind::kSoftmaxBackward, {x, x}, {x}, attrs).at(0), "softmax_backward_data",
              {192, 8, 0});
  attrs.set(AttrKey::kDim, int64_t{1});
  expect_work(works(OpKind::kCumsum, {x}, {x}, attrs).at(0), "cumsum", {192, 4, 0});
}

TEST(KernelWork, RowsAreWhatAllOperandsWalkAlike) {
  const OptionalType out = f32({6, 4, 8});
  expect_work(works(OpKind::kMul, {out, out}, {out}).at(0), "mul", {192, 192, 0});
  expect_work(works(OpKind::kMul, {out, f32({8})}, {out}).at(0), "mul", {192, 8, 0});
  expect_work(works(OpKind::kMul, {out, f32({4, 8})}, {out}).at(0), "mul", {192, 32, 0});
  expect_work(works(OpKind::kMul, {out, f32({})}, {out}).at(0), "mul", {192, 192, 0});
  OptionalType swapped = out;
  swapped->strides = {8, 48, 1};
  expect_work(works(OpKind::kClone, {swapped}, {out}).at(0), "clone", {192, 8, 0});
  const OptionalType large = f32({100, 1000});
  expect_work(works(OpKind::kNeg, {large}, {large}).at(0), "neg",
              {100000, cost::KernelTimes::kLongRow, 0});
}

// Rows that are added to one another are added as vectors, many elements at a time.
TEST(KernelWork, SumsOverLeadingDimsAreAnotherKernel) {
  Attrs attrs;
  const auto sum = [&](OptionalType x, std::vector<int64_t> dims, OptionalType out) {
    attrs.set(AttrKey::kDims, std::move(dims));
    return works(OpKind::kSum, {std::move(x)}, {std::move(out)}, attrs).at(0);
  };
  const OptionalType x = f32({6, 4, 8});
  expect_work(sum(x, {0}, f32({4, 8})), "sum.columns", {192, 32, 0});
  expect_work(sum(x, {0, -2}, f32({8})), "sum.columns", {192, 8, 0});
  expect_work(sum(x, {-1}, f32({6, 4})), "sum", {192, 8, 0});
  expect_work(sum(x, {0, 2}, f32({4})), "sum", {192, 8, 0});
  expect_work(sum(x, {2, 1}, f32({6})), "sum", {192, 32, 0});
  expect_work(sum(x, {}, f32({})), "sum", {192, 192, 0});
  OptionalType turned = f32({8, 6});
  turned->strides = {1, 8};
  expect_work(sum(turned, {-1}, f32({8})), "sum.columns", {48, 8, 0});
}

// An index for each of the leading dims selects what the remaining dims hold. If it covers all
// dims, this is a single element.
TEST(KernelWork, LookUpsFindWhatIsBehindTheirDims) {
  const OptionalType table = f32({6, 4, 8}), places = row_major(Dtype::kI64, {5});
  Attrs attrs;
  const auto index = [&](std::vector<OptionalType> operands, OptionalType out) {
    return works(OpKind::kIndex, std::move(operands), {std::move(out)}, attrs).at(0);
  };
  expect_work(index({table, places}, f32({5, 4, 8})), "index", {160, 32, 0});
  expect_work(index({table, places, places, places}, f32({5})), "index", {5, 1, 0});
  attrs.set(AttrKey::kDims, std::vector<int64_t>{-1});
  expect_work(index({table, places}, f32({6, 4, 5})), "index", {120, 1, 0});
}

TEST(KernelWork, ReductionsCountWhatTheyReadAndLookUpsWhatTheyWrite) {
  Attrs attrs;
  attrs.set(AttrKey::kDims, std::vector<int64_t>{1});
  expect_work(works(OpKind::kSum, {f32({6, 40})}, {f32({6, 1})}, attrs).at(0), "sum", {240, 40, 0});
  expect_work(
      works(OpKind::kEmbedding, {f32({1000, 16}), row_major(Dtype::kI64, {5})}, {f32({5, 16})})
          .at(0),
      "embedding", {80, 16, 0});
}

}  // namespace
}  // namespace shw
