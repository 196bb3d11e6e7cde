// Kernels that move or convert elements: clone, casts, local_slice.
#include <cmath>
#include <limits>

#include "cts/kernel_test.h"
#include "float8.h"

namespace shw::cts {
namespace {

class MoveTest : public KernelTest {};

TEST_P(MoveTest, CloneCopiesEveryWindowOfEveryDtypeIntoEveryWindow) {
  const Dims shapes[] = {{}, {1}, {7}, {0, 4}, {3, 5}, {2, 3, 4, 5}, {1, 6, 1, 2}};
  for (int number = 1; number <= 13; ++number)
    for (const Dims& shape : shapes)
      for (Lie in_lie : kReadable)
        for (Lie out_lie : kWritable) {
          const Dtype dtype = *dtype_from_number(number);
          SCOPED_TRACE(to_string(row_major(dtype, shape)));
          Window x(dtype, shape, in_lie), out(dtype, shape, out_lie);
          x.fill(whole_numbers(dtype));
          run_ok({"clone", {&x}, {&out}});
          expect_elements(out, [&](const Index& i) { return x.get(i); });
        }
}

// The tensors exceed the tiles of a transposed copy, and their sizes are no multiples of the tile
// size.
TEST_P(MoveTest, CloneTransposes) {
  for (Dtype dtype : {Dtype::kU8, Dtype::kBF16, Dtype::kF32, Dtype::kC64})
    for (const Dims& shape : {Dims{77, 101}, Dims{3, 40, 5, 33}, Dims{65, 2, 64}}) {
      Window x(dtype, shape, Lie::kReversed), out(dtype, shape);
      x.fill([](int64_t i) { return static_cast<double>(i % 251); });
      run_ok({"clone", {&x}, {&out}});
      expect_elements(out, [&](const Index& i) { return x.get(i); });
    }
}

double truncated(double x) { return std::isnan(x) ? 0 : std::trunc(x); }

TEST_P(MoveTest, CastsBetweenAllDtypes) {
  const double values[] = {0, 1, -1, 2.5, -2.5, 3.999, 100.0625, 0.3, 1e-3, 7};
  for (int from = 1; from <= 13; ++from)
    for (int to = 1; to <= 13; ++to)
      for (const char* kernel : {"dtype_cast", "convert_element_type"}) {
        const Dtype source = *dtype_from_number(from), target = *dtype_from_number(to);
        SCOPED_TRACE(std::string(dtype_name(source)) + " to " + std::string(dtype_name(target)));
        Window x(source, {2, 5}, Lie::kReversed), out(target, {2, 5}, Lie::kPadded);
        x.fill([&](int64_t i) {
          const double v = values[i];
          return is_floating(source) || is_complex(source) ? Number(v, is_complex(source) ? 1 : 0)
                                                           : Number(std::abs(std::trunc(v)));
        });
        run_ok({kernel, {&x}, {&out}});
        expect_elements(out, [&](const Index& i) -> Number {
          const Number v = x.get(i);
          if (is_complex(target) || target == Dtype::kBool) return v;
          return is_floating(target) ? v.real() : truncated(v.real());
        });
      }
}

TEST_P(MoveTest, CastsManyElementsInOneRow) {
  Window x(Dtype::kF32, {1, 5000}), out(Dtype::kBF16, {1, 5000});
  x.fill(fractions());
  run_ok({"dtype_cast", {&x}, {&out}});
  expect_elements(out, [&](const Index& i) { return x.get(i); });
}

// 1 + 2^-8 is half-way between two bf16 numbers and rounds down to the even one; 1 + 3·2^-8 rounds
// up.
TEST_P(MoveTest, HalvesRoundToEven) {
  Window x(Dtype::kF32, {4}), b(Dtype::kBF16, {4}), h(Dtype::kF16, {4});
  const double for_bf16[] = {1 + 0x1p-8, 1 + 3 * 0x1p-8, 1 + 0x1p-8 + 0x1p-23, -1 - 0x1p-8};
  x.fill([&](int64_t i) { return for_bf16[i]; });
  run_ok({"dtype_cast", {&x}, {&b}});
  const double bf16[] = {1, 1 + 0x1p-6, 1 + 0x1p-7, -1};
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(b.get({i}), bf16[i]);
  const double for_f16[] = {1 + 0x1p-11, 1 + 3 * 0x1p-11, 65520, 0x1p-25};
  x.fill([&](int64_t i) { return for_f16[i]; });
  run_ok({"dtype_cast", {&x}, {&h}});
  const double f16[] = {1, 1 + 0x1p-9, std::numeric_limits<double>::infinity(), 0};
  for (int64_t i = 0; i < 4; ++i) EXPECT_EQ(h.get({i}), f16[i]);
}

TEST_P(MoveTest, EveryHalfSurvivesF32) {
  for (Dtype dtype : {Dtype::kBF16, Dtype::kF16}) {
    Window x(dtype, {65536}), wide(Dtype::kF32, {65536}), back(dtype, {65536});
    for (int64_t i = 0; i < 65536; ++i) {
      const auto bits = static_cast<uint16_t>(i);
      std::memcpy(&x.bytes()[static_cast<size_t>(2 * i)], &bits, 2);
    }
    run_ok({"dtype_cast", {&x}, {&wide}});
    run_ok({"dtype_cast", {&wide}, {&back}});
    for (int64_t i = 0; i < 65536; ++i) {
      const double a = x.get({i}).real(), w = wide.get({i}).real(), b = back.get({i}).real();
      if (std::isnan(a)) {
        EXPECT_TRUE(std::isnan(w) && std::isnan(b)) << i;
      } else {
        EXPECT_EQ(a, w) << i;
        EXPECT_EQ(a, b) << i;
      }
    }
  }
}

// Casts every pattern to every dtype and back.
TEST_P(MoveTest, EveryFloat8IsCastToEveryDtypeAndBack) {
  for (Dtype dtype : testing::kFloat8)
    for (int number = 1; number <= 13; ++number) {
      const Dtype other = *dtype_from_number(number);
      SCOPED_TRACE(std::string(dtype_name(dtype)) + " and " + std::string(dtype_name(other)));
      Window x(dtype, {16, 16}), there(other, {16, 16}, Lie::kReversed), back(dtype, {16, 16});
      for (size_t i = 0; i < 256; ++i) x.bytes()[i] = static_cast<std::byte>(i);
      run_ok({"convert_element_type", {&x}, {&there}});
      run_ok({"convert_element_type", {&there}, {&back}});
      const bool keeps = is_floating(other) || is_complex(other);
      const auto expect_same = [](double got, double want, int64_t i) {
        EXPECT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << i << " is " << got;
      };
      for (int64_t i = 0; i < 256; ++i) {
        const double v = testing::float8_value(dtype, static_cast<uint8_t>(i));
        const Index at = {i / 16, i % 16};
        const double got = there.get(at).real();
        if (other == Dtype::kBool)
          expect_same(got, v != 0, i);
        else if (keeps)
          expect_same(got, rounded(other, v).real(), i);
        else if (std::abs(v) <= 127 && (v >= 0 || other != Dtype::kU8))
          expect_same(got, std::trunc(v), i);
        expect_same(back.get(at).real(), rounded(dtype, got).real(), i);
      }
    }
}

TEST_P(MoveTest, RoundsToFloat8AsItIsDefined) {
  for (Dtype dtype : testing::kFloat8)
    for (Dtype from : {Dtype::kF32, Dtype::kF64, Dtype::kBF16, Dtype::kF16}) {
      SCOPED_TRACE(std::string(dtype_name(from)) + " to " + std::string(dtype_name(dtype)));
      Window x(from, {6, 700}), out(dtype, {6, 700}, Lie::kReversed);
      // The values cover all magnitudes of the dtype and some beyond its range.
      x.fill(
          [](int64_t i) { return std::ldexp(static_cast<double>(1 + i % 31), i / 31 % 44 - 24); });
      run_ok({"to_copy", {&x}, {&out}});
      expect_elements(out, [&](const Index& i) -> Number {
        return testing::float8_value(dtype, testing::nearest_float8(dtype, x.get(i).real()));
      });
    }
}

TEST_P(MoveTest, LargeRealsSaturateAsIntegers) {
  const double inf = std::numeric_limits<double>::infinity();
  const double values[] = {1e30, -1e30, inf, std::numeric_limits<double>::quiet_NaN()};
  Window x(Dtype::kF32, {4}), out(Dtype::kI64, {4});
  x.fill([&](int64_t i) { return values[i]; });
  run_ok({"convert_element_type", {&x}, {&out}});
  EXPECT_EQ(out.get({0}), 0x1p63);
  EXPECT_EQ(out.get({1}), -0x1p63);
  EXPECT_EQ(out.get({2}), 0x1p63);
  EXPECT_EQ(out.get({3}), 0.0);
}

TEST_P(MoveTest, LocalSliceOnOneRankIsACopy) {
  Window x(Dtype::kF32, {4, 6}, Lie::kReversed), out(Dtype::kF32, {4, 6});
  x.fill(fractions());
  Attrs attrs;
  attrs.set(AttrKey::kDim, int64_t{1});
  attrs.set(AttrKey::kDims, std::vector<int64_t>{0});
  run_ok({"local_slice", {&x}, {&out}, attrs});
  expect_elements(out, [&](const Index& i) { return x.get(i); });
}

TEST_P(MoveTest, RefusesOtherShapes) {
  Window x(Dtype::kF32, {4}), y(Dtype::kF32, {5});
  for (const char* kernel : {"clone", "dtype_cast", "convert_element_type"})
    EXPECT_EQ(code_of({kernel, {&x}, {&y}}), Code::kInvalidArgument);
  Attrs attrs;
  attrs.set(AttrKey::kDim, int64_t{1});
  attrs.set(AttrKey::kDims, std::vector<int64_t>{0});
  EXPECT_EQ(code_of({"local_slice", {&x}, {&x}, attrs}), Code::kInvalidArgument);
}

SHW_CTS(MoveTest);

}  // namespace
}  // namespace shw::cts
