// Compares kernels of the CUDA backend that combine many elements with the CPU: reductions,
// searches, softmax, running sums, norms, losses.
#include <cmath>
#include <limits>

#include "cuda/against_cpu.h"

namespace shw::runtime::cuda {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;

constexpr Dtype kReals[] = {Dtype::kF32, Dtype::kBF16, Dtype::kF16, Dtype::kF64};

using CudaReductionsTest = testing::OnCuda;

Attrs dims_attr(const std::vector<int64_t>& dims) {
  Attrs attrs;
  attrs.set(AttrKey::kDims, dims);
  return attrs;
}
Attrs dim_attr(int64_t dim) {
  Attrs attrs;
  attrs.set(AttrKey::kDim, dim);
  return attrs;
}

// Few and many elements for each result, along rows and columns, so that each algorithm of the
// kernels runs.
TEST_F(CudaReductionsTest, ReductionsAgreeWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI32, Dtype::kI64})
    for (int64_t dim : {int64_t{0}, int64_t{1}}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " dim " + std::to_string(dim));
      Window x(dtype, {5, 150}, Lie::kPadded), out(dtype, {dim == 0 ? 150 : 5});
      if (is_floating(dtype))
        x.fill([](int64_t i) { return 1 + cts::fractions()(i).real() / 64; });
      else
        x.fill(cts::whole_numbers(dtype));
      for (const char* kernel : {"prod", "amax", "amin"})
        expect_as_on_the_cpu(*device_, kernel, {&x}, {&out}, dims_attr({dim}), 4);
      Window truth(Dtype::kBool, {dim == 0 ? 150 : 5});
      for (const char* kernel : {"any", "all"})
        expect_as_on_the_cpu(*device_, kernel, {&x}, {&truth}, dims_attr({dim}));
      if (!is_floating(dtype)) continue;
      expect_as_on_the_cpu(*device_, "var", {&x}, {&out}, dims_attr({dim}), 4);
      Attrs uncorrected = dims_attr({dim});
      uncorrected.set(AttrKey::kCorrection, int64_t{0});
      expect_as_on_the_cpu(*device_, "var", {&x}, {&out}, uncorrected, 4);
    }
}

// Long columns are divided into parts, of which the last may be shorter.
TEST_F(CudaReductionsTest, LongColumnsAgreeWithTheCpu) {
  const Mesh mesh = *Mesh::parse("x=1");
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI64})
    for (const Dims& shape : {Dims{205, 7}, Dims{13, 16, 7}}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " rank " + std::to_string(shape.size()));
      const Attrs attrs =
          dims_attr(shape.size() == 2 ? std::vector<int64_t>{0} : std::vector<int64_t>{0, 1});
      Window x(dtype, shape, Lie::kPadded), out(dtype, {7}, Lie::kGaps), truth(Dtype::kBool, {7});
      if (is_floating(dtype))
        x.fill([](int64_t i) { return 1 + cts::fractions()(i).real() / 64; });
      else
        x.fill(cts::whole_numbers(dtype));
      const TensorType* in[] = {&x.type()};
      const TensorType* results[] = {&out.type()};
      const auto kernel = device_->prepare("sum", {in, results, attrs, mesh, 0});
      ASSERT_TRUE(kernel.ok()) << kernel.status().message();
      EXPECT_GE((*kernel)->workspace_bytes(), 7 * 4 * 8) << "four parts or more";
      for (const char* name : {"sum", "prod", "amax", "amin"})
        expect_as_on_the_cpu(*device_, name, {&x}, {&out}, attrs, 4);
      if (is_floating(dtype)) expect_as_on_the_cpu(*device_, "mean", {&x}, {&out}, attrs, 4);
      x.fill([](int64_t i) { return i % 7 == 3 ? 1 : i % 7 == 5 && i / 7 == 204 ? 1 : 0; });
      for (const char* name : {"any", "all"})
        expect_as_on_the_cpu(*device_, name, {&x}, {&truth}, attrs);
    }
}

// Adjacent columns at multiples of 16 bytes are added several at a time, others one by one.
TEST_F(CudaReductionsTest, SumsOfColumnsSideBySideAgreeWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF16, Dtype::kF64})
    for (const Dims& shape : {Dims{205, 64}, Dims{1100, 8}, Dims{3, 205, 24}, Dims{70, 1032}})
      for (Lie lie : {Lie::kDense, Lie::kShifted, Lie::kPadded}) {
        SCOPED_TRACE(std::string(dtype_name(dtype)) + " columns " + std::to_string(shape.back()));
        Dims kept;
        for (size_t d = 0; d < shape.size(); ++d)
          if (d + 2 != shape.size()) kept.push_back(shape[d]);
        Window x(dtype, shape, lie), out(dtype, kept), wide(Dtype::kF64, kept);
        x.fill([](int64_t i) { return 1 + cts::fractions()(i).real() / 64; });
        const Attrs attrs = dims_attr({static_cast<int64_t>(shape.size()) - 2});
        for (const char* name : {"sum", "mean"}) {
          expect_as_on_the_cpu(*device_, name, {&x}, {&out}, attrs, 4);
          expect_as_on_the_cpu(*device_, name, {&x}, {&wide}, attrs, 4);
        }
      }
}

