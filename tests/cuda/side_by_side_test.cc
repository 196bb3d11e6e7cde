// Kernels that process several contiguous elements at a time, and copies of bits. They must give
// the same bits as element by element, and the results of the CPU.
#include <cmath>
#include <limits>

#include "cuda/against_cpu.h"
#include "runtime/cpu/device.h"

namespace shw::runtime::cuda::side_by_side {
namespace {

using cts::Lie;
using cts::Window;
using testing::expect_as_on_the_cpu;
using testing::Inputs;
using testing::run_kernel;

using CudaSideBySideTest = testing::OnCuda;

// Fractions mixed with zeros, infinities and NaN.
cts::Number special(int64_t i) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kValues[] = {
      0.0, -0.0, 1.0, kInfinity, -kInfinity, std::numeric_limits<double>::quiet_NaN(), 1e-7, 65519};
  return i % 13 < 8 ? kValues[i % 13] : cts::fractions()(i).real();
}

// The bytes of the elements in row-major order.
std::vector<std::byte> elements(const Window& w) {
  std::vector<std::byte> all;
  const int64_t size = dtype_size(w.dtype());
  cts::for_each_index(w.shape(), [&](const cts::Index& index) {
    int64_t at = 0;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * w.type().strides[d];
    const auto first = w.bytes().begin() + w.offset_bytes() + at * size;
    all.insert(all.end(), first, first + size);
  });
  return all;
}

struct Step {
  const char* kernel;
  std::vector<Dtype> inputs;
  Dtype output;
  Attrs attrs = {};
};

// Compares elements at a multiple of 16 bytes with shifted elements, which are computed one by one.
void expect_alike(Device& device, const Step& step, int64_t count) {
  SCOPED_TRACE(std::string(step.kernel) + " of " + std::to_string(count) + " " +
               std::string(dtype_name(step.inputs[0])));
  std::vector<std::byte> results[2];
  for (Lie lie : {Lie::kDense, Lie::kShifted}) {
    std::vector<Window> windows;
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      windows.emplace_back(step.inputs[i], Dims{count}, lie);
      windows.back().fill([&](int64_t at) {
        return step.inputs[i] == Dtype::kBool ? cts::Number(static_cast<double>(at % 3 == 0))
                                              : special(at + static_cast<int64_t>(i) * 5);
      });
    }
    Inputs inputs;
    for (const Window& w : windows) inputs.push_back(&w);
    Window out(step.output, {count}, lie);
    expect_as_on_the_cpu(device, step.kernel, inputs, {&out}, step.attrs);
    results[lie == Lie::kDense ? 0 : 1] = elements(out);
  }
  EXPECT_EQ(results[0], results[1]);
}

Attrs attr(AttrKey key, const AttrValue& value) {
  Attrs attrs;
  attrs.set(key, value);
  return attrs;
}

// Sizes near the number of elements that a thread processes at a time, and sizes that leave a
// remainder.
constexpr int64_t kCounts[] = {2, 3, 4, 7, 8, 9, 31, 33, 64, 1001};

TEST_F(CudaSideBySideTest, HaveTheBitsOfSingleElements) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kF16, Dtype::kBF16}) {
    const Step steps[] = {
        {"mul", {dtype, dtype}, dtype},
        {"add", {dtype, dtype}, dtype, attr(AttrKey::kAlpha, 0.75)},
        {"sub", {dtype, dtype}, dtype},
        {"neg", {dtype}, dtype},
        {"mul", {dtype}, dtype, attr(AttrKey::kOther, 0.75)},
        {"silu", {dtype}, dtype},
        {"clamp", {dtype}, dtype, attr(AttrKey::kMin, 0.25)},
        {"pow", {dtype}, dtype, attr(AttrKey::kExponent, int64_t{3})},
        {"where", {Dtype::kBool, dtype, dtype}, dtype},
    };
    for (const Step& step : steps)
      for (int64_t count : kCounts) expect_alike(*device_, step, count);
  }
}

