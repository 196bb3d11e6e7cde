// gather and scatter in fused groups on the CPU.
#include "runtime/fusion/group.h"
#include "unit/runtime/lookup_plans.h"

namespace shw::runtime::fused_lookups {
namespace {

using namespace shw::testing;
using Kernels = std::vector<std::string>;

double label(int64_t row) {
  return row % 5 == 3 ? static_cast<double>(kIgnored) : static_cast<double>(row * 37 % 1024);
}

TEST(FusedLookups, ALossIsTwoGroupsThatKeepOneNumberARow) {
  const LossPlan of;
  const auto plan = in_groups(*loss_plan(of));
  const auto groups = groups_of(plan->program);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0], (Kernels{"convert_element_type", "amax", "sub", "exp", "sum", "log", "sub",
                                "convert_element_type", "ne", "where", "gather", "neg", "where"}));
  EXPECT_EQ(groups[1], (Kernels{"convert_element_type", "sub", "sub", "convert_element_type", "ne",
                                "where", "full_like", "scatter", "where", "mul",
                                "convert_element_type", "convert_element_type", "exp", "sum", "mul",
                                "sub", "convert_element_type", "clone"}));
  for (const ProgramStorage& s : plan->program.storages) {
    if (s.kind == StorageKind::kArena) {
      EXPECT_LE(s.bytes, of.rows * 8);
    }
  }
}

TEST(FusedLookups, ALossHasTheBitsOfItsSteps) {
  for (const Dtype dtype : {Dtype::kBF16, Dtype::kF16, Dtype::kF32})
    for (const Dtype index : {Dtype::kI64, Dtype::kI32})
      for (const int64_t dim : {1, -1}) {
        SCOPED_TRACE(std::string(dtype_name(dtype)) + " " + std::string(dtype_name(index)) +
                     " dim " + std::to_string(dim));
        expect_same_bits(loss_plan({dtype, index, 64, 1024, dim}), label);
      }
}

double below_eight(int64_t i) { return static_cast<double>((i * 5 + i / 64) % 8); }

TEST(FusedLookups, LinesNeedNotBeTheLastDim) {
  for (const bool has_source : {false, true}) {
    const auto plan = middle_plan(Dtype::kF32, has_source);
    Kernels expected{"neg", "gather", "neg", "scatter", "clone", "neg", "clone"};
    if (!has_source) expected.erase(expected.begin() + 2);
    EXPECT_EQ(groups_of(in_groups(*plan)->program), (std::vector<Kernels>{expected}));
    expect_same_bits(plan, below_eight);
  }
}

// If another rank has an element, this rank reads 0 and writes nothing there.
TEST(FusedLookups, PiecesKnowWhereTheyLie) {
  const auto plan = halves_plan();
  EXPECT_EQ(groups_of(in_groups(*plan)->program),
            (std::vector<Kernels>{{"abs", "gather", "neg", "scatter", "clone", "neg", "clone"}}));
  const Labels anywhere = [](int64_t row) { return static_cast<double>(row * 37 % 1024); };
  expect_same_bits(plan, anywhere);
  const auto ran = run_with(in_groups(*plan), anywhere, true);
  ASSERT_TRUE(ran.ok());
  const std::vector<double> picked = values_of((*ran)[0]);
  for (size_t row = 0; row < 64; ++row) {
    const bool is_on_first = row * 37 % 1024 < 512;
    EXPECT_EQ(picked[row + (is_on_first ? 64 : 0)], 0) << row;
  }
}

TEST(FusedLookups, AScatterOverwritesWhatNobodyReadsAfterIt) {
  for (const bool read_after : {false, true}) {
    ProgramBuilder b({{"a", 1}});
    const TensorType whole = row_major(Dtype::kF32, {64, 1024});
    const ValueId x = b.input("x", Dtype::kF32, whole.shape, Layout{}),
                  index = b.input("index", Dtype::kI64, {64, 1}, Layout{});
    const ValueId e = b.compute("abs", {x}, whole);
    const ValueId written = b.compute("scatter", {e, index, {}}, whole,
                                      with(AttrKey::kSrc, 1.5, with(AttrKey::kDim, int64_t{1})));
    const ValueId sum = b.compute("sub", {written, read_after ? e : x}, whole);
    b.output("sum", sum, whole.shape, Layout{});
    const auto plan = b.finish();
    const auto grouped = in_groups(*plan);
    const Program& p = grouped->program;
    ASSERT_EQ(p.fused_groups.size(), 1u);
    const SlicedGroup group = slice_group(p, count_uses(p), p.fused_groups[0]);
    const std::vector<FusedOperand>& operands = group.members[1].operands;
    ASSERT_EQ(p.steps[group.members[1].step].kernel, "scatter");
    EXPECT_EQ(operands[0].temporary == operands.back().temporary, !read_after);
    expect_same_bits(plan, below_eight);
  }
}

void expect_named(const std::shared_ptr<const Plan>& plan, const Labels& labels,
                  const std::string& kernel, const std::string& says) {
  for (const bool fuse : {false, true}) {
    const Status status = run_with(in_groups(*plan), labels, fuse).status();
    EXPECT_EQ(status.code(), Code::kOutOfRange);
    EXPECT_EQ(status.node_name(), kernel) << fuse;
    EXPECT_GE(status.node_index(), 0);
    EXPECT_EQ(status.message(), says);
  }
}

TEST(FusedLookups, AnIndexThatDoesNotExistIsAnErrorOfItsStep) {
  const auto of_row = [](int64_t row, double index) {
    return [=](int64_t i) { return i == row ? index : 5.0; };
  };
  expect_named(loss_plan({}), of_row(17, 1024), "gather", "index 1024 into a table of 1024 rows");
  expect_named(loss_plan({}), of_row(17, -1), "gather", "index -1 into a table of 1024 rows");
  expect_named(halves_plan(), of_row(63, 1024), "gather", "index 1024 into a table of 1024 rows");
  ProgramBuilder b({{"a", 1}});  // written alone
  const TensorType whole = row_major(Dtype::kF32, {64, 1024});
  const ValueId x = b.input("x", Dtype::kF32, whole.shape, Layout{}),
                index = b.input("index", Dtype::kI64, {64, 1}, Layout{});
  Attrs attrs = with(AttrKey::kDim, int64_t{1});
  attrs.set(AttrKey::kSrc, 1.0);
  const ValueId written =
      b.compute("scatter", {b.compute("abs", {x}, whole), index, {}}, whole, attrs);
  b.output("written", b.compute("neg", {written}, whole), whole.shape, Layout{});
  expect_named(b.finish(), of_row(63, -100), "scatter", "index -100 into a table of 1024 rows");
}

}  // namespace
}  // namespace shw::runtime::fused_lookups