TEST_F(CudaReductionsTest, ANanIsTheExtremeAndIsTrue) {
  Window x(Dtype::kF32, {3, 70}), out(Dtype::kF32, {3}), truth(Dtype::kBool, {3});
  x.fill([](int64_t i) { return i == 100 ? NAN : 0; });
  for (const char* kernel : {"amax", "amin"})
    expect_as_on_the_cpu(*device_, kernel, {&x}, {&out}, dims_attr({1}));
  for (const char* kernel : {"any", "all"})
    expect_as_on_the_cpu(*device_, kernel, {&x}, {&truth}, dims_attr({1}));
}

TEST_F(CudaReductionsTest, AnImaginaryNumberIsTrue) {
  Window x(Dtype::kC64, {2, 3}), truth(Dtype::kBool, {2});
  x.fill([](int64_t i) { return cts::Number(0, i == 4 ? 1 : 0); });
  expect_as_on_the_cpu(*device_, "any", {&x}, {&truth}, dims_attr({1}));
}

// Of equal elements the search finds the first, and of several NaN the first NaN.
TEST_F(CudaReductionsTest, SearchesAgreeWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI8, Dtype::kI64})
    for (bool nan : {false, true}) {
      if (nan && !is_floating(dtype)) continue;
      SCOPED_TRACE(dtype_name(dtype));
      Window x(dtype, {4, 50}, Lie::kReversed), value(dtype, {4}, Lie::kGaps),
          place(Dtype::kI64, {4}), one(Dtype::kI64, {});
      x.fill([&](int64_t i) {
        return nan && (i == 70 || i == 80) ? NAN : cts::whole_numbers(dtype)(i).real();
      });
      for (const char* kernel : {"max", "min"}) {
        expect_as_on_the_cpu(*device_, kernel, {&x}, {&value, &place}, dim_attr(1));
        expect_as_on_the_cpu(*device_, kernel, {&x}, {&value, nullptr}, dim_attr(-1));
      }
      for (const char* kernel : {"argmax", "argmin"}) {
        expect_as_on_the_cpu(*device_, kernel, {&x}, {&place}, dim_attr(1));
        expect_as_on_the_cpu(*device_, kernel, {&x}, {&one});
      }
    }
}

TEST_F(CudaReductionsTest, SoftmaxAgreesWithTheCpu) {
  for (Dtype dtype : kReals)
    for (int64_t dim : {int64_t{0}, int64_t{1}, int64_t{-1}}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " dim " + std::to_string(dim));
      Window x(dtype, {3, 40, 5}, Lie::kReversed), grad(dtype, {3, 40, 5}),
          out(dtype, {3, 40, 5}, Lie::kPadded);
      x.fill([](int64_t i) { return 30 * cts::fractions()(i).real(); });  // e^60 is out of range
      grad.fill(cts::fractions(1));
      for (const char* kernel : {"softmax", "log_softmax"})
        expect_as_on_the_cpu(*device_, kernel, {&x}, {&out}, dim_attr(dim), 60);
      for (const char* kernel : {"softmax_backward_data", "log_softmax_backward_data"})
        expect_as_on_the_cpu(*device_, kernel, {&grad, &grad}, {&out}, dim_attr(dim), 60);
    }
}

// If a whole line is masked, its softmax is NaN.
TEST_F(CudaReductionsTest, ASoftmaxOfNothingButMinusInfinityIsNan) {
  Window x(Dtype::kF32, {2, 20}), out(Dtype::kF32, {2, 20});
  x.fill([](int64_t i) { return i < 20 ? -std::numeric_limits<double>::infinity() : 1.0; });
  for (const char* kernel : {"softmax", "log_softmax"})
    expect_as_on_the_cpu(*device_, kernel, {&x}, {&out}, dim_attr(1));
}

TEST_F(CudaReductionsTest, RunningSumsAgreeWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI32, Dtype::kC64})
    for (int64_t dim : {int64_t{0}, int64_t{1}}) {
      SCOPED_TRACE(dtype_name(dtype));
      Window x(dtype, {6, 30}, Lie::kGaps), out(dtype, {6, 30}, Lie::kReversed);
      x.fill(cts::whole_numbers(dtype));
      expect_as_on_the_cpu(*device_, "cumsum", {&x}, {&out}, dim_attr(dim));
      expect_as_on_the_cpu(*device_, "cumprod", {&x}, {&out}, dim_attr(dim));
    }
}

