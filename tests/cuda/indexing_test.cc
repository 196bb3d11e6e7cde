// Compares kernels of the CUDA backend with the CPU: those whose elements index tensors select, and
// those whose elements depend on their position.
#include <limits>

#include "cuda/against_cpu.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;

constexpr Dtype kAll[] = {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI64,
                          Dtype::kI8,  Dtype::kBool, Dtype::kC64};

using CudaIndexingTest = testing::OnCuda;

Attrs dim_attr(int64_t dim) {
  Attrs attrs;
  attrs.set(AttrKey::kDim, dim);
  return attrs;
}

// Numbers below `bound`, many of which occur more than once.
std::function<cts::Number(int64_t)> below(int64_t bound) {
  return [bound](int64_t i) { return static_cast<double>((i * 7 + i * i / 3) % bound); };
}

TEST_F(CudaIndexingTest, LookUpsAgreeWithTheCpu) {
  for (Dtype dtype : kAll)
    for (Dtype index : {Dtype::kI32, Dtype::kI64})
      for (int64_t dim : {int64_t{0}, int64_t{1}, int64_t{-1}}) {
        SCOPED_TRACE(std::string(dtype_name(dtype)) + " dim " + std::to_string(dim));
        Window x(dtype, {4, 5, 6}, Lie::kReversed), beside(index, {3, 4, 5}, Lie::kPadded),
            out(dtype, {3, 4, 5}, Lie::kGaps), row(index, {7}, Lie::kGaps);
        Dims sliced{4, 5, 6};
        sliced[dim < 0 ? 2 : static_cast<size_t>(dim)] = 7;
        Window slices(dtype, sliced, Lie::kReversed);
        x.fill(cts::whole_numbers(dtype));
        beside.fill(below(4));
        row.fill(below(4));
        expect_as_on_the_cpu(*device_, "gather", {&x, &beside}, {&out}, dim_attr(dim));
        expect_as_on_the_cpu(*device_, "index_select", {&x, &row}, {&slices}, dim_attr(dim));
      }
}

TEST_F(CudaIndexingTest, ScattersAgreeWithTheCpu) {
  for (Dtype dtype : kAll)
    for (int64_t dim : {int64_t{0}, int64_t{1}, int64_t{2}}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " dim " + std::to_string(dim));
      Window x(dtype, {4, 5, 6}, Lie::kReversed), indices(Dtype::kI64, {3, 5, 6}, Lie::kPadded),
          src(dtype, {3, 5, 6}, Lie::kGaps), out(dtype, {4, 5, 6}, Lie::kPadded);
      x.fill(cts::whole_numbers(dtype, 1));
      indices.fill(below(4));
      src.fill(cts::whole_numbers(dtype, 2));
      expect_as_on_the_cpu(*device_, "scatter", {&x, &indices, &src}, {&out}, dim_attr(dim));
      expect_as_on_the_cpu(*device_, "scatter_add", {&x, &indices, &src}, {&out}, dim_attr(dim));
      Attrs fixed = dim_attr(dim);
      fixed.set(AttrKey::kSrc, 3.0);
      expect_as_on_the_cpu(*device_, "scatter", {&x, &indices}, {&out}, fixed);
      for (const char* how : {"amax", "amin", "prod"}) {
        if (is_complex(dtype) && *how != 'p') continue;
        Attrs reduce = dim_attr(dim);
        reduce.set(AttrKey::kReduce, std::string(how));
        expect_as_on_the_cpu(*device_, "scatter_reduce", {&x, &indices, &src}, {&out}, reduce);
      }
    }
}

TEST_F(CudaIndexingTest, AMaximumKeepsNan) {
  Window x(Dtype::kF32, {3}), indices(Dtype::kI64, {4}), src(Dtype::kF32, {4}),
      out(Dtype::kF32, {3});
  indices.fill([](int64_t i) { return static_cast<double>(i % 2); });
  src.fill([](int64_t i) { return i == 0 ? std::numeric_limits<double>::quiet_NaN() : 1.0; });
  for (const char* how : {"amax", "amin"}) {
    Attrs reduce = dim_attr(0);
    reduce.set(AttrKey::kReduce, std::string(how));
    expect_as_on_the_cpu(*device_, "scatter_reduce", {&x, &indices, &src}, {&out}, reduce);
  }
}

// Sums of fractions show whether elements are added in the CPU's order.
TEST_F(CudaIndexingTest, SumsHaveTheOrderOfTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16}) {
    Window x(dtype, {3, 4}), indices(Dtype::kI64, {50, 4}), src(dtype, {50, 4}), out(dtype, {3, 4});
    indices.fill(below(3));
    src.fill(cts::fractions(3));
    expect_as_on_the_cpu(*device_, "scatter_add", {&x, &indices, &src}, {&out}, dim_attr(0), 0);
    Window rows(Dtype::kI64, {50});
    rows.fill(below(3));
    Attrs adds;
    adds.set(AttrKey::kAccumulate, true);
    expect_as_on_the_cpu(*device_, "index_put", {&x, &src, &rows}, {&out}, adds, 0);
  }
}

