// Convolutions, their gradients and scaled products of the CUDA backend against those of the CPU.
// Elements are small whole numbers, so that sums are the same in any order.
#include "cuda/against_cpu.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;

using CudaProductsTest = testing::OnFakes;
using Ints = std::vector<int64_t>;

struct Convolution {
  Dims input, weight, out;
  Ints stride = {1}, padding = {0}, dilation = {1};
  int64_t groups = 1;

  Attrs attrs() const {
    Attrs a;
    a.set(AttrKey::kStride, stride);
    a.set(AttrKey::kPadding, padding);
    a.set(AttrKey::kDilation, dilation);
    a.set(AttrKey::kGroups, groups);
    return a;
  }
};

// One to three spatial dims; strides, padding and dilation that differ by dim; groups; sizes beyond
// the tile of a block in rows, columns and depth; places of the input that no result reaches.
const Convolution kConvolutions[] = {
    {{2, 3, 9}, {4, 3, 3}, {2, 4, 7}},
    {{2, 4, 10}, {6, 2, 3}, {2, 6, 5}, {2}, {1}, {1}, 2},
    {{3, 2, 7, 8}, {5, 2, 3, 2}, {3, 5, 4, 5}, {2, 2}, {1, 1}, {1, 1}},
    {{1, 3, 9, 7}, {3, 1, 2, 3}, {1, 3, 6, 5}, {1, 2}, {0, 3}, {3, 2}, 3},
    {{2, 2, 4, 5, 6}, {3, 2, 2, 1, 3}, {2, 3, 3, 3, 6}, {1, 2, 1}, {0, 0, 1}, {1, 1, 1}},
    {{2, 9, 8, 8}, {70, 9, 3, 3}, {2, 70, 8, 8}, {1}, {1}},
    {{1, 2, 9, 9}, {2, 2, 2, 2}, {1, 2, 3, 3}, {3}},
};

TEST_F(CudaProductsTest, ConvolutionsAgreeWithTheCpu) {
  for (const Convolution& c : kConvolutions)
    for (Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kBF16}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " to " +
                   to_string(row_major(dtype, Dims(c.out))));
      Window input(dtype, c.input, Lie::kReversed), weight(dtype, c.weight, Lie::kPadded),
          bias(dtype, {c.weight[0]}, Lie::kGaps), out(dtype, c.out, Lie::kReversed);
      input.fill(cts::whole_numbers(dtype));
      weight.fill(cts::whole_numbers(dtype, 1));
      bias.fill(cts::whole_numbers(dtype, 2));
      expect_as_on_the_cpu(*device_, "convolution", {&input, &weight}, {&out}, c.attrs(), 0);
      expect_as_on_the_cpu(*device_, "convolution", {&input, &weight, &bias}, {&out}, c.attrs(), 0);
    }
}

TEST_F(CudaProductsTest, GradientsOfConvolutionsAgreeWithTheCpu) {
  for (const Convolution& c : kConvolutions)
    for (Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kBF16}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " of " +
                   to_string(row_major(dtype, Dims(c.out))));
      Window input(dtype, c.input, Lie::kPadded), weight(dtype, c.weight, Lie::kReversed),
          grad(dtype, c.out, Lie::kGaps), dinput(dtype, c.input, Lie::kReversed),
          dweight(dtype, c.weight, Lie::kGaps), dbias(dtype, {c.weight[0]}, Lie::kGaps);
      input.fill(cts::whole_numbers(dtype));
      weight.fill(cts::whole_numbers(dtype, 1));
      grad.fill(cts::whole_numbers(dtype, 2));
      const auto expect = [&](const testing::Outputs& out) {
        expect_as_on_the_cpu(*device_, "convolution_backward", {&grad, &input, &weight}, out,
                             c.attrs(), 0);
      };
      expect({&dinput, &dweight, &dbias});
      expect({&dinput, nullptr, nullptr});
      expect({nullptr, nullptr, &dbias});
    }
}

TEST_F(CudaProductsTest, RefusesConvolutionsThatTheCpuRefuses) {
  Window input(Dtype::kF32, {1, 2, 5}), weight(Dtype::kF32, {3, 2, 2}), out(Dtype::kF32, {1, 3, 4}),
      longer(Dtype::kF32, {1, 3, 5}), bias(Dtype::kF32, {2});
  const auto code = [&](const testing::Inputs& in, Window* to, const Attrs& attrs) {
    return testing::run_kernel(*device_, "convolution", in, {to}, attrs).code();
  };
  EXPECT_EQ(code({&input, &weight}, &out, {}), Code::kOk);
  EXPECT_EQ(code({&input, &weight}, &longer, {}), Code::kInvalidArgument);
  EXPECT_EQ(code({&input, &weight, &bias}, &out, {}), Code::kInvalidArgument);
  Attrs transposed;
  transposed.set(AttrKey::kTransposed, true);
  EXPECT_EQ(code({&input, &weight}, &out, transposed), Code::kUnimplemented);
}

TEST_F(CudaProductsTest, ScaledProductsAgreeWithTheCpu) {
  for (Dtype from : {Dtype::kF32, Dtype::kBF16, Dtype::kI8})
    for (Dtype to : {Dtype::kF32, Dtype::kBF16, Dtype::kF64})
      for (const Dims& scale : {Dims{}, Dims{5, 1}}) {
        SCOPED_TRACE(std::string(dtype_name(from)) + " to " + std::string(dtype_name(to)));
        Window a(from, {5, 8}, Lie::kPadded), b(from, {8, 7}, Lie::kReversed),
            left(Dtype::kF32, scale), right(Dtype::kF32, Dims{scale.size() == 2 ? 7 : 1}),
            bias(to, {7}, Lie::kGaps), out(to, {5, 7}, Lie::kGaps);
        a.fill(cts::whole_numbers(from));
        b.fill(cts::whole_numbers(from, 1));
        left.fill(cts::fractions(2));
        right.fill(cts::fractions(3));
        bias.fill(cts::fractions(4));
        expect_as_on_the_cpu(*device_, "scaled_mm", {&a, &b, &left, &right}, {&out});
        expect_as_on_the_cpu(*device_, "scaled_mm", {&a, &b, &left, &right, &bias}, {&out});
      }
}

TEST_F(CudaProductsTest, RefusesScalesThatDoNotBroadcast) {
  Window a(Dtype::kF32, {5, 8}), b(Dtype::kF32, {8, 7}), one(Dtype::kF32, {}),
      two(Dtype::kF32, {2}), out(Dtype::kF32, {5, 7}), whole(Dtype::kI32, {5, 7});
  const auto code = [&](const testing::Inputs& in, Window* to) {
    return testing::run_kernel(*device_, "scaled_mm", in, {to}).code();
  };
  EXPECT_EQ(code({&a, &b, &one, &two}, &out), Code::kInvalidArgument);
  EXPECT_EQ(code({&a, &b, &one, &one, &two}, &out), Code::kInvalidArgument);
  EXPECT_EQ(code({&a, &b, &one, &one}, &whole), Code::kInvalidArgument);
  EXPECT_EQ(code({&a, &b, &one}, &out), Code::kInvalidArgument);
}

}  // namespace
}  // namespace shw::runtime::cuda
