// Compares pointwise kernels of the CUDA backend with the CPU.
#include <limits>

#include "cuda/against_cpu.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;

using CudaPointwiseTest = testing::OnCuda;

constexpr double kInfinity = std::numeric_limits<double>::infinity(),
                 kNan = std::numeric_limits<double>::quiet_NaN();

// Fractions, and the special values of the operations.
cts::Number special(int64_t i) {
  constexpr double kValues[] = {0.0, -0.0, 1.0,       -1.0,       0.5, 1.5,
                                2.5, -2.5, kInfinity, -kInfinity, kNan};
  return i < 11 ? kValues[i] : cts::fractions()(i).real();
}

Attrs attr(AttrKey key, const AttrValue& value) {
  Attrs attrs;
  attrs.set(key, value);
  return attrs;
}

TEST_F(CudaPointwiseTest, RealsAgreeWithTheCpu) {
  struct RealCase {
    const char* kernel;
    size_t operands;
    Attrs attrs = {};
  };
  const Attrs tanh = attr(AttrKey::kApproximate, std::string("tanh"));
  Attrs limits = attr(AttrKey::kMin, -0.5);
  limits.set(AttrKey::kMax, 0.75);
  const RealCase cases[] = {
      {"erf", 1},
      {"log1p", 1},
      {"expm1", 1},
      {"floor", 1},
      {"ceil", 1},
      {"round", 1},
      {"sign", 1},
      {"gelu", 1},
      {"gelu", 1, tanh},
      {"gelu_backward", 2},
      {"gelu_backward", 2, tanh},
      {"remainder", 2},
      {"remainder", 1, attr(AttrKey::kOther, 0.75)},
      {"floor_divide", 2},
      {"pow_tensor", 2},
      {"pow_tensor", 1, attr(AttrKey::kSelf, 2.0)},
      {"atan2", 2},
      {"clamp", 1, limits},
      {"clamp", 1, attr(AttrKey::kMin, 0.25)},
      {"clamp", 1, attr(AttrKey::kMax, 0.25)},
  };
  for (const RealCase& c : cases)
    for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF16, Dtype::kF64}) {
      SCOPED_TRACE(std::string(c.kernel) + " " + std::string(dtype_name(dtype)));
      Window a(dtype, {3, 9}, Lie::kReversed), b(dtype, {9}), out(dtype, {3, 9}, Lie::kPadded);
      a.fill(special);
      b.fill(cts::fractions(1));
      testing::Inputs inputs{&a, &b};
      inputs.resize(c.operands);
      expect_as_on_the_cpu(*device_, c.kernel, inputs, {&out}, c.attrs);
    }
}

TEST_F(CudaPointwiseTest, IntegersAgreeWithTheCpu) {
  Attrs limits = attr(AttrKey::kMin, int64_t{-2});
  limits.set(AttrKey::kMax, int64_t{3});
  for (Dtype dtype : {Dtype::kI8, Dtype::kI32, Dtype::kI64, Dtype::kU8}) {
    SCOPED_TRACE(dtype_name(dtype));
    Window a(dtype, {5, 9}, Lie::kGaps), b(dtype, {5, 9}), out(dtype, {5, 9});
    // The divisors include zero and −1.
    a.fill(cts::whole_numbers(dtype));
    b.fill(cts::whole_numbers(dtype, 3));
    for (const char* kernel :
         {"remainder", "floor_divide", "pow_tensor", "bitwise_and", "bitwise_or"})
      expect_as_on_the_cpu(*device_, kernel, {&a, &b}, {&out});
    for (const char* kernel : {"bitwise_not", "sign", "floor", "ceil", "round"})
      expect_as_on_the_cpu(*device_, kernel, {&a}, {&out});
    expect_as_on_the_cpu(*device_, "clamp", {&a}, {&out}, limits);
  }
}

// The only quotient of integers that is out of range.
TEST_F(CudaPointwiseTest, TheLeastIntegerByMinusOneWraps) {
  Window a(Dtype::kI64, {1}), b(Dtype::kI64, {1}), out(Dtype::kI64, {1});
  a.fill([](int64_t) { return -0x1p63; });
  b.fill([](int64_t) { return -1; });
  for (const char* kernel : {"floor_divide", "remainder"})
    expect_as_on_the_cpu(*device_, kernel, {&a, &b}, {&out});
}