class CudaNormTest : public CudaReductionsTest {
 protected:
  static Attrs shape_attr(const std::vector<int64_t>& shape) {
    Attrs attrs;
    attrs.set(AttrKey::kNormalizedShape, shape);
    attrs.set(AttrKey::kEps, 1e-5);
    return attrs;
  }
};

TEST_F(CudaNormTest, LayerNormAgreesWithTheCpu) {
  for (Dtype dtype : kReals)
    for (const std::vector<int64_t>& tail : {std::vector<int64_t>{5}, {9, 5}}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::to_string(tail.size()));
      const Dims stat = tail.size() == 1 ? Dims{3, 9, 1} : Dims{3, 1, 1};
      const Dtype wide = dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32;
      Window x(dtype, {3, 9, 5}, Lie::kReversed), weight(dtype, Dims(tail), Lie::kGaps),
          bias(dtype, Dims(tail)), out(dtype, {3, 9, 5}, Lie::kPadded), mean(wide, stat),
          rstd(wide, stat), grad(dtype, {3, 9, 5}), dweight(dtype, Dims(tail), Lie::kGaps),
          dbias(dtype, Dims(tail));
      x.fill(cts::fractions());
      weight.fill(cts::fractions(1));
      bias.fill(cts::fractions(2));
      grad.fill(cts::fractions(3));
      const Attrs attrs = shape_attr(tail);
      expect_as_on_the_cpu(*device_, "native_layer_norm", {&x, &weight, &bias},
                           {&out, &mean, &rstd}, attrs, 16);
      expect_as_on_the_cpu(*device_, "native_layer_norm", {&x}, {&out, nullptr, nullptr}, attrs,
                           16);
      expect_as_on_the_cpu(*device_, "native_layer_norm_backward",
                           {&grad, &x, &mean, &rstd, &weight, &bias}, {&out, &dweight, &dbias},
                           attrs, 16);
      expect_as_on_the_cpu(*device_, "native_layer_norm_backward",
                           {&grad, &x, &mean, &rstd, nullptr, nullptr}, {nullptr, nullptr, &dbias},
                           attrs, 16);
    }
}

// With many rows, the gradients of weight and bias are added in slices of different lengths. The
// test also covers zero rows.
TEST_F(CudaNormTest, ParametersOfManyRows) {
  for (Dtype dtype : kReals)
    for (int64_t rows : {0, 1, 67})
      for (Lie lie : {Lie::kDense, Lie::kPadded}) {
        SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::to_string(rows));
        const Dtype wide = dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32;
        Window x(dtype, {3, rows, 37}, lie), grad(dtype, {3, rows, 37}), mean(wide, {3, rows, 1}),
            rstd(wide, {3, rows, 1}), dweight(dtype, {37}), dbias(dtype, {37}, Lie::kGaps);
        x.fill(cts::fractions());
        grad.fill(cts::fractions(1));
        mean.fill(cts::fractions(2));
        rstd.fill(cts::fractions(3));
        const Attrs attrs = shape_attr({37});
        expect_as_on_the_cpu(*device_, "native_layer_norm_backward",
                             {&grad, &x, &mean, &rstd, nullptr, nullptr},
                             {nullptr, &dweight, &dbias}, attrs, 64);
        expect_as_on_the_cpu(*device_, "fused_rms_norm_backward", {&grad, &x, &rstd, nullptr},
                             {nullptr, &dweight}, attrs, 64);
      }
}

TEST_F(CudaNormTest, RmsNormAgreesWithTheCpu) {
  for (Dtype dtype : kReals) {
    SCOPED_TRACE(dtype_name(dtype));
    const Dtype wide = dtype == Dtype::kF64 ? Dtype::kF64 : Dtype::kF32;
    Window x(dtype, {7, 40}, Lie::kPadded), weight(dtype, {40}), out(dtype, {7, 40}),
        rstd(wide, {7, 1}), grad(dtype, {7, 40}, Lie::kReversed), dweight(dtype, {40});
    x.fill(cts::fractions());
    weight.fill(cts::fractions(1));
    grad.fill(cts::fractions(2));
    Attrs attrs = shape_attr({40});
    expect_as_on_the_cpu(*device_, "fused_rms_norm", {&x, &weight}, {&out, &rstd}, attrs, 16);
    expect_as_on_the_cpu(*device_, "fused_rms_norm_backward", {&grad, &x, &rstd, &weight},
                         {&out, &dweight}, attrs, 16);
    expect_as_on_the_cpu(*device_, "fused_rms_norm_backward", {&grad, &x, &rstd}, {&out, nullptr},
                         attrs, 16);
    Attrs without_eps;
    without_eps.set(AttrKey::kNormalizedShape, std::vector<int64_t>{40});
    expect_as_on_the_cpu(*device_, "fused_rms_norm", {&x}, {&out, &rstd}, without_eps, 16);
  }
}

