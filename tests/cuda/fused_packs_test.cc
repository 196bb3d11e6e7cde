// Packs in generated kernels: contiguous elements are moved several at a time, others one by one.
// The bits must equal those of the steps run one by one.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

#include "cuda/group_runs.h"
#include "runtime/buffer.h"
#include "runtime/collective/local.h"
#include "runtime/cuda/plugin/device.h"
#include "runtime/executor.h"
#include "unit/runtime/group_plans.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::runtime::cuda::group_runs {
namespace {

using testing::ProgramBuilder;

// The source of the only kernel of a plan.
std::string kernel_of(const std::shared_ptr<const Plan>& plan) {
  const auto texts = sources_of(testing::in_groups(*plan)->program);
  EXPECT_EQ(texts.size(), 1u);
  return texts.empty() ? "" : texts[0];
}
int count_of(const std::string& part, const std::string& text) {
  int count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// (x + y) · exp(x), all in one dtype.
std::shared_ptr<const Plan> product_plan(Dtype dtype, const Dims& shape) {
  ProgramBuilder b({{"a", 1}});
  const TensorType type = row_major(dtype, shape);
  const ValueId x = b.input("x", dtype, shape, Layout{}), y = b.input("y", dtype, shape, Layout{});
  const ValueId sum = b.compute("add", {x, y}, type);
  const ValueId e = b.compute("exp", {x}, type);
  b.output("out", b.compute("mul", {sum, e}, type), shape, Layout{});
  return b.finish();
}

TEST(CudaPacks, OneInstructionMovesSixteenBytes) {
  for (const auto& [dtype, type] : {std::pair{Dtype::kBF16, "pack<4, 8>"},
                                    {Dtype::kF32, "pack<1, 4>"},
                                    {Dtype::kF64, "pack<2, 2>"}}) {
    const auto plan = product_plan(dtype, {64, 256});
    const std::string text = kernel_of(plan);
    EXPECT_EQ(count_of(type, text), 3) << text;
    EXPECT_EQ(count_of("_element<", text), 0) << text;
    expect_launches(expect_same_bits(plan), 1);
  }
}
TEST(CudaPacks, SizesNeedNotBeMultiples) {
  for (const Dims& shape : {Dims{127, 131}, Dims{126, 131}, Dims{126, 134}, Dims{128, 129}})
    expect_launches(expect_same_bits(product_plan(Dtype::kBF16, shape)), 1);
  EXPECT_EQ(count_of("_pack<", kernel_of(product_plan(Dtype::kBF16, {127, 131}))), 0);
  EXPECT_EQ(count_of("pack<4, 4>", kernel_of(product_plan(Dtype::kBF16, {126, 134}))), 3);
}

// Windows that begin at an odd element, have gaps, or whose adjacent elements are not adjacent in
// memory.
TEST(CudaPacks, WindowsThatAreNotAlignedAreReadByElements) {
  ProgramBuilder b({{"a", 1}});
  const Dims whole{512, 64}, part{512, 32};
  const auto bf16 = [](const Dims& shape, const Dims& strides) {
    return TensorType{shape, strides, Dtype::kBF16};
  };
  const ValueId x = b.input("x", Dtype::kBF16, whole, Layout{}),
                y = b.input("y", Dtype::kBF16, {514, 33}, Layout{});
  const TensorType out = row_major(Dtype::kBF16, part);
  const ValueId aligned = b.compute(
      "mul", {b.view(x, bf16(part, {64, 1}), 32), b.view(x, bf16(part, {64, 1}), 2)}, out);
  const ValueId turned = b.compute("add", {aligned, b.view(x, bf16(part, {1, 64}))}, out);
  const ValueId other = b.compute("sub", {turned, b.view(y, bf16(part, {33, 1}))}, out);
  const ValueId doubled = b.compute("mul", {other, b.view(x, bf16(part, {64, 2}))}, out);
  b.output("out", doubled, part, Layout{});
  const auto plan = b.finish();
  const std::string text = kernel_of(plan);
  // Every other element is in the pack of both; the last of them is the last of the window.
  EXPECT_EQ(count_of("pack<4, 8>(", text), 2) << text;
  EXPECT_EQ(count_of("read_element<", text), 4) << text;
  expect_launches(expect_same_bits(plan), 1);
}

TEST(CudaPacks, WhatUnitsShareIsReadOnce) {
  ProgramBuilder b({{"a", 1}});
  const Dims whole{512, 48};
  const ValueId x = b.input("x", Dtype::kBF16, whole, Layout{}),
                row = b.input("row", Dtype::kBF16, {48}, Layout{}),
                column = b.input("column", Dtype::kF32, {512, 1}, Layout{}),
                one = b.input("one", Dtype::kF32, {1}, Layout{});
  const TensorType f32 = row_major(Dtype::kF32, whole);
  const ValueId scaled = b.compute("mul", {x, column}, f32);
  const ValueId moved = b.compute("add", {scaled, row}, f32);
  const ValueId out = b.compute("sub", {moved, one}, row_major(Dtype::kBF16, whole));
  b.output("out", out, whole, Layout{});
  const auto plan = b.finish();
  const std::string text = kernel_of(plan);
  EXPECT_EQ(count_of("pack<4, 8>(", text), 3) << text;
  EXPECT_LT(text.find("read_element<1>"), text.find("unsigned v")) << text;
  EXPECT_LT(text.rfind("read_element<1>"), text.find("unsigned v")) << text;
  expect_launches(expect_same_bits(plan), 1);
}

// A row of 6 elements is no multiple of a pack of 4, so positions are computed for each element.
TEST(CudaPacks, RowsMayBeNarrowerThanPacks) {
  for (const int64_t columns : {6, 2, 12}) {
    ProgramBuilder b({{"a", 1}});
    const Dims whole{49152 / columns, columns};
    const ValueId x = b.input("x", Dtype::kF32, whole, Layout{}),
                  row = b.input("row", Dtype::kF32, {columns}, Layout{}),
                  column = b.input("column", Dtype::kF32, {49152 / columns, 1}, Layout{});
    const TensorType f32 = row_major(Dtype::kF32, whole);
    const ValueId moved = b.compute("add", {b.compute("mul", {x, column}, f32), row}, f32);
    b.output("out", moved, whole, Layout{});
    expect_launches(expect_same_bits(b.finish()), 1);
  }
}

// Truth values, whole numbers and floats of several widths in one kernel.
TEST(CudaPacks, DtypesMayDiffer) {
  ProgramBuilder b({{"a", 1}});
  const Dims whole{1024, 24};
  const ValueId x = b.input("x", Dtype::kBF16, whole, Layout{}),
                n = b.input("n", Dtype::kI64, whole, Layout{}),
                d = b.input("d", Dtype::kF64, whole, Layout{});
  const ValueId wide = b.compute("convert_element_type", {x}, row_major(Dtype::kF32, whole));
  const ValueId over =
      b.compute("gt", {n, {}}, row_major(Dtype::kBool, whole), with(AttrKey::kOther, int64_t{3}));
  const ValueId chosen = b.compute("where", {over, wide, x}, row_major(Dtype::kF32, whole));
  const ValueId sum = b.compute("add", {chosen, d}, row_major(Dtype::kF64, whole));
  const ValueId narrow = b.compute("convert_element_type", {sum}, row_major(Dtype::kF16, whole));
  b.output("over", over, whole, Layout{});
  b.output("sum", sum, whole, Layout{});
  b.output("narrow", narrow, whole, Layout{});
  const auto plan = b.finish();
  const std::string text = kernel_of(plan);
  EXPECT_EQ(count_of("_element<", text), 0) << text;
  expect_launches(expect_same_bits(plan), 1);
}

// Complex numbers are pairs of f32. They are computed from bf16 elements, of which four pairs are
// read at a time.
TEST(CudaPacks, PairsLieInPacks) {
  ProgramBuilder b({{"a", 1}});
  const Dims reals{1024, 64}, pairs{1024, 32};
  const ValueId x = b.input("x", Dtype::kBF16, reals, Layout{}),
                turn = b.input("turn", Dtype::kC64, pairs, Layout{});
  const ValueId wide = b.compute("convert_element_type", {x}, row_major(Dtype::kF32, reals));
  const TensorType c64 = row_major(Dtype::kC64, pairs);
  const ValueId turned = b.compute("mul", {b.view(wide, c64), turn}, c64);
  const ValueId out =
      b.compute("convert_element_type", {b.view(turned, row_major(Dtype::kF32, reals))},
                row_major(Dtype::kBF16, reals));
  b.output("out", out, reals, Layout{});
  b.output("turned", turned, pairs, Layout{});
  const auto plan = b.finish();
  const std::string text = kernel_of(plan);
  EXPECT_EQ(count_of("_element<", text), 0) << text;
  EXPECT_EQ(count_of("pack<4, 8>(", text), 2) << text;
  expect_launches(expect_same_bits(plan), 1);
}

// The halves of rows are swapped. A pack lies in one half unless the cut is within a pack.
TEST(CudaPacks, PartsAreChosenForAPackAtOnce) {
  for (const int64_t first : {16, 8, 6, 1}) {
    ProgramBuilder b({{"a", 1}});
    const Dims whole{128, 4, 32};
    const ValueId x = b.input("x", Dtype::kBF16, whole, Layout{}),
                  c = b.input("c", Dtype::kBF16, {4, 32}, Layout{});
    const auto piece = [&](int64_t size) { return Dims{128, 4, size}; };
    const auto view = [&](int64_t from, int64_t size) {
      return b.view(x, {piece(size), {128, 32, 1}, Dtype::kBF16}, 2 * from);
    };
    const ValueId negative =
        b.compute("neg", {view(first, 32 - first)}, row_major(Dtype::kBF16, piece(32 - first)));
    const ValueId swapped =
        b.compute("cat", {negative, view(0, first)}, row_major(Dtype::kBF16, whole),
                  with(AttrKey::kDim, int64_t{-1}));
    const ValueId out = b.compute("mul", {swapped, c}, row_major(Dtype::kBF16, whole));
    // A cut along a dim before the last one never divides a pack.
    Attrs rows = with(AttrKey::kDim, int64_t{1});
    rows.set(AttrKey::kStart, int64_t{1});
    rows.set(AttrKey::kEnd, int64_t{3});
    const ValueId laid = b.compute(
        "slice_scatter", {out, b.view(x, {{128, 2, 32}, {128, 32, 1}, Dtype::kBF16}, 128)},
        row_major(Dtype::kBF16, whole), rows);
    b.output("out", out, whole, Layout{});
    b.output("laid", laid, whole, Layout{});
    const auto plan = b.finish();
    const std::string text = kernel_of(plan);
    EXPECT_EQ(count_of("_element<4>", text) == 0, first % 8 == 0) << text;
    expect_launches(expect_same_bits(plan), 1);
  }
}

// An operand that is a window of its own input, with permuted dims, broadcast dims, gaps, or an
// offset.
ValueId random_operand(ProgramBuilder& b, const Dims& shape, Dtype dtype, std::mt19937& random) {
  const auto one_in = [&](unsigned n) { return random() % n == 0; };
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (one_in(3)) std::ranges::shuffle(order, random);
  Dims strides(shape.size(), 0);
  int64_t elements = one_in(4) ? 2 : 1;
  for (size_t d = shape.size(); d-- > 0;) {
    if (one_in(5)) continue;
    strides[order[d]] = elements;
    elements *= shape[order[d]] + (one_in(4) ? 1 : 0);
  }
  const int64_t begin = one_in(2) ? 0 : static_cast<int64_t>(random() % 9);
  const auto name = "input" + std::to_string(random());
  const ValueId whole = b.input(name, dtype, {elements + begin}, Layout{});
  return b.view(whole, {shape, strides, dtype}, begin * dtype_size(dtype));
}
TEST(CudaPacks, WindowsOfAllKindsHaveTheSameBits) {
  int in_packs = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    constexpr Dtype kDtypes[] = {Dtype::kBF16, Dtype::kF32, Dtype::kF64, Dtype::kI32};
    constexpr int64_t kSizes[] = {1, 2, 3, 4, 6, 8, 10, 12, 16, 20, 24, 32};
    const Dtype dtype = kDtypes[random() % 4];
    Dims shape{1, kSizes[random() % 12], kSizes[random() % 12]};
    shape[0] = 1 + 24000 / (shape[1] * shape[2]);
    ProgramBuilder b({{"a", 1}});
    const TensorType type = row_major(dtype, shape);
    ValueId x = random_operand(b, shape, dtype, random);
    for (const char* op : {"mul", "add", "sub"})
      x = b.compute(op, {x, random_operand(b, shape, dtype, random)}, type);
    // Concatenates x with another operand along any dim.
    const size_t dim = random() % 3;
    const int64_t cut = 1 + static_cast<int64_t>(random() % 16);
    Dims part = shape, sum = shape;
    part[dim] = cut;
    sum[dim] += cut;
    const ValueId other =
        b.compute("neg", {random_operand(b, part, dtype, random)}, row_major(dtype, part));
    const ValueId both = b.compute("cat", {x, other}, row_major(dtype, sum),
                                   with(AttrKey::kDim, static_cast<int64_t>(dim)));
    const ValueId out =
        b.compute("mul", {both, random_operand(b, sum, dtype, random)}, row_major(dtype, sum));
    if (random() % 2 == 0) b.output("x", x, shape, Layout{});
    b.output("out", out, sum, Layout{});
    const auto plan = testing::in_groups(*b.finish());
    for (const std::string& text : sources_of(plan->program)) in_packs += count_of("_pack<", text);
    const Ran together = run(plan, true), alone = run(plan, false);
    ASSERT_EQ(together.results.size(), alone.results.size());
    for (size_t i = 0; i < alone.results.size(); ++i)
      EXPECT_EQ(together.results[i].data, alone.results[i].data);
  }
  EXPECT_GT(in_packs, 20);
}

// A row's deviation from its mean, and results for which the row's elements are read again.
std::shared_ptr<const Plan> deviation_plan(Dtype dtype, int64_t columns) {
  ProgramBuilder b({{"a", 1}});
  const int64_t rows = std::max<int64_t>(64, 65536 / columns);
  const Dims whole{rows, columns}, row{rows, 1};
  const TensorType f32 = row_major(Dtype::kF32, whole), f32_row = row_major(Dtype::kF32, row);
  const ValueId x = b.input("x", dtype, whole, Layout{});
  const ValueId wide = b.compute("exp", {x}, f32);
  const ValueId mean = b.compute("mean", {wide}, f32_row, along({1}));
  const ValueId apart = b.compute("sub", {wide, mean}, f32);
  const ValueId most = b.compute("amax", {apart}, f32_row, along({1}));
  const ValueId out = b.compute("div", {apart, most}, row_major(dtype, whole));
  b.output("mean", mean, row, Layout{});
  b.output("out", out, whole, Layout{});
  return b.finish();
}
// Blocks of these fakes have 16 threads. The cases are rows with less than one pack for each
// thread, rows whose last turn is not full, rows that do not fit in registers, and rows for which
// the block has twice the threads.
TEST(CudaPacks, RowsOfAnyLength) {
  for (const int64_t columns : {64, 72, 200, 250, 255, 512, 1000, 4096, 10008})
    for (const Dtype dtype : {Dtype::kBF16, Dtype::kF32}) {
      SCOPED_TRACE(columns);
      expect_launches(expect_same_bits(deviation_plan(dtype, columns)), 1);
    }
}
TEST(CudaPacks, ARowOfPacksKeepsThemInRegisters) {
  const std::string text = kernel_of(deviation_plan(Dtype::kBF16, 2048));
  EXPECT_EQ(count_of("pack<4, 8>(", text), 2) << text;
  EXPECT_EQ(count_of("kept0[1][8]", text), 1) << text;
  EXPECT_EQ(count_of("turn < 1;", text), 3) << text;
}

// A caller's memory need only be aligned to its elements.
TEST(CudaPacks, ACallersMemoryMayBeginAnywhere) {
  const auto plan = testing::in_groups(*product_plan(Dtype::kBF16, {128, 128}));
  const auto opened = CudaDevice::open(testing::cuda_options());
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const std::shared_ptr<Device> device = *opened;
  constexpr int64_t kBytes = 128 * 128 * 2;
  std::vector<std::vector<std::byte>> results;
  for (const int64_t shift : {0, 2, 8, 14}) {
    auto executor = Executor::create(
        plan, device, LocalHub::create(*Mesh::create(plan->program.mesh))->provider(0));
    ASSERT_TRUE(executor.ok()) << executor.status().message();
    const auto memory = Buffer::allocate(device, {3 * (kBytes + 256), 256});
    ASSERT_TRUE(memory.ok());
    std::vector<BufferRef> buffers;
    for (int64_t i = 0; i < 3; ++i) {
      auto* at = static_cast<std::byte*>((*memory)->data()) + i * (kBytes + 256) + shift;
      buffers.push_back(Buffer::borrow(at, kBytes, {}));
      const HostTensor values = testing::make_tensor(Dtype::kBF16, {128, 128}, [&](int64_t k) {
        return static_cast<double>((k * 7 + i) % 19) / 8 - 1;
      });
      ASSERT_TRUE(device->copy(at, values.data.data(), kBytes, CopyKind::kHostToDevice).ok());
    }
    std::vector<BufferRef> outputs{buffers[2]};
    const auto run =
        (*executor)->enqueue(plan->program.entries[0], std::span(buffers).first(2), outputs);
    ASSERT_TRUE(run.ok()) << run.status().message();
    ASSERT_TRUE(run->wait().ok());
    results.emplace_back(static_cast<size_t>(kBytes));
    ASSERT_TRUE(
        device->copy(results.back().data(), outputs[0]->data(), kBytes, CopyKind::kDeviceToHost)
            .ok());
    EXPECT_EQ(results.back(), results[0]) << shift;
  }
}

}  // namespace
}  // namespace shw::runtime::cuda::group_runs