TEST_F(CudaIndexingTest, SeveralIndexTensorsAgreeWithTheCpu) {
  for (Dtype dtype : kAll) {
    SCOPED_TRACE(dtype_name(dtype));
    Window x(dtype, {4, 5, 6}, Lie::kPadded), a(Dtype::kI64, {3, 1}, Lie::kReversed),
        b(Dtype::kI32, {2}), both(dtype, {3, 2, 6}, Lie::kGaps), one(dtype, {4, 2, 6}),
        apart(dtype, {3, 2, 5}, Lie::kReversed), put(dtype, {4, 5, 6}, Lie::kReversed),
        values(dtype, {2, 6});
    x.fill(cts::whole_numbers(dtype));
    values.fill(cts::whole_numbers(dtype, 3));
    // negative indices count from the end
    a.fill([](int64_t i) { return static_cast<double>(i - 2); });
    b.fill(below(4));
    Attrs second, first_and_third;
    second.set(AttrKey::kDims, std::vector<int64_t>{1});
    first_and_third.set(AttrKey::kDims, std::vector<int64_t>{0, 2});
    expect_as_on_the_cpu(*device_, "index", {&x, &a, &b}, {&both});
    expect_as_on_the_cpu(*device_, "index", {&x, &b}, {&one}, second);
    expect_as_on_the_cpu(*device_, "index", {&x, &a, &b}, {&apart}, first_and_third);
    for (bool adds : {false, true}) {
      Attrs attrs;
      attrs.set(AttrKey::kAccumulate, adds);
      expect_as_on_the_cpu(*device_, "index_put", {&x, &values, &a, &b}, {&put}, attrs);
    }
  }
}

TEST_F(CudaIndexingTest, NothingToDo) {
  Window x(Dtype::kF32, {3, 2}), none(Dtype::kI64, {0}), out(Dtype::kF32, {0, 2}),
      whole(Dtype::kF32, {3, 2}), no_values(Dtype::kF32, {0, 2});
  x.fill(cts::fractions());
  expect_as_on_the_cpu(*device_, "index_select", {&x, &none}, {&out}, dim_attr(0));
  expect_as_on_the_cpu(*device_, "index", {&x, &none}, {&out});
  expect_as_on_the_cpu(*device_, "index_put", {&x, &no_values, &none}, {&whole});
}

// An index out of range is an error of the step. The device stays usable.
TEST_F(CudaIndexingTest, BadIndicesAreReported) {
  Window x(Dtype::kF32, {3, 2}), rows(Dtype::kI64, {2}), out(Dtype::kF32, {2, 2}),
      put(Dtype::kF32, {3, 2});
  for (double bad : {3.0, -4.0}) {
    rows.fill([&](int64_t i) { return i == 1 ? bad : 0; });
    const Status read = testing::run_kernel(*device_, "index", {&x, &rows}, {&out});
    EXPECT_EQ(read.code(), Code::kOutOfRange) << read.message();
    const Status written = testing::run_kernel(*device_, "index_put", {&x, &out, &rows}, {&put});
    EXPECT_EQ(written.code(), Code::kOutOfRange) << written.message();
  }
  rows.fill([](int64_t i) { return static_cast<double>(i); });
  expect_as_on_the_cpu(*device_, "index", {&x, &rows}, {&out});
}

TEST_F(CudaIndexingTest, NumbersInARowAgreeWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI64, Dtype::kI32}) {
    Window out(dtype, {37}, Lie::kGaps);
    Attrs attrs;
    attrs.set(AttrKey::kLength, int64_t{37});
    expect_as_on_the_cpu(*device_, "iota", {}, {&out}, attrs, 0);
    attrs.set(AttrKey::kStart, int64_t{-5});
    attrs.set(AttrKey::kStep, int64_t{3});
    expect_as_on_the_cpu(*device_, "iota", {}, {&out}, attrs, 0);
    attrs.set(AttrKey::kStart, 0.25);
    attrs.set(AttrKey::kStep, 0.1);
    if (is_floating(dtype)) expect_as_on_the_cpu(*device_, "iota", {}, {&out}, attrs, 0);
  }
}

TEST_F(CudaIndexingTest, TrianglesAgreeWithTheCpu) {
  for (Dtype dtype : kAll)
    for (int64_t diagonal : {int64_t{-9}, int64_t{-1}, int64_t{0}, int64_t{2}, int64_t{9}}) {
      Window x(dtype, {2, 4, 5}, Lie::kReversed), out(dtype, {2, 4, 5}, Lie::kPadded);
      x.fill(cts::whole_numbers(dtype, 1));
      Attrs attrs;
      attrs.set(AttrKey::kDiagonal, diagonal);
      for (const char* kernel : {"tril", "triu"})
        expect_as_on_the_cpu(*device_, kernel, {&x}, {&out}, attrs);
    }
}

}  // namespace
}  // namespace shw::runtime::cuda
