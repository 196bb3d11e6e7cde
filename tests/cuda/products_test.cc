// Compares scaled products of the CUDA backend with the CPU.
#include "cuda/against_cpu.h"
#include "float8.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;

using CudaProductsTest = testing::OnCuda;

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

// One product of 8-bit floats. cuBLASLt multiplies some of them directly, some after packing, and
// some not at all.
struct Float8Case {
  Dtype left = Dtype::kF8E4M3, right = Dtype::kF8E4M3;
  Lie left_lie = Lie::kDense, right_lie = Lie::kReversed;  // the summed dim is contiguous in both
  int64_t rows = 5, terms = 32, columns = 16;
  bool is_multiplied_by_cublaslt = true;
};
const Float8Case kFloat8Cases[] = {
    {},
    {.left = Dtype::kF8E5M2},
    {.right = Dtype::kF8E5M2, .rows = 1},
    {.left_lie = Lie::kReversed},
    {.right_lie = Lie::kDense, .columns = 48},
    {.left_lie = Lie::kPadded, .right_lie = Lie::kGaps},
    {.left = Dtype::kF8E5M2, .right = Dtype::kF8E5M2, .is_multiplied_by_cublaslt = false},
    {.terms = 40, .is_multiplied_by_cublaslt = false},
    {.columns = 24, .is_multiplied_by_cublaslt = false},
};

TEST_F(CudaProductsTest, ScaledProductsOfFloat8AgreeWithTheCpu) {
  for (const Float8Case& c : kFloat8Cases)
    for (Dtype to : {Dtype::kF32, Dtype::kBF16, Dtype::kF16, Dtype::kF64, Dtype::kF8E4M3})
      for (bool by_rows : {false, true}) {
        SCOPED_TRACE(std::string(dtype_name(c.left)) + " × " + std::string(dtype_name(c.right)) +
                     " to " + std::string(dtype_name(to)) + ", terms " + std::to_string(c.terms) +
                     ", columns " + std::to_string(c.columns) + (by_rows ? ", by rows" : ""));
        Window a(c.left, {c.rows, c.terms}, c.left_lie),
            b(c.right, {c.terms, c.columns}, c.right_lie),
            left(Dtype::kF32, by_rows ? Dims{c.rows, 1} : Dims{}),
            right(Dtype::kF32, by_rows ? Dims{1, c.columns} : Dims{1}),
            bias(Dtype::kF32, {c.columns}), out(to, {c.rows, c.columns}),
            laid(to, {c.rows, c.columns}, Lie::kGaps);
        a.fill(cts::whole_numbers(c.left));
        b.fill(cts::whole_numbers(c.right, 1));
        left.fill(cts::fractions(2));
        right.fill(cts::fractions(3));
        bias.fill(cts::fractions(4));
        const int before = testing::fake_calls("cublasLtMatmul");
        expect_as_on_the_cpu(*device_, "scaled_mm", {&a, &b, &left, &right}, {&out});
        expect_as_on_the_cpu(*device_, "scaled_mm", {&a, &b, &left, &right}, {&laid});
        expect_as_on_the_cpu(*device_, "scaled_mm", {&a, &b, &left, &right, &bias}, {&out});
        const bool is_cublaslts = c.is_multiplied_by_cublaslt && to != Dtype::kF64;
        EXPECT_EQ(testing::fake_calls("cublasLtMatmul") - before,
                  is_cublaslts && !testing::is_on_gpu() ? 3 : 0);
      }
}

// With single scales and a bf16 result, the product is one launch of cuBLASLt and nothing else.
TEST_F(CudaProductsTest, ProductsOfFloat8WithSingleScalesAreOneLaunch) {
  SHW_ON_FAKES_ONLY();
  Window a(Dtype::kF8E4M3, {16, 32}), b(Dtype::kF8E4M3, {32, 16}, Lie::kReversed),
      one(Dtype::kF32, {}), out(Dtype::kBF16, {16, 16});
  a.fill(cts::whole_numbers(Dtype::kF8E4M3));
  b.fill(cts::whole_numbers(Dtype::kF8E4M3, 1));
  one.fill(cts::fractions(2));
  const int launches = testing::fake_calls("cuLaunchKernel"),
            products = testing::fake_calls("cublasLtMatmul");
  ASSERT_TRUE(testing::run_kernel(*device_, "scaled_mm", {&a, &b, &one, &one}, {&out}).ok());
  EXPECT_EQ(testing::fake_calls("cuLaunchKernel"), launches);
  EXPECT_EQ(testing::fake_calls("cublasLtMatmul"), products + 1);
}

// An operand whose address does not have the alignment that cuBLASLt needs.
TEST_F(CudaProductsTest, MisalignedFloat8IsMultipliedByAPlainKernel) {
  Window a(Dtype::kF8E4M3, {16, 32}, Lie::kShifted), b(Dtype::kF8E4M3, {32, 16}, Lie::kReversed),
      one(Dtype::kF32, {}), out(Dtype::kF32, {16, 16});
  a.fill(cts::whole_numbers(Dtype::kF8E4M3));
  b.fill(cts::whole_numbers(Dtype::kF8E4M3, 1));
  one.fill(cts::fractions(2));
  const int products = testing::fake_calls("cublasLtMatmul");
  expect_as_on_the_cpu(*device_, "scaled_mm", {&a, &b, &one, &one}, {&out});
  EXPECT_EQ(testing::fake_calls("cublasLtMatmul"), products);
}

// The GPU's cuBLASLt has no such product, as before compute capability 8.9.
TEST_F(CudaProductsTest, Float8IsMultipliedWhereCublasLtHasNoAlgorithm) {
  SHW_ON_FAKES_ONLY();
  const testing::Injected none("cublasLtMatmulAlgoGetHeuristic", 15);
  Window a(Dtype::kF8E4M3, {16, 32}), b(Dtype::kF8E4M3, {32, 16}, Lie::kReversed),
      one(Dtype::kF32, {}), out(Dtype::kBF16, {16, 16});
  a.fill(cts::whole_numbers(Dtype::kF8E4M3));
  b.fill(cts::whole_numbers(Dtype::kF8E4M3, 1));
  one.fill(cts::fractions(2));
  expect_as_on_the_cpu(*device_, "scaled_mm", {&a, &b, &one, &one}, {&out});
}

// The device code of these kernels supports only wider reals.
TEST_F(CudaProductsTest, RefusesArithmeticInFloat8) {
  Window x(Dtype::kF8E4M3, {4, 8}), out(Dtype::kF8E4M3, {4, 8}), sum(Dtype::kF8E4M3, {4, 1});
  Attrs along;
  along.set(AttrKey::kDim, int64_t{1});
  EXPECT_EQ(testing::run_kernel(*device_, "softmax", {&x}, {&out}, along).code(),
            Code::kUnimplemented);
  Attrs dims;
  dims.set(AttrKey::kDims, std::vector<int64_t>{1});
  dims.set(AttrKey::kKeepDim, true);
  EXPECT_EQ(testing::run_kernel(*device_, "sum", {&x}, {&sum}, dims).code(), Code::kUnimplemented);
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
