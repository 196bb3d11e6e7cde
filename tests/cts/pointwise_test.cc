// Pointwise kernels: values, broadcasting, strides, dtypes.
#include <cmath>
#include <limits>

#include "cts/kernel_test.h"

namespace shw::cts {
namespace {

constexpr Dtype kAll[] = {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBF16, Dtype::kI8,
                          Dtype::kI16, Dtype::kI32, Dtype::kI64, Dtype::kU8,   Dtype::kC64};
constexpr Dtype kReal[] = {Dtype::kF32, Dtype::kF64, Dtype::kF16, Dtype::kBF16};

// Half a unit in the last place, plus the error of rounding to f32 first.
double tolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return 1e-15;
    case Dtype::kF16:
      return 0x1p-10;
    case Dtype::kBF16:
      return 0x1p-7;
    default:
      return 3e-7;
  }
}

class PointwiseTest : public KernelTest {};

using Binary = std::function<Number(Number, Number)>;
struct BinaryCase {
  const char* kernel;
  Binary f;
};
const BinaryCase kBinary[] = {
    {"add", [](Number a, Number b) { return a + b; }},
    {"sub", [](Number a, Number b) { return a - b; }},
    {"mul", [](Number a, Number b) { return a * b; }},
};

TEST_P(PointwiseTest, BinaryOpsOnEveryDtypeAndWindow) {
  for (const BinaryCase& c : kBinary)
    for (Dtype dtype : kAll)
      for (Lie a_lie : kReadable)
        for (Lie out_lie : kWritable) {
          SCOPED_TRACE(std::string(c.kernel) + " " + std::string(dtype_name(dtype)));
          const Dims shape{3, 4, 7};
          // With an unsigned dtype, a - b must not be negative.
          const auto more = [&](int64_t i) { return whole_numbers(dtype)(i) + 9.0; };
          Window a(dtype, shape, a_lie), b(dtype, shape, Lie::kPadded), out(dtype, shape, out_lie);
          a.fill(more);
          b.fill(whole_numbers(dtype, 1));
          run_ok({c.kernel, {&a, &b}, {&out}});
          expect_elements(out, [&](const Index& i) { return c.f(a.get(i), b.get(i)); });
        }
}

TEST_P(PointwiseTest, BroadcastsEitherSide) {
  struct Shapes {
    Dims a, b, out;
  };
  const Shapes all[] = {
      {{4, 5}, {5}, {4, 5}},
      {{5}, {4, 5}, {4, 5}},
      {{4, 1}, {1, 5}, {4, 5}},
      {{2, 3, 4}, {3, 1}, {2, 3, 4}},
      {{}, {3, 4}, {3, 4}},
      {{2, 3}, {}, {2, 3}},
      {{}, {}, {}},
      {{1, 1}, {1}, {1, 1}},
      {{6, 1, 5}, {6, 4, 1}, {6, 4, 5}},
      {{0, 3}, {3}, {0, 3}},
      {{2, 1100}, {2, 1}, {2, 1100}},
      {{1, 1100}, {2, 1}, {2, 1100}},
  };
  for (const Shapes& s : all)
    for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kC64}) {
      SCOPED_TRACE(to_string(row_major(dtype, s.a)) + " " + to_string(row_major(dtype, s.b)));
      Window a(dtype, s.a), b(dtype, s.b), out(dtype, s.out);
      a.fill(whole_numbers(dtype));
      b.fill(whole_numbers(dtype, 1));
      run_ok({"sub", {&a, &b}, {&out}});
      expect_elements(out, [&](const Index& i) { return a.broadcast(i) - b.broadcast(i); });
    }
}

TEST_P(PointwiseTest, DivRoundsOnce) {
  for (Dtype dtype : kReal)
    for (Lie lie : kReadable) {
      Window a(dtype, {5, 9}, lie), b(dtype, {5, 9}), out(dtype, {5, 9});
      a.fill(fractions());
      b.fill([](int64_t i) { return 1.0 + static_cast<double>(i % 5); });
      run_ok({"div", {&a, &b}, {&out}});
      expect_elements(
          out, [&](const Index& i) { return a.get(i).real() / b.get(i).real(); }, tolerance(dtype));
    }
}

