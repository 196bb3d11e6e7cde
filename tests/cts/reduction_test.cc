// sum and mean, amax and amin.
#include <algorithm>
#include <cmath>
#include <limits>

#include "cts/kernel_test.h"

namespace shw::cts {
namespace {

class ReductionTest : public KernelTest {
 protected:
  // Reduces `x` over `dims` into `result` dtype, and compares with the exact result.
  void check(const char* kernel, const Window& x, const std::vector<int64_t>& dims, bool keepdim,
             Dtype result, Lie out_lie, double relative) {
    const auto rank = static_cast<int64_t>(x.shape().size());
    std::vector<bool> reduced(x.shape().size(), dims.empty());
    for (int64_t d : dims) reduced[static_cast<size_t>(d < 0 ? d + rank : d)] = true;
    Dims shape;
    int64_t count = 1;
    for (size_t d = 0; d < reduced.size(); ++d) {
      if (reduced[d]) count *= x.shape()[d];
      if (!reduced[d] || keepdim) shape.push_back(reduced[d] ? 1 : x.shape()[d]);
    }
    Window out(result, shape, out_lie);
    Attrs attrs;
    attrs.set(AttrKey::kDims, dims);
    attrs.set(AttrKey::kKeepDim, keepdim);
    run_ok({kernel, {&x}, {&out}, attrs});
    std::vector<std::pair<Index, Number>> sums;
    Window want(is_complex(result) ? Dtype::kC64 : Dtype::kF64, shape);
    want.fill([](int64_t) { return 0; });
    for_each_index(x.shape(), [&](const Index& i) {
      Index to;
      for (size_t d = 0; d < reduced.size(); ++d)
        if (!reduced[d])
          to.push_back(i[d]);
        else if (keepdim)
          to.push_back(0);
      want.set(to, want.get(to) + x.get(i));
    });
    const double divisor = std::string_view(kernel) == "mean" ? static_cast<double>(count) : 1;
    expect_elements(
        out, [&](const Index& i) { return want.get(i) / divisor; }, relative);
  }
};

const std::vector<int64_t> kDimSets[] = {{0}, {1}, {2}, {0, 1}, {1, 2}, {0, 2}, {2, 0}, {-1}, {}};

TEST_P(ReductionTest, EveryDimSetOfEveryWindow) {
  for (const auto& dims : kDimSets)
    for (Lie lie : kReadable)
      for (bool keepdim : {false, true})
        for (const Dims& shape : {Dims{3, 5, 7}, Dims{2, 1, 19}, Dims{4, 33, 2}}) {
          Window x(Dtype::kF32, shape, lie);
          x.fill(whole_numbers(Dtype::kF32));
          check("sum", x, dims, keepdim, Dtype::kF32, Lie::kReversed, 0);
          check("mean", x, dims, keepdim, Dtype::kF32, Lie::kGaps, 1e-7);
        }
}

TEST_P(ReductionTest, EveryDtype) {
  struct Types {
    Dtype in, out;
  };
  const Types all[] = {
      {Dtype::kF64, Dtype::kF64},  {Dtype::kF16, Dtype::kF16},  {Dtype::kBF16, Dtype::kBF16},
      {Dtype::kBF16, Dtype::kF32}, {Dtype::kF32, Dtype::kBF16}, {Dtype::kI32, Dtype::kI64},
      {Dtype::kBool, Dtype::kI64}, {Dtype::kI8, Dtype::kI8},    {Dtype::kC64, Dtype::kC64}};
  for (const Types& t : all)
    for (const auto& dims : kDimSets) {
      SCOPED_TRACE(std::string(dtype_name(t.in)));
      Window x(t.in, {3, 4, 5}, Lie::kReversed);
      x.fill(whole_numbers(t.in));
      check("sum", x, dims, false, t.out, Lie::kDense, 0);
    }
}

TEST_P(ReductionTest, LongRowsAndColumns) {
  for (const auto& dims :
       {std::vector<int64_t>{0}, std::vector<int64_t>{1}, std::vector<int64_t>{}}) {
    Window x(Dtype::kF32, {301, 1307});
    x.fill(whole_numbers(Dtype::kF32));
    check("sum", x, dims, true, Dtype::kF32, Lie::kDense, 0);
  }
}

// Sums 0.1 a million times. In f32, adding from left to right would have an error of 1 %.
TEST_P(ReductionTest, LongSumsAreAccurate) {
  Window x(Dtype::kF32, {1000000}), out(Dtype::kF32, {});
  x.fill([](int64_t) { return 0.1; });
  run_ok({"sum", {&x}, {&out}});
  EXPECT_NEAR(out.get({}).real(), 1e6 * static_cast<double>(0.1f), 0.01);
}

// Reduces rows and columns. The result is NaN if one of the elements is NaN.
TEST_P(ReductionTest, TheLargestAndTheSmallest) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr int64_t kRows = 5, kColumns = 37;
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kBF16, Dtype::kF16})
    for (const bool largest : {true, false})
      for (const int64_t dim : {0, 1}) {
        SCOPED_TRACE(std::string(dtype_name(dtype)) + " dim " + std::to_string(dim));
        Window x(dtype, {kRows, kColumns}, Lie::kPadded);
        x.fill([&](int64_t i) {
          return i == 2 * kColumns + 3 ? nan : static_cast<double>(i * 7 % 23 - 11);
        });
        Window out(dtype, {dim == 0 ? kColumns : kRows});
        Attrs attrs;
        attrs.set(AttrKey::kDims, std::vector<int64_t>{dim});
        run_ok({largest ? "amax" : "amin", {&x}, {&out}, attrs});
        expect_elements(out, [&](const Index& i) {
          double most = largest ? -1e9 : 1e9;
          for (int64_t j = 0; j < (dim == 0 ? kRows : kColumns); ++j) {
            const double v = x.get(dim == 0 ? Index{j, i[0]} : Index{i[0], j}).real();
            if (std::isnan(v)) return nan;
            most = largest ? std::max(most, v) : std::min(most, v);
          }
          return most;
        });
      }
}

TEST_P(ReductionTest, NothingSumsToZero) {
  Window x(Dtype::kF32, {0, 3}), out(Dtype::kF32, {3});
  Attrs attrs;
  attrs.set(AttrKey::kDims, std::vector<int64_t>{0});
  run_ok({"sum", {&x}, {&out}, attrs});
  expect_elements(out, [](const Index&) { return 0; });
}

TEST_P(ReductionTest, RefusesWrongDimsAndTypes) {
  Window x(Dtype::kF32, {2, 3}), out(Dtype::kF32, {2}), n(Dtype::kI32, {2, 3}), m(Dtype::kI32, {2});
  Attrs attrs;
  attrs.set(AttrKey::kDims, std::vector<int64_t>{2});
  EXPECT_EQ(code_of({"sum", {&x}, {&out}, attrs}), Code::kInvalidArgument);
  attrs.set(AttrKey::kDims, std::vector<int64_t>{0});
  EXPECT_EQ(code_of({"sum", {&x}, {&out}, attrs}), Code::kInvalidArgument);
  attrs.set(AttrKey::kDims, std::vector<int64_t>{1});
  EXPECT_EQ(code_of({"mean", {&n}, {&m}, attrs}), Code::kUnimplemented);
}

SHW_CTS(ReductionTest);

}  // namespace
}  // namespace shw::cts