TEST_F(CudaPointwiseTest, ComparisonsAgreeWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI32, Dtype::kBool}) {
    SCOPED_TRACE(dtype_name(dtype));
    Window a(dtype, {3, 9}), b(dtype, {9}, Lie::kGaps), out(Dtype::kBool, {3, 9}, Lie::kPadded);
    if (is_floating(dtype))
      a.fill(special);
    else
      a.fill(cts::whole_numbers(dtype));
    b.fill(cts::whole_numbers(dtype, 1));
    for (const char* kernel : {"eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or"})
      expect_as_on_the_cpu(*device_, kernel, {&a, &b}, {&out});
    expect_as_on_the_cpu(*device_, "logical_not", {&a}, {&out});
    // Compares integers with a fraction: both are converted to reals.
    for (const char* kernel : {"lt", "ge"}) {
      expect_as_on_the_cpu(*device_, kernel, {&a}, {&out}, attr(AttrKey::kOther, 0.5));
      expect_as_on_the_cpu(*device_, kernel, {nullptr, &b}, {&out}, attr(AttrKey::kSelf, 0.5));
    }
  }
}

TEST_F(CudaPointwiseTest, TruthValuesAgreeWithTheCpu) {
  Window a(Dtype::kBool, {3, 9}), b(Dtype::kBool, {9}), out(Dtype::kBool, {3, 9});
  a.fill([](int64_t i) { return i % 2; });
  b.fill([](int64_t i) { return i % 3 == 0; });
  for (const char* kernel : {"bitwise_and", "bitwise_or"})
    expect_as_on_the_cpu(*device_, kernel, {&a, &b}, {&out});
  expect_as_on_the_cpu(*device_, "bitwise_not", {&a}, {&out});
}

TEST_F(CudaPointwiseTest, SelectionsAgreeWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI64, Dtype::kC64}) {
    SCOPED_TRACE(dtype_name(dtype));
    Window mask(Dtype::kBool, {3, 1}), a(dtype, {3, 9}, Lie::kReversed), b(dtype, {9}),
        one(dtype, {}), out(dtype, {3, 9}, Lie::kGaps);
    mask.fill([](int64_t i) { return i % 2; });
    a.fill(cts::whole_numbers(dtype));
    b.fill(cts::whole_numbers(dtype, 1));
    one.fill(cts::whole_numbers(dtype, 2));
    expect_as_on_the_cpu(*device_, "where", {&mask, &a, &b}, {&out});
    expect_as_on_the_cpu(*device_, "masked_fill", {&a, &mask, &one}, {&out});
    Attrs value = attr(AttrKey::kValue, int64_t{7});
    if (is_floating(dtype)) value.set(AttrKey::kValue, -kInfinity);
    expect_as_on_the_cpu(*device_, "masked_fill", {&a, &mask}, {&out}, value);
  }
}

// An operation that is undefined for a dtype is refused before anything is launched.
TEST_F(CudaPointwiseTest, TypesWithoutTheOperationAreRefused) {
  Window real(Dtype::kF32, {3}), complex(Dtype::kC64, {3}), truth(Dtype::kBool, {3});
  const auto code = [&](const char* kernel, const testing::Inputs& in, Window& out) {
    return testing::run_kernel(*device_, kernel, in, {&out}).code();
  };
  EXPECT_EQ(code("bitwise_not", {&real}, real), Code::kUnimplemented);
  EXPECT_EQ(code("lt", {&complex, &complex}, truth), Code::kUnimplemented);
  EXPECT_EQ(code("atan2", {&complex, &complex}, complex), Code::kUnimplemented);
  EXPECT_EQ(code("where", {&real, &real, &real}, real), Code::kInvalidArgument);
  EXPECT_EQ(code("masked_fill", {&real, &real, &real}, real), Code::kInvalidArgument);
}

}  // namespace
}  // namespace shw::runtime::cuda
