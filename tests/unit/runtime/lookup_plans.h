// Programs whose elements are chosen by index tensors, inside fused groups: losses and their
// gradients as frameworks trace them, and steps that must stay outside groups.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "runtime/virtual_ranks.h"
#include "unit/runtime/group_plans.h"
#include "unit/runtime/program_builder.h"
#include "unit/runtime/tensors.h"

namespace shw::testing {

inline Attrs with(AttrKey key, AttrValue value, Attrs attrs = {}) {
  attrs.set(key, std::move(value));
  return attrs;
}
inline Attrs along(int64_t dim) {
  return with(AttrKey::kKeepDim, true, with(AttrKey::kDims, std::vector<int64_t>{dim}));
}

constexpr int64_t kIgnored = -100;

struct LossPlan {
  Dtype dtype = Dtype::kBF16, index = Dtype::kI64;
  int64_t rows = 64, columns = 1024;
  int64_t dim = 1;  // the class dim, as passed to gather and scatter
};

// The cross-entropy of logits [rows, columns] with labels, some of which are ignored, and its
// gradient for the incoming gradient `seed`.
inline std::shared_ptr<const Plan> loss_plan(const LossPlan& of) {
  ProgramBuilder b({{"a", 1}});
  const Dims whole{of.rows, of.columns}, row{of.rows, 1}, flat{of.rows};
  const TensorType wide = row_major(Dtype::kF32, whole), wide_row = row_major(Dtype::kF32, row),
                   narrow = row_major(of.dtype, whole), narrow_row = row_major(of.dtype, row),
                   each = row_major(of.dtype, flat), one = row_major(of.dtype, {});
  const ValueId x = b.input("logits", of.dtype, whole, Layout{}),
                labels = b.input("labels", of.index, flat, Layout{}),
                seed = b.input("seed", of.dtype, {}, Layout{});
  const ValueId logits = b.compute("convert_element_type", {x}, wide);
  const ValueId most = b.compute("amax", {logits}, wide_row, along(1));
  const ValueId less = b.compute("sub", {logits, most}, wide);
  const ValueId sum = b.compute("sum", {b.compute("exp", {less}, wide)}, wide_row, along(1));
  const ValueId log = b.compute("log", {sum}, wide_row);
  const ValueId logs =
      b.compute("convert_element_type", {b.compute("sub", {less, log}, wide)}, narrow);
  const Attrs ignored = with(AttrKey::kOther, kIgnored), dim = with(AttrKey::kDim, of.dim);
  const ValueId zero = b.compute("scalar_tensor", {}, row_major(of.index, {}),
                                 with(AttrKey::kFillValue, int64_t{0}));
  const ValueId none = b.compute("scalar_tensor", {}, one, with(AttrKey::kFillValue, int64_t{0}));
  const ValueId seen = b.compute("ne", {labels}, row_major(Dtype::kBool, flat), ignored);
  const ValueId safe = b.compute("where", {seen, labels, zero}, row_major(of.index, flat));
  const ValueId picked =
      b.compute("gather", {logs, b.view(safe, row_major(of.index, row))}, narrow_row, dim);
  const ValueId loss =
      b.compute("where", {seen, b.compute("neg", {b.view(picked, each)}, each), none}, each);
  const ValueId count = b.compute("convert_element_type",
                                  {b.compute("sum", {seen}, row_major(Dtype::kI64, {}))}, one);
  b.output("loss", b.compute("div", {b.compute("sum", {loss}, one), count}, one), {}, Layout{});

  const ValueId scale = b.compute("div", {seed, count}, one);
  const ValueId column = b.view(labels, row_major(of.index, row));
  const ValueId seen_too = b.compute("ne", {column}, row_major(Dtype::kBool, row), ignored);
  const ValueId place = b.compute("where", {seen_too, column, zero}, row_major(of.index, row));
  const ValueId zeros =
      b.compute("full_like", {logs}, narrow, with(AttrKey::kFillValue, int64_t{0}));
  const ValueId hot =
      b.compute("scatter", {zeros, place, {}}, narrow, with(AttrKey::kSrc, -1.0, dim));
  const ValueId weight = b.compute("where", {seen_too, scale, none}, narrow_row);
  const ValueId gradient =
      b.compute("convert_element_type", {b.compute("mul", {hot, weight}, narrow)}, wide);
  const ValueId softmax = b.compute("exp", {b.compute("convert_element_type", {logs}, wide)}, wide);
  const ValueId total = b.compute("sum", {gradient}, wide_row, along(1));
  const ValueId back = b.compute("sub", {gradient, b.compute("mul", {softmax, total}, wide)}, wide);
  b.output("gradient", b.compute("convert_element_type", {back}, narrow), whole, Layout{});
  return b.finish();
}

// Gather and scatter along the middle dim of [64, 8, 64]. In each line, one element is read and one
// is written, both at the position that an index gives. Half of the written lines are read
// afterwards.
inline std::shared_ptr<const Plan> middle_plan(Dtype dtype, bool has_source) {
  ProgramBuilder b({{"a", 1}});
  const TensorType whole = row_major(dtype, {64, 8, 64}), line = row_major(dtype, {64, 1, 64});
  const ValueId x = b.input("x", dtype, whole.shape, Layout{}),
                index = b.input("index", Dtype::kI64, line.shape, Layout{});
  const Attrs dim = with(AttrKey::kDim, int64_t{-2});
  const ValueId e = b.compute("neg", {x}, whole);
  const ValueId picked = b.compute("gather", {e, index}, line, dim);
  const ValueId source = has_source ? b.compute("neg", {picked}, line) : ValueId{};
  const ValueId written = b.compute("scatter", {e, index, source}, whole,
                                    has_source ? dim : with(AttrKey::kSrc, 3.5, dim));
  b.output("picked", picked, line.shape, Layout{});
  const TensorType half{{64, 8, 32}, {512, 64, 1}, dtype};
  b.output("written", b.compute("neg", {b.view(written, half)}, row_major(dtype, half.shape)),
           half.shape, Layout{});
  return b.finish();
}

// Writes one element into each row of a tensor filled with `fill`, scales the rows, reduces them,
// and subtracts the result from x.
inline std::shared_ptr<const Plan> one_hot_plan(double fill, const char* reduction) {
  ProgramBuilder b({{"a", 1}});
  const TensorType whole = row_major(Dtype::kF32, {64, 1024}),
                   row = row_major(Dtype::kF32, {64, 1});
  const ValueId x = b.input("x", Dtype::kF32, whole.shape, Layout{}),
                source = b.input("source", Dtype::kF32, row.shape, Layout{}),
                scale = b.input("scale", Dtype::kF32, row.shape, Layout{}),
                index = b.input("index", Dtype::kI64, row.shape, Layout{});
  const ValueId same = b.compute("full_like", {x}, whole, with(AttrKey::kFillValue, fill));
  const ValueId one =
      b.compute("scatter", {same, index, source}, whole, with(AttrKey::kDim, int64_t{1}));
  const ValueId many = b.compute("reciprocal", {b.compute("floor", {scale}, row)}, row);
  const ValueId scaled = b.compute("mul", {one, many}, whole);
  const ValueId reduced = b.compute(reduction, {scaled}, row, along(1));
  b.output("reduced", reduced, row.shape, Layout{});
  b.output("less", b.compute("sub", {x, reduced}, whole), whole.shape, Layout{});
  return b.finish();
}

// Two ranks, each with half of the columns that the indices point at. The output "picked" stacks
// what each rank reads, one above the other.
inline std::shared_ptr<const Plan> halves_plan() {
  ProgramBuilder b({{"a", 2}});
  const Layout columns = *parse_layout("S(1)", 1), above = *parse_layout("S(0)", 1),
               both = *parse_layout("R", 1);
  const Dims whole{64, 1024};
  const TensorType half = row_major(Dtype::kF32, {64, 512}), line = row_major(Dtype::kF32, {64, 1});
  const ValueId x = b.input("x", Dtype::kF32, whole, columns),
                index = b.input("index", Dtype::kI64, {64, 1}, both);
  Attrs part = with(AttrKey::kDim, int64_t{1});
  part.set(AttrKey::kSize, std::vector<int64_t>{64, 1024});
  part.set(AttrKey::kCuts, std::vector<int64_t>{0, 1});
  const ValueId e = b.compute("abs", {x}, half);
  const ValueId picked = b.compute("gather", {e, index}, line, part);
  const ValueId doubled = b.compute("neg", {picked}, line);
  const ValueId written = b.compute("scatter", {e, index, doubled}, half, part);
  b.output("picked", picked, {128, 1}, above);
  b.output("written", b.compute("neg", {written}, half), whole, columns);
  return b.finish();
}

// Gives the value of element i of an integer input: a label or an index.
using Labels = std::function<double(int64_t)>;

inline Result<std::vector<runtime::HostTensor>> run_with(const std::shared_ptr<const Plan>& plan,
                                                         const Labels& labels, bool fuse,
                                                         const runtime::RankBackend& backend = {}) {
  std::vector<runtime::HostTensor> inputs;
  for (const PortId id : plan->program.entries[0].inputs) {
    const TensorType& type = plan->program.ports[id].global;
    const bool whole = type.dtype == Dtype::kI64 || type.dtype == Dtype::kI32;
    inputs.push_back(make_tensor(type.dtype, type.shape, [&](int64_t i) {
      return whole ? labels(i) : static_cast<double>((i * 37 + id.v * 11) % 101) / 25.0 - 2.0;
    }));
  }
  std::vector<runtime::HostTensorView> views;
  for (const runtime::HostTensor& t : inputs) views.push_back(view_of(t));
  runtime::ExecutorOptions options;
  options.fuse = fuse;
  SHW_ASSIGN_OR_RETURN(const auto ranks, runtime::VirtualRanks::create(plan, options, backend));
  return ranks->run("step", views);
}

inline void expect_bits(const std::vector<runtime::HostTensor>& given,
                        const std::vector<runtime::HostTensor>& expected) {
  ASSERT_EQ(given.size(), expected.size());
  for (size_t i = 0; i < given.size(); ++i)
    EXPECT_EQ(given[i].data, expected[i].data) << "output " << i;
}

// Expects that the plan with steps in groups gives the same bits as with steps run one after
// another.
inline void expect_same_bits(const std::shared_ptr<const Plan>& plan, const Labels& labels,
                             const runtime::RankBackend& backend = {}) {
  const auto together = run_with(in_groups(*plan), labels, true, backend);
  const auto alone = run_with(plan, labels, false, backend);
  ASSERT_TRUE(together.ok()) << together.status().message();
  ASSERT_TRUE(alone.ok()) << alone.status().message();
  expect_bits(*together, *alone);
}

}  // namespace shw::testing
