// Compares kernels of the CUDA backend with the CPU, for kernels that the conformance suite does
// not cover.
#include <algorithm>
#include <cmath>
#include <random>

#include "cts/window.h"
#include "cuda/against_cpu.h"
#include "runtime/cpu/device.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/cuda/plugin/device.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;

using CudaKernelsTest = testing::OnCuda;

struct Case {
  const char* kernel;
  size_t operands;
  Attrs attrs = {};
};
Attrs attr(AttrKey key, double value) {
  Attrs attrs;
  attrs.set(key, value);
  return attrs;
}

TEST_F(CudaKernelsTest, AgreeWithThoseOfTheCpu) {
  const Case cases[] = {
      {"maximum", 2},
      {"minimum", 2},
      {"maximum", 1, attr(AttrKey::kOther, 0.25)},
      {"abs", 1},
      {"log", 1},
      {"cos", 1},
      {"sin", 1},
      {"tanh", 1},
      {"sqrt", 1},
      {"reciprocal", 1},
      {"silu", 1},
      {"to_copy", 1},
      {"sigmoid_backward", 2},
      {"tanh_backward", 2},
      {"silu_backward", 2},
      {"full", 0, attr(AttrKey::kFillValue, 1.5)},
      {"full_like", 1, attr(AttrKey::kFillValue, 1.5)},
      {"new_full", 1, attr(AttrKey::kFillValue, 1.5)},
      {"scalar_tensor", 0, attr(AttrKey::kFillValue, 1.5)},
  };
  cpu::CpuDevice cpu;
  for (const Case& c : cases)
    for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64}) {
      SCOPED_TRACE(std::string(c.kernel) + " " + std::string(dtype_name(dtype)));
      Window a(dtype, {3, 7}, Lie::kReversed), b(dtype, {7}), want(dtype, {3, 7}, Lie::kPadded);
      const bool positive =
          std::string_view(c.kernel) == "log" || std::string_view(c.kernel) == "sqrt";
      a.fill([&](int64_t i) {
        const double v = cts::fractions()(i).real();
        return positive ? std::abs(v) : v;
      });
      b.fill(cts::fractions(1));
      Window got = want;
      std::vector<const Window*> inputs{&a, &b};
      inputs.resize(c.operands);
      ASSERT_TRUE(testing::run_kernel(cpu, c.kernel, inputs, {&want}, c.attrs).ok());
      const Status status = testing::run_kernel(*device_, c.kernel, inputs, {&got}, c.attrs);
      ASSERT_TRUE(status.ok()) << status.message();
      const double relative = dtype == Dtype::kF64 ? 1e-14 : dtype == Dtype::kBF16 ? 0x1p-7 : 5e-7;
      for (int64_t i = 0; i < 21; ++i) {
        const double w = want.get({i / 7, i % 7}).real(), g = got.get({i / 7, i % 7}).real();
        EXPECT_LE(std::abs(g - w), relative * std::max(1.0, std::abs(w)))
            << "at " << i << ": " << g << ", want " << w;
      }
    }
}

TEST_F(CudaKernelsTest, AreThoseOfTheCpu) {
  for (const cpu::Kernel* kernel : cpu::kernel_table())
    EXPECT_EQ(device_->has_kernel(kernel->name), kernel->name != "vector_mm") << kernel->name;
}

// The error for a missing kernel says what the user can do.
TEST_F(CudaKernelsTest, AMissingKernelIsUnimplemented) {
  Window x(Dtype::kF32, {3}), y(Dtype::kF32, {3});
  const Status status = testing::run_kernel(*device_, "nonesuch", {&x}, {&y});
  EXPECT_EQ(status.code(), Code::kUnimplemented);
  for (const char* word : {"'nonesuch'", "run the plan on the CPU"})
    EXPECT_NE(status.message().find(word), std::string::npos) << status.message();
}

}  // namespace
}  // namespace shw::runtime::cuda
