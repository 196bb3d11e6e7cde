// Random numbers and dropout of the CUDA backend must have the same bits as on the CPU.
#include <gtest/gtest.h>

#include "cuda/against_cpu.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;

using CudaDrawTest = testing::OnCuda;

Attrs whole_of(const Dims& size) {
  Attrs attrs;
  attrs.set(AttrKey::kSeed, int64_t{11});
  attrs.set(AttrKey::kSize, std::vector<int64_t>(size.begin(), size.end()));
  attrs.set(AttrKey::kCuts, std::vector<int64_t>{});
  return attrs;
}

TEST_F(CudaDrawTest, DrawsTheNumbersOfTheCpu) {
  Window run(Dtype::kI64, {2}, Lie::kGaps), like(Dtype::kF32, {5, 31});
  run.fill([](int64_t i) { return static_cast<double>(1234 + i); });
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF16, Dtype::kF64})
    for (Dtype drawn : {Dtype::kF32, Dtype::kBF16, Dtype::kF16}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " as " + std::string(dtype_name(drawn)));
      Window out(dtype, {5, 31}, Lie::kPadded);
      Attrs attrs = whole_of({5, 31});
      attrs.set(AttrKey::kDtype, drawn);
      for (const char* kernel : {"rand", "randn"}) {
        expect_as_on_the_cpu(*device_, kernel, {}, {&out}, attrs, 0);
        expect_as_on_the_cpu(*device_, kernel, {&run}, {&out}, attrs, 0);
      }
      for (const char* kernel : {"rand_like", "randn_like"}) {
        expect_as_on_the_cpu(*device_, kernel, {&like}, {&out}, attrs, 0);
        expect_as_on_the_cpu(*device_, kernel, {&like, &run}, {&out}, attrs, 0);
      }
    }
}

TEST_F(CudaDrawTest, DropsTheElementsOfTheCpu) {
  Window run(Dtype::kI64, {2});
  run.fill([](int64_t i) { return static_cast<double>(77 - i); });
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64})
    for (double p : {0.0, 0.25, 1.0}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::to_string(p));
      Window x(dtype, {6, 20}, Lie::kReversed), out(dtype, {6, 20}, Lie::kGaps),
          mask(Dtype::kBool, {6, 20}, Lie::kPadded), dx(dtype, {6, 20});
      x.fill(cts::fractions());
      Attrs attrs = whole_of({6, 20});
      attrs.set(AttrKey::kP, p);
      expect_as_on_the_cpu(*device_, "native_dropout", {&x}, {&out, &mask}, attrs, 0);
      expect_as_on_the_cpu(*device_, "native_dropout", {&x, &run}, {&out, &mask}, attrs, 0);
      expect_as_on_the_cpu(*device_, "native_dropout", {&x}, {nullptr, &mask}, attrs, 0);
      expect_as_on_the_cpu(*device_, "native_dropout", {&x}, {&out, nullptr}, attrs, 0);
      attrs.set(AttrKey::kTrain, false);
      expect_as_on_the_cpu(*device_, "native_dropout", {&x}, {&out, &mask}, attrs, 0);
      Attrs scale;
      scale.set(AttrKey::kScale, 1.25);
      expect_as_on_the_cpu(*device_, "native_dropout_backward", {&x, &mask}, {&dx}, scale, 0);
    }
}

TEST_F(CudaDrawTest, ARankDrawsItsPiece) {
  Window out(Dtype::kF32, {5, 3}), x(Dtype::kF32, {5, 3}), mask(Dtype::kBool, {5, 3});
  x.fill(cts::fractions());
  Attrs attrs = whole_of({5, 6});
  attrs.set(AttrKey::kP, 0.5);
  attrs.set(AttrKey::kCuts, std::vector<int64_t>{0, 1});
  for (int64_t rank : {0, 1}) {
    expect_as_on_the_cpu(*device_, "randn", {}, {&out}, attrs, 0, {"x=2", rank});
    expect_as_on_the_cpu(*device_, "native_dropout", {&x}, {&out, &mask}, attrs, 0, {"x=2", rank});
  }
}

TEST_F(CudaDrawTest, RefusesWhatTheCpuRefuses) {
  Window out(Dtype::kF32, {4}), whole(Dtype::kI64, {4}), one(Dtype::kI64, {1});
  const auto code = [&](const char* kernel, const testing::Inputs& in, Window* to, const Dims& of) {
    return testing::run_kernel(*device_, kernel, in, {to}, whole_of(of)).code();
  };
  EXPECT_EQ(code("rand", {}, &whole, {4}), Code::kInvalidArgument);
  EXPECT_EQ(code("rand", {}, &out, {3, 3}), Code::kInvalidArgument);
  EXPECT_EQ(code("rand", {&one}, &out, {4}), Code::kInvalidArgument);
}

}  // namespace
}  // namespace shw::runtime::cuda
