// Compares kernels of the CUDA backend that write tensors into parts of another tensor with the
// CPU.
#include "cuda/against_cpu.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;

using CudaPartsTest = testing::OnCuda;

Attrs dim_and(AttrKey key, int64_t value) {
  Attrs attrs;
  attrs.set(AttrKey::kDim, int64_t{1});
  attrs.set(key, value);
  return attrs;
}

TEST_F(CudaPartsTest, AgreeWithTheCpu) {
  Device& device = *device_;
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kI64, Dtype::kBool, Dtype::kC64}) {
    SCOPED_TRACE(dtype_name(dtype));
    Window a(dtype, {3, 4}, Lie::kReversed), b(dtype, {3, 2}), none(dtype, {3, 0}),
        c(dtype, {3, 4}, Lie::kGaps), row(dtype, {3}), joined(dtype, {3, 6}, Lie::kPadded),
        stacked(dtype, {3, 2, 4}, Lie::kReversed), out(dtype, {3, 4}, Lie::kGaps);
    a.fill(cts::whole_numbers(dtype));
    b.fill(cts::whole_numbers(dtype, 1));
    c.fill(cts::whole_numbers(dtype, 2));
    row.fill(cts::whole_numbers(dtype, 3));
    Attrs dim;
    dim.set(AttrKey::kDim, int64_t{1});
    expect_as_on_the_cpu(device, "cat", {&a, &none, &b}, {&joined}, dim);
    expect_as_on_the_cpu(device, "stack", {&a, &c}, {&stacked}, dim);
    Attrs slice = dim_and(AttrKey::kStart, 1);
    slice.set(AttrKey::kEnd, int64_t{4});
    slice.set(AttrKey::kStep, int64_t{2});
    expect_as_on_the_cpu(device, "slice_scatter", {&a, &b}, {&out}, slice);
    expect_as_on_the_cpu(device, "slice_backward", {&b}, {&out}, slice);
    expect_as_on_the_cpu(device, "select_scatter", {&a, &row}, {&out},
                         dim_and(AttrKey::kIndex, -1));
    expect_as_on_the_cpu(device, "select_backward", {&row}, {&out}, dim_and(AttrKey::kIndex, 2));
  }
}

TEST_F(CudaPartsTest, PartsThatDoNotFitAreRefused) {
  Window a(Dtype::kF32, {3, 4}), out(Dtype::kF32, {3, 6});
  Attrs dim;
  dim.set(AttrKey::kDim, int64_t{1});
  for (const char* kernel : {"cat", "stack"})
    EXPECT_EQ(testing::run_kernel(*device_, kernel, {&a}, {&out}, dim).code(),
              Code::kInvalidArgument);
}

TEST_F(CudaPartsTest, PaddingAgreesWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kI64, Dtype::kBool, Dtype::kC64}) {
    SCOPED_TRACE(dtype_name(dtype));
    Window x(dtype, {3, 4}, Lie::kReversed), larger(dtype, {5, 4}, Lie::kPadded),
        padded(dtype, {4, 5}, Lie::kGaps), nothing(dtype, {0, 6}), same(dtype, {3, 4}, Lie::kGaps),
        repeated(dtype, {2, 3, 8}, Lie::kReversed), none(dtype, {3, 0});
    x.fill(cts::whole_numbers(dtype, 1));
    expect_as_on_the_cpu(*device_, "extend", {&x}, {&larger});
    Attrs pad;
    pad.set(AttrKey::kPad, std::vector<int64_t>{-1, 2, 1, 0});
    pad.set(AttrKey::kValue, int64_t{1});
    expect_as_on_the_cpu(*device_, "constant_pad_nd", {&x}, {&padded}, pad);
    pad.set(AttrKey::kPad, std::vector<int64_t>{1, 1, -3, 0});
    expect_as_on_the_cpu(*device_, "constant_pad_nd", {&x}, {&nothing}, pad);
    for (const std::vector<int64_t>& dims : {std::vector<int64_t>{}, {0}, {-1}, {0, 1}}) {
      Attrs flip;
      flip.set(AttrKey::kDims, dims);
      expect_as_on_the_cpu(*device_, "flip", {&x}, {&same}, flip);
    }
    Attrs repeat;
    repeat.set(AttrKey::kRepeats, std::vector<int64_t>{2, 1, 2});
    expect_as_on_the_cpu(*device_, "repeat", {&x}, {&repeated}, repeat);
    repeat.set(AttrKey::kRepeats, std::vector<int64_t>{1, 0});
    expect_as_on_the_cpu(*device_, "repeat", {&x}, {&none}, repeat);
  }
}

TEST_F(CudaPartsTest, PairsAgreeWithTheCpu) {
  Window x(Dtype::kF64, {3, 4, 2}, Lie::kReversed), y(Dtype::kF64, {4, 2}, Lie::kGaps),
      out(Dtype::kF64, {3, 4, 2}, Lie::kPadded);
  x.fill(cts::fractions(1));
  y.fill(cts::fractions(2));
  expect_as_on_the_cpu(*device_, "mul_pairs", {&x, &y}, {&out}, {}, 0);
  expect_as_on_the_cpu(*device_, "conj_pairs", {&x}, {&out}, {}, 0);
}

}  // namespace
}  // namespace shw::runtime::cuda