class CudaLossTest : public CudaReductionsTest {};

TEST_F(CudaLossTest, LossesAgreeWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64})
    for (int64_t reduction : {int64_t{0}, int64_t{1}, int64_t{2}}) {
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::to_string(reduction));
      const Dims loss = reduction == 0 ? Dims{40} : Dims{};
      Window x(dtype, {40, 7}, Lie::kReversed), targets(Dtype::kI64, {40}), weight(dtype, {7}),
          out(dtype, loss), total(dtype, {}), grad(dtype, loss), dx(dtype, {40, 7}, Lie::kPadded);
      x.fill(cts::fractions());
      weight.fill([](int64_t i) { return 0.5 + static_cast<double>(i) / 8; });
      targets.fill([](int64_t i) { return i % 5 == 0 ? -100 : i * 3 % 7; });
      grad.fill(cts::fractions(1));
      Attrs attrs;
      attrs.set(AttrKey::kReduction, reduction);
      expect_as_on_the_cpu(*device_, "nll_loss_forward", {&x, &targets, &weight}, {&out, &total},
                           attrs, 4);
      expect_as_on_the_cpu(*device_, "nll_loss_backward", {&grad, &x, &targets, &weight, &total},
                           {&dx}, attrs, 4);
      expect_as_on_the_cpu(*device_, "nll_loss_forward", {&x, &targets}, {&out, &total}, attrs, 4);
      expect_as_on_the_cpu(*device_, "nll_loss_backward", {&grad, &x, &targets, nullptr, &total},
                           {&dx}, attrs, 4);
    }
}

TEST_F(CudaLossTest, ATargetBeyondTheClassesIsAnError) {
  Window x(Dtype::kF32, {3, 7}), targets(Dtype::kI64, {3}), out(Dtype::kF32, {}),
      total(Dtype::kF32, {});
  targets.fill([](int64_t i) { return 6 + i; });
  const Status status =
      testing::run_kernel(*device_, "nll_loss_forward", {&x, &targets}, {&out, &total});
  EXPECT_EQ(status.code(), Code::kOutOfRange) << status.message();
  EXPECT_NE(status.message().find('7'), std::string::npos) << status.message();
}

TEST_F(CudaReductionsTest, BatchesOfProductsAgreeWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kI32}) {
    SCOPED_TRACE(dtype_name(dtype));
    Window a(dtype, {2, 3, 4}, Lie::kReversed), b(dtype, {2, 4, 5}), out(dtype, {2, 3, 5});
    a.fill(cts::whole_numbers(dtype));
    b.fill(cts::whole_numbers(dtype, 1));
    expect_as_on_the_cpu(*device_, "bmm", {&a, &b}, {&out});
  }
}

TEST_F(CudaReductionsTest, BiasedProductsAgreeWithTheCpu) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI32}) {
    SCOPED_TRACE(dtype_name(dtype));
    Window c(dtype, {5}), a(dtype, {3, 4}, Lie::kReversed), b(dtype, {4, 5}),
        out(dtype, {3, 5}, Lie::kPadded), batch_a(dtype, {2, 3, 4}), batch_b(dtype, {2, 4, 5}),
        batch_out(dtype, {2, 3, 5});
    c.fill(cts::whole_numbers(dtype));
    for (Window* w : {&a, &b, &batch_a, &batch_b}) w->fill(cts::whole_numbers(dtype, 1));
    Attrs scaled;
    scaled.set(AttrKey::kAlpha, int64_t{2});
    scaled.set(AttrKey::kBeta, int64_t{-3});
    for (const Attrs& attrs : {Attrs(), scaled}) {
      expect_as_on_the_cpu(*device_, "addmm", {&c, &a, &b}, {&out}, attrs);
      expect_as_on_the_cpu(*device_, "baddbmm", {&c, &batch_a, &batch_b}, {&batch_out}, attrs);
    }
    if (!is_floating(dtype)) continue;
    c.fill([](int64_t) { return NAN; });
    Attrs unread;
    unread.set(AttrKey::kBeta, int64_t{0});
    expect_as_on_the_cpu(*device_, "addmm", {&c, &a, &b}, {&out}, unread);
  }
}

}  // namespace
}  // namespace shw::runtime::cuda