TEST_P(PointwiseTest, MixesDtypesInThoseOfTheResult) {
  Window f(Dtype::kF32, {4, 6}), h(Dtype::kBF16, {6}), out(Dtype::kF32, {4, 6});
  f.fill(fractions());
  h.fill(fractions(1));
  run_ok({"mul", {&f, &h}, {&out}});
  expect_elements(
      out, [&](const Index& i) { return f.broadcast(i).real() * h.broadcast(i).real(); }, 1e-7);

  Window n(Dtype::kI64, {4, 6}), m(Dtype::kI32, {4, 6}), quotient(Dtype::kF32, {4, 6});
  n.fill(whole_numbers(Dtype::kI64));
  m.fill([](int64_t i) { return static_cast<double>(i % 3 + 1); });
  run_ok({"div", {&n, &m}, {&quotient}});
  expect_elements(
      quotient, [&](const Index& i) { return n.get(i) / m.get(i); }, 1e-7);
}

TEST_P(PointwiseTest, TakesANumberOnEitherSide) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kI64, Dtype::kC64}) {
    SCOPED_TRACE(std::string(dtype_name(dtype)));
    Window x(dtype, {3, 5}, Lie::kReversed), out(dtype, {3, 5});
    x.fill(whole_numbers(dtype));
    Attrs other, self;
    other.set(AttrKey::kOther, int64_t{3});
    self.set(AttrKey::kSelf, int64_t{1});
    run_ok({"sub", {&x, nullptr}, {&out}, other});
    expect_elements(out, [&](const Index& i) { return x.get(i) - 3.0; });
    run_ok({"mul", {&x}, {&out}, other});
    expect_elements(out, [&](const Index& i) { return x.get(i) * 3.0; });
    run_ok({"sub", {nullptr, &x}, {&out}, self});
    expect_elements(out, [&](const Index& i) { return 1.0 - x.get(i); });
  }
}

TEST_P(PointwiseTest, AddScalesItsSecondOperandByAlpha) {
  Window a(Dtype::kF32, {7}), b(Dtype::kF32, {7}), out(Dtype::kF32, {7});
  a.fill(whole_numbers(Dtype::kF32));
  b.fill(whole_numbers(Dtype::kF32, 1));
  Attrs attrs;
  attrs.set(AttrKey::kAlpha, 2.5);
  run_ok({"add", {&a, &b}, {&out}, attrs});
  expect_elements(out, [&](const Index& i) { return a.get(i) + 2.5 * b.get(i); });
  run_ok({"sub", {&a, &b}, {&out}, attrs});
  expect_elements(out, [&](const Index& i) { return a.get(i) - 2.5 * b.get(i); });
}

TEST_P(PointwiseTest, IntegersWrap) {
  Window a(Dtype::kI32, {1}), b(Dtype::kI32, {1}), out(Dtype::kI32, {1});
  a.fill([](int64_t) { return 2147483647.0; });
  b.fill([](int64_t) { return 1.0; });
  run_ok({"add", {&a, &b}, {&out}});
  EXPECT_EQ(out.get({0}), -2147483648.0);
  Window x(Dtype::kI64, {1}), y(Dtype::kI64, {1});
  x.fill([](int64_t) { return 0x1p62; });
  Attrs four;
  four.set(AttrKey::kOther, int64_t{4});
  run_ok({"mul", {&x, nullptr}, {&y}, four});
  EXPECT_EQ(y.get({0}), 0.0);
}

struct UnaryCase {
  const char* kernel;
  double (*f)(double);
};
const UnaryCase kUnary[] = {
    {"neg", [](double x) { return -x; }},
    {"exp", [](double x) { return std::exp(x); }},
    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }},
    {"relu", [](double x) { return x > 0 ? x : 0; }},
    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }},
};

TEST_P(PointwiseTest, UnaryOpsOnEveryRealDtypeAndWindow) {
  for (const UnaryCase& c : kUnary)
    for (Dtype dtype : kReal)
      for (Lie in_lie : kReadable)
        for (Lie out_lie : kWritable) {
          SCOPED_TRACE(std::string(c.kernel) + " " + std::string(dtype_name(dtype)));
          Window x(dtype, {3, 5, 11}, in_lie), out(dtype, {3, 5, 11}, out_lie);
          x.fill([&](int64_t i) {
            const double v = fractions()(i).real();
            return std::string_view(c.kernel) == "rsqrt" ? std::abs(v) + 0.125 : v;
          });
          run_ok({c.kernel, {&x}, {&out}});
          expect_elements(
              out, [&](const Index& i) { return c.f(x.get(i).real()); }, tolerance(dtype));
        }
}

