// Sorting on the CUDA backend, and the kernels that use it: the gradient of an embedding, and
// scatters with many indices. There, a search through all indices for each element would take
// minutes.
#include <limits>

#include "cuda/against_cpu.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;

using CudaRankingTest = testing::OnCuda;

Attrs along(int64_t dim, AttrKey how, bool down) {
  Attrs attrs;
  attrs.set(AttrKey::kDim, dim);
  attrs.set(how, down);
  return attrs;
}

TEST_F(CudaRankingTest, SortsAsTheCpu) {
  for (Dtype dtype :
       {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI64, Dtype::kI8, Dtype::kU8, Dtype::kBool})
    for (int64_t dim : {0, 1, 2})
      for (bool down : {false, true}) {
        SCOPED_TRACE(std::string(dtype_name(dtype)) + " dim " + std::to_string(dim));
        Window x(dtype, {4, 17, 3}, Lie::kReversed), values(dtype, {4, 17, 3}, Lie::kGaps),
            places(Dtype::kI64, {4, 17, 3}, Lie::kPadded);
        x.fill(
            // many values are equal, so their places show whether the sort is stable
            cts::whole_numbers(dtype));
        const Attrs attrs = along(dim, AttrKey::kDescending, down);
        expect_as_on_the_cpu(*device_, "sort", {&x}, {&values, &places}, attrs, 0);
        expect_as_on_the_cpu(*device_, "sort", {&x}, {nullptr, &places}, attrs, 0);
        expect_as_on_the_cpu(*device_, "sort", {&x}, {&values, nullptr}, attrs, 0);
      }
}

TEST_F(CudaRankingTest, TakesTheFirstOfTheOrder) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kI32})
    for (int64_t taken : {0, 1, 5, 40}) {
      Window x(dtype, {3, 40}, Lie::kPadded), values(dtype, {3, taken}, Lie::kPadded),
          places(Dtype::kI64, {3, taken});
      x.fill(cts::fractions());
      for (bool largest : {false, true})
        expect_as_on_the_cpu(*device_, "topk", {&x}, {&values, &places},
                             along(-1, AttrKey::kLargest, largest), 0);
    }
}

// The lines exceed the tile that one block sorts. So several sorted tiles are merged, and the last
// one is short.
TEST_F(CudaRankingTest, SortsLongLines) {
  for (int64_t count : {1023, 1024, 1025, 5000}) {
    Window x(Dtype::kF32, {2, count}), values(Dtype::kF32, {2, count}),
        places(Dtype::kI64, {2, count});
    x.fill([](int64_t i) { return static_cast<double>(i * 7919 % 1237) / 8; });
    for (bool down : {false, true})
      expect_as_on_the_cpu(*device_, "sort", {&x}, {&values, &places},
                           along(-1, AttrKey::kDescending, down), 0);
  }
}

TEST_F(CudaRankingTest, NanIsLargestAndZerosAreEqual) {
  using Limits = std::numeric_limits<double>;
  const double all[] = {0.0,
                        -Limits::quiet_NaN(),
                        -0.0,
                        Limits::infinity(),
                        Limits::quiet_NaN(),
                        -1.0,
                        -Limits::infinity(),
                        0.0,
                        1e-320,
                        -1e-320};
  Window x(Dtype::kF64, {10}), values(Dtype::kF64, {10}), places(Dtype::kI64, {10});
  x.fill([&](int64_t i) { return all[i]; });
  for (bool down : {false, true})
    expect_as_on_the_cpu(*device_, "sort", {&x}, {&values, &places},
                         along(0, AttrKey::kDescending, down), 0);
  Window n(Dtype::kI64, {3}), sorted(Dtype::kI64, {3}), from(Dtype::kI64, {3});
  n.fill([](int64_t i) { return i == 1 ? -0x1p63 : i == 2 ? 0x1p62 : -1.0; });
  expect_as_on_the_cpu(*device_, "sort", {&n}, {&sorted, &from}, {}, 0);
}

TEST_F(CudaRankingTest, RefusesWhatTheCpuRefuses) {
  Window x(Dtype::kF32, {3, 4}), more(Dtype::kF32, {3, 5}), places(Dtype::kI64, {3, 4}),
      complex(Dtype::kC64, {3, 4});
  const auto code = [&](const testing::Inputs& in, const testing::Outputs& out) {
    return testing::run_kernel(*device_, "sort", in, out).code();
  };
  EXPECT_EQ(code({&x}, {&more, &places}), Code::kInvalidArgument);
  EXPECT_EQ(code({&x}, {&x}), Code::kInvalidArgument);
  EXPECT_EQ(code({&complex}, {&complex, &places}), Code::kUnimplemented);
}

// Sums are added in the CPU's order, for any dim of the indices and for many indices.
TEST_F(CudaRankingTest, ManyIndicesAreScatteredAsOnTheCpu) {
  constexpr int64_t kMany = 60'000;
  Window x(Dtype::kF32, {3}), indices(Dtype::kI64, {kMany}), src(Dtype::kF32, {kMany}),
      out(Dtype::kF32, {3});
  indices.fill([](int64_t i) { return static_cast<double>(i * 7 % 3); });
  src.fill(cts::fractions());
  Attrs attrs;
  attrs.set(AttrKey::kDim, int64_t{0});
  expect_as_on_the_cpu(*device_, "scatter_add", {&x, &indices, &src}, {&out}, attrs, 0);
  expect_as_on_the_cpu(*device_, "scatter", {&x, &indices, &src}, {&out}, attrs, 0);
  Window rows(Dtype::kF32, {200, 5}), grad(Dtype::kF32, {kMany, 5});
  grad.fill(cts::fractions(1));
  indices.fill([](int64_t i) { return static_cast<double>(i * i % 199); });
  for (bool by_frequency : {false, true}) {
    Attrs scaled;
    scaled.set(AttrKey::kScaleGradByFreq, by_frequency);
    scaled.set(AttrKey::kPaddingIdx, int64_t{4});
    expect_as_on_the_cpu(*device_, "embedding_dense_backward", {&grad, &indices}, {&rows}, scaled,
                         0);
  }
}

// Rows with more columns than a block has threads. Some rows, between the others and at the end,
// are not looked up.
TEST_F(CudaRankingTest, WideRowsOfAnEmbeddingsGradient) {
  for (Dtype dtype : {Dtype::kBF16, Dtype::kF32, Dtype::kF64})
    for (int64_t width : {1, 8, 521}) {
      Window rows(dtype, {23, width}), grad(dtype, {2, 19, width}), indices(Dtype::kI32, {2, 19});
      grad.fill(cts::fractions(2));
      indices.fill([](int64_t i) { return static_cast<double>(i % 3 == 0 ? 5 : i * i % 17); });
      expect_as_on_the_cpu(*device_, "embedding_dense_backward", {&grad, &indices}, {&rows}, {}, 0);
    }
}

}  // namespace
}  // namespace shw::runtime::cuda
