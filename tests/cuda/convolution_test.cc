// Compares convolutions and their gradients of the CUDA backend with the CPU. The CUDA backend uses
// plain kernels, or cuDNN if it is installed and supports the operands' layout. Elements are small
// whole numbers, so that sums are equal in any order.
#include "cuda/against_cpu.h"
#include "runtime/cuda/plugin/device.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;
using testing::fake_calls;
using testing::Injected;

using CudaConvolutionTest = testing::OnCuda;
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

// Cases with one to three spatial dims; strides, padding and dilation that differ by dim; groups;
// sizes that exceed the tile of a block in rows, columns and depth; and input elements that no
// result reads.
const Convolution kConvolutions[] = {
    {{2, 3, 9}, {4, 3, 3}, {2, 4, 7}},
    {{2, 4, 10}, {6, 2, 3}, {2, 6, 5}, {2}, {1}, {1}, 2},
    {{3, 2, 7, 8}, {5, 2, 3, 2}, {3, 5, 4, 5}, {2, 2}, {1, 1}, {1, 1}},
    {{1, 3, 9, 7}, {3, 1, 2, 3}, {1, 3, 6, 5}, {1, 2}, {0, 3}, {3, 2}, 3},
    {{2, 2, 4, 5, 6}, {3, 2, 2, 1, 3}, {2, 3, 3, 3, 6}, {1, 2, 1}, {0, 0, 1}, {1, 1, 1}},
    {{2, 9, 8, 8}, {70, 9, 3, 3}, {2, 70, 8, 8}, {1}, {1}},
    {{1, 2, 9, 9}, {2, 2, 2, 2}, {1, 2, 3, 3}, {3}},
};

TEST_F(CudaConvolutionTest, ConvolutionsAgreeWithTheCpu) {
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

TEST_F(CudaConvolutionTest, GradientsOfConvolutionsAgreeWithTheCpu) {
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

TEST_F(CudaConvolutionTest, RefusesConvolutionsThatTheCpuRefuses) {
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

constexpr const char* const kFunctions[] = {
    "cudnnConvolutionForward", "cudnnConvolutionBiasActivationForward",
    "cudnnConvolutionBackwardData", "cudnnConvolutionBackwardFilter"};
std::vector<int> cudnn_calls() {
  std::vector<int> calls;
  for (const char* function : kFunctions) calls.push_back(fake_calls(function));
  return calls;
}

// Operands in layouts that cuDNN supports: the weight has no gaps; the other dims may be in any
// order.
struct Tensors {
  Tensors(const Convolution& c, Dtype dtype)
      : input(dtype, c.input, Lie::kReversed),
        weight(dtype, c.weight),
        bias(dtype, {c.weight[0]}),
        out(dtype, c.out, Lie::kReversed),
        dweight(dtype, c.weight),
        dbias(dtype, {c.weight[0]}) {
    input.fill(cts::whole_numbers(dtype));
    weight.fill(cts::whole_numbers(dtype, 1));
    bias.fill(cts::whole_numbers(dtype, 2));
    out.fill(cts::whole_numbers(dtype, 3));
  }
  Window input, weight, bias, out, dweight, dbias;
};

void expect_all_four(Device& device, const Convolution& c, Dtype dtype) {
  Tensors t(c, dtype);
  const Window grad = t.out;
  Window dinput = t.input;
  expect_as_on_the_cpu(device, "convolution", {&t.input, &t.weight}, {&t.out}, c.attrs(), 0);
  expect_as_on_the_cpu(device, "convolution", {&t.input, &t.weight, &t.bias}, {&t.out}, c.attrs(),
                       0);
  expect_as_on_the_cpu(device, "convolution_backward", {&grad, &t.input, &t.weight},
                       {&dinput, &t.dweight, &t.dbias}, c.attrs(), 0);
}

TEST_F(CudaConvolutionTest, CudnnComputesThemWhereItCan) {
  expect_all_four(*device_, kConvolutions[0], Dtype::kF32);  // opens cuDNN and compiles programs
  const int alive = testing::fake_alive();
  for (const Convolution& c : kConvolutions)
    for (Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
      SCOPED_TRACE(to_string(row_major(dtype, Dims(c.out))));
      const std::vector<int> before = cudnn_calls();
      expect_all_four(*device_, c, dtype);
      std::vector<int> more = cudnn_calls();
      for (size_t i = 0; i < more.size(); ++i) more[i] -= before[i];
      EXPECT_EQ(more, std::vector<int>(4, testing::is_on_gpu() ? 0 : 1));
    }
  EXPECT_EQ(testing::fake_alive(), alive) << "descriptors";
}

TEST_F(CudaConvolutionTest, WhatCudnnDoesNotComputePlainKernelsDo) {
  const Convolution& c = kConvolutions[2];
  const std::vector<int> before = cudnn_calls();
  expect_all_four(*device_, c, Dtype::kF64);
  Tensors t(c, Dtype::kF32);
  Window gaps(Dtype::kF32, c.weight, Lie::kPadded), shifted(Dtype::kF32, c.input, Lie::kShifted);
  gaps.fill(cts::whole_numbers(Dtype::kF32));
  shifted.fill(cts::whole_numbers(Dtype::kF32));
  expect_as_on_the_cpu(*device_, "convolution", {&t.input, &gaps}, {&t.out}, c.attrs(), 0);
  // The address of `shifted` is no multiple of 16.
  expect_as_on_the_cpu(*device_, "convolution", {&shifted, &t.weight}, {&t.out}, c.attrs(), 0);
  EXPECT_EQ(cudnn_calls(), before);
}

// A plan must run even if any of cuDNN's set-up calls fails.
TEST_F(CudaConvolutionTest, WithoutCudnnPlainKernelsDo) {
  SHW_ON_FAKES_ONLY();
  const std::vector<int> before = cudnn_calls();
  const int alive = testing::fake_alive();
  const auto expect_plain = [&](const char* function, int code) {
    SCOPED_TRACE(function);
    const Injected failure(function, code);
    const auto device = CudaDevice::open(testing::cuda_options());
    ASSERT_TRUE(device.ok()) << device.status().message();
    expect_all_four(**device, kConvolutions[2], Dtype::kF32);
  };
  expect_plain("cudnnGetVersion", 80907);
  for (const char* function :
       {"cudnnCreate", "cudnnCreateTensorDescriptor", "cudnnSetTensorNdDescriptor",
        "cudnnCreateFilterDescriptor", "cudnnSetFilterNdDescriptor",
        "cudnnCreateConvolutionDescriptor", "cudnnSetConvolutionNdDescriptor",
        "cudnnSetConvolutionGroupCount", "cudnnSetConvolutionMathType"})
    expect_plain(function, 2000);
  EXPECT_EQ(cudnn_calls(), before);
  EXPECT_EQ(testing::fake_alive(), alive) << "handles and descriptors";
}

TEST_F(CudaConvolutionTest, ACallThatFailsIsAnErrorOfItsStep) {
  SHW_ON_FAKES_ONLY();
  const Convolution& c = kConvolutions[2];
  Tensors t(c, Dtype::kF32);
  for (const char* function : {"cudnnSetStream", "cudnnConvolutionForward"}) {
    const Injected failure(function, 5000);
    const Status status =
        testing::run_kernel(*device_, "convolution", {&t.input, &t.weight}, {&t.out}, c.attrs());
    EXPECT_EQ(status.code(), Code::kInternal);
    EXPECT_NE(status.message().find("cuDNN status 5000"), std::string::npos) << status.message();
  }
}

}  // namespace
}  // namespace shw::runtime::cuda