TEST_P(PointwiseTest, ExpIsRightOverItsWholeRange) {
  // The tolerance in units in the last place of an f32, or of the smallest subnormal. CUDA's expf
  // has an error of at most two (CUDA C++ Programming Guide, "Mathematical Functions").
  const double units = GetParam().name == "cuda" ? 2 : 1;
  const int64_t n = 4001;
  Window x(Dtype::kF32, {n}), out(Dtype::kF32, {n});
  x.fill([](int64_t i) { return -110.0 + static_cast<double>(i) * 0.05; });  // −110 … 90
  run_ok({"exp", {&x}, {&out}});
  for (int64_t i = 0; i < n; ++i) {
    const double exact = std::exp(x.get({i}).real()), got = out.get({i}).real();
    const auto nearest = static_cast<float>(exact);
    if (std::isinf(nearest)) {
      EXPECT_TRUE(std::isinf(got)) << x.get({i});
      continue;
    }
    EXPECT_LE(std::abs(got - exact), units * std::max(exact * 0x1p-23, 0x1p-149)) << x.get({i});
  }
}

TEST_P(PointwiseTest, SpecialValuesPassThrough) {
  const double inf = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double values[] = {inf, -inf, nan, 0.0, -0.0};
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64, Dtype::kBF16, Dtype::kF16})
    for (const UnaryCase& c : kUnary) {
      SCOPED_TRACE(std::string(c.kernel) + " " + std::string(dtype_name(dtype)));
      Window x(dtype, {5}), out(dtype, {5});
      x.fill([&](int64_t i) { return values[i]; });
      run_ok({c.kernel, {&x}, {&out}});
      expect_elements(out, [&](const Index& i) {
        const double v = x.get(i).real();
        return std::isnan(v) ? nan : c.f(v);
      });
    }
}

TEST_P(PointwiseTest, ThresholdBackwardKeepsTheGradientAboveTheThreshold) {
  const double values[] = {-1, 0, 0.5, 0.75, std::numeric_limits<double>::quiet_NaN()};
  Window grad(Dtype::kF32, {5}), x(Dtype::kF32, {5}), out(Dtype::kF32, {5});
  grad.fill([](int64_t i) { return static_cast<double>(i + 1); });
  x.fill([&](int64_t i) { return values[i]; });
  Attrs attrs;
  attrs.set(AttrKey::kThreshold, 0.5);
  run_ok({"threshold_backward", {&grad, &x}, {&out}, attrs});
  const double want[] = {0, 0, 0, 4, 5};
  expect_elements(out, [&](const Index& i) { return want[i[0]]; });
}

TEST_P(PointwiseTest, PowOfEachExponent) {
  for (double exponent : {2.0, 3.0, 0.5, -0.5, -1.0, 1.0, 0.0, 2.5, -3.0, 7.0})
    for (Dtype dtype : kReal) {
      SCOPED_TRACE(exponent);
      Window x(dtype, {3, 7}, Lie::kGaps), out(dtype, {3, 7});
      x.fill([](int64_t i) { return std::abs(fractions()(i).real()) + 0.5; });
      Attrs attrs;
      attrs.set(AttrKey::kExponent, exponent);
      run_ok({"pow", {&x}, {&out}, attrs});
      expect_elements(
          out, [&](const Index& i) { return std::pow(x.get(i).real(), exponent); },
          tolerance(dtype));
    }
  Window n(Dtype::kI32, {9}), out(Dtype::kI32, {9});
  n.fill(whole_numbers(Dtype::kI32));
  Attrs fifth;
  fifth.set(AttrKey::kExponent, int64_t{5});
  run_ok({"pow", {&n}, {&out}, fifth});
  expect_elements(out, [&](const Index& i) { return std::pow(n.get(i).real(), 5); });
}