TEST_F(CudaSideBySideTest, MixDtypes) {
  constexpr Dtype kReals[] = {Dtype::kF32, Dtype::kF16, Dtype::kBF16};
  for (Dtype from : kReals)
    for (Dtype to : kReals)
      for (int64_t count : kCounts) {
        expect_alike(*device_, {"convert_element_type", {from}, to}, count);
        expect_alike(*device_, {"mul", {from, to}, from}, count);
      }
}

// One element, or one of a dim of size 1, is broadcast.
TEST_F(CudaSideBySideTest, ReadOneElementForAll) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16})
    for (const Dims& shape : {Dims{}, Dims{1, 1}}) {
      Window a(dtype, {3, 11}), b(dtype, shape), out(dtype, {3, 11});
      a.fill(special);
      b.fill(cts::fractions(1));
      expect_as_on_the_cpu(*device_, "mul", {&a, &b}, {&out});
      expect_as_on_the_cpu(*device_, "sub", {&b, &a}, {&out});
    }
}

// A copy must keep every bit pattern, including NaN patterns that arithmetic would change.
void expect_bits_kept(Device& cuda, Dtype dtype, const Dims& shape, Lie from, Lie to) {
  SCOPED_TRACE(std::string(dtype_name(dtype)) + " from " + std::to_string(static_cast<int>(from)) +
               " to " + std::to_string(static_cast<int>(to)));
  cpu::CpuDevice cpu;
  Window in(dtype, shape, from), got(dtype, shape, to), want(dtype, shape, to);
  uint32_t state = 1;
  for (std::byte& b : in.bytes()) {
    state = state * 1664525u + 1013904223u;
    b = dtype == Dtype::kBool ? std::byte(state >> 31) : std::byte(state >> 24);
  }
  for (Device* device : {static_cast<Device*>(&cpu), &cuda}) {
    const Status status = run_kernel(*device, "clone", {&in}, {device == &cpu ? &want : &got});
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(got.bytes(), want.bytes());
  EXPECT_EQ(elements(got), elements(in));
}

constexpr Lie kLies[] = {Lie::kDense,  Lie::kReversed, Lie::kGaps,
                         Lie::kPadded, Lie::kExpanded, Lie::kShifted};

TEST_F(CudaSideBySideTest, CopiesKeepBits) {
  const Dims shapes[] = {{},        {1},     {0, 4},   {7},         {3, 64},
                         {5, 3, 8}, {9, 70}, {70, 65}, {3, 33, 40}, {2, 9, 3, 16}};
  for (Dtype dtype :
       {Dtype::kBool, Dtype::kU8, Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64, Dtype::kC64})
    for (const Dims& shape : shapes)
      for (Lie from : kLies)
        for (Lie to : kLies)
          if (to != Lie::kExpanded) expect_bits_kept(*device_, dtype, shape, from, to);
}

// Orders that permute heads and rows, in which elements of a row stay contiguous, and orders that
// permute rows and elements of a head.
TEST_F(CudaSideBySideTest, CopiesOfPermutedDims) {
  cpu::CpuDevice cpu;
  for (Dtype dtype : {Dtype::kBF16, Dtype::kF32, Dtype::kF64, Dtype::kU8})
    for (const std::vector<size_t>& order :
         {std::vector<size_t>{1, 0, 2}, {0, 2, 1}, {2, 0, 1}, {2, 1, 0}}) {
      Window in(dtype, {3, 37, 72});
      in.fill(cts::whole_numbers(dtype, 1)).permute(order);
      Window got(dtype, in.shape()), want(dtype, in.shape());
      ASSERT_TRUE(run_kernel(*device_, "clone", {&in}, {&got}).ok());
      ASSERT_TRUE(run_kernel(cpu, "clone", {&in}, {&want}).ok());
      EXPECT_EQ(got.bytes(), want.bytes());
      EXPECT_EQ(elements(got), elements(in));
    }
}

}  // namespace
}  // namespace shw::runtime::cuda::side_by_side