TEST_P(PointwiseTest, ConjTurnsTheImaginaryPart) {
  for (Lie lie : kReadable) {
    Window x(Dtype::kC64, {2, 3, 4}, lie), out(Dtype::kC64, {2, 3, 4}, Lie::kReversed);
    x.fill(fractions());
    run_ok({"conj", {&x}, {&out}});
    expect_elements(out, [&](const Index& i) { return std::conj(x.get(i)); });
  }
}

// Complex numbers are stored as pairs in the last dim.
TEST_P(PointwiseTest, PairsMultiplyAndConjugateAsComplexNumbers) {
  const auto at = [](const Window& w, Index i) {
    i.push_back(0);
    const double re = w.broadcast(i).real();
    i.back() = 1;
    return Number(re, w.broadcast(i).real());
  };
  const auto part = [](const Number& z, const Index& i) {
    return i.back() == 0 ? z.real() : z.imag();
  };
  for (Lie lie : kReadable) {
    Window a(Dtype::kF64, {2, 3, 4, 2}, lie), b(Dtype::kF64, {3, 1, 2}, lie),
        out(Dtype::kF64, {2, 3, 4, 2}, Lie::kReversed);
    a.fill(fractions());
    b.fill(fractions(1));
    run_ok({"mul_pairs", {&a, &b}, {&out}});
    expect_elements(
        out,
        [&](const Index& i) {
          const Index pair(i.begin(), i.end() - 1);
          return part(at(a, pair) * at(b, pair), i);
        },
        1e-15);
    run_ok({"conj_pairs", {&a}, {&out}});
    expect_elements(out, [&](const Index& i) {
      return part(std::conj(at(a, Index(i.begin(), i.end() - 1))), i);
    });
  }
  Window real(Dtype::kF64, {3}), pairs(Dtype::kF64, {3, 2}), narrow(Dtype::kF32, {3, 2});
  EXPECT_EQ(code_of({"mul_pairs", {&pairs, &real}, {&pairs}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"mul_pairs", {&pairs, &narrow}, {&pairs}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"conj_pairs", {&narrow}, {&narrow}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"conj_pairs", {&real}, {&real}}), Code::kInvalidArgument);
}

// A program in a wider dtype must draw the same numbers as a program in the narrower one.
TEST_P(PointwiseTest, RandomNumbersAreRoundedToTheDtypeTheyAreDrawnIn) {
  for (const char* kernel : {"rand", "randn"})
    for (Dtype drawn : {Dtype::kBF16, Dtype::kF16, Dtype::kF32}) {
      Window narrow(drawn, {40}), wide(Dtype::kF64, {40}), unrounded(Dtype::kF64, {40});
      Attrs attrs;
      attrs.set(AttrKey::kSeed, int64_t{7});
      attrs.set(AttrKey::kSize, std::vector<int64_t>{40});
      attrs.set(AttrKey::kCuts, std::vector<int64_t>{});
      run_ok({kernel, {}, {&narrow}, attrs});
      run_ok({kernel, {}, {&unrounded}, attrs});
      attrs.set(AttrKey::kDtype, drawn);
      run_ok({kernel, {}, {&wide}, attrs});
      int rounded = 0;
      for (int64_t i = 0; i < 40; ++i) {
        EXPECT_EQ(wide.get({i}), narrow.get({i})) << kernel << " " << i;
        rounded += wide.get({i}) != unrounded.get({i});
      }
      EXPECT_EQ(rounded > 0, drawn != Dtype::kF32) << kernel;
    }
}

TEST_P(PointwiseTest, RefusesWhatItCannotDo) {
  Window a(Dtype::kF32, {3}), b(Dtype::kF32, {4}), out(Dtype::kF32, {4}), n(Dtype::kI32, {4});
  EXPECT_EQ(code_of({"add", {&a, &b}, {&out}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"add", {&b, nullptr}, {&out}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"add", {}, {&out}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"neg", {&b}, {}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"exp", {&b}, {&n}}), Code::kUnimplemented);
  EXPECT_EQ(code_of({"pow", {&b}, {&out}}), Code::kInvalidArgument);
}

SHW_CTS(PointwiseTest);

}  // namespace
}  // namespace shw::cts
