// Grouped products (grouped_mm), whole and as the parts of ranks of a mesh.
#include "cts/kernel_test.h"

namespace shw::cts {
namespace {

using GroupedTest = KernelTest;

// The sum of term(k) for k from `begin` to `end`.
Number sum_of(int64_t begin, int64_t end, const std::function<Number(int64_t)>& term) {
  Number sum = 0;
  for (int64_t k = begin; k < end; ++k) sum += term(k);
  return sum;
}

// Three groups, of which the second is empty, and elements after the last group.
constexpr int64_t kEnds[] = {70, 70, 81};
constexpr int64_t kRagged = 85;
int64_t begin_of(int64_t group) { return group == 0 ? 0 : kEnds[group - 1]; }
int64_t group_of(int64_t place) {
  int64_t g = 0;
  while (g < 3 && place >= kEnds[g]) ++g;
  return g;
}
Window offsets(Dtype dtype = Dtype::kI32) {
  Window ends(dtype, {3}, Lie::kGaps);
  ends.fill([](int64_t i) { return static_cast<double>(kEnds[i]); });
  return ends;
}

constexpr Dtype kTypes[] = {Dtype::kF32, Dtype::kF64, Dtype::kBF16};

TEST_P(GroupedTest, GroupsOfRows) {
  for (Dtype dtype : kTypes)
    for (Lie lie : kWritable) {
      Window a(dtype, {kRagged, 19}, lie), b(dtype, {3, 19, 66}, lie),
          out(dtype, {kRagged, 66}, lie);
      a.fill(whole_numbers(dtype));
      b.fill(whole_numbers(dtype, 1));
      const Window ends = offsets();
      run_ok({"grouped_mm", {&a, &b, &ends}, {&out}});
      expect_elements(out, [&](const Index& i) -> Number {
        const int64_t g = group_of(i[0]);
        if (g == 3) return 0;
        return sum_of(0, 19, [&](int64_t k) { return a.get({i[0], k}) * b.get({g, k, i[1]}); });
      });
    }
}

TEST_P(GroupedTest, GroupsOfColumns) {
  for (Dtype dtype : kTypes) {
    Window a(dtype, {3, 5, 19}, Lie::kReversed), b(dtype, {19, kRagged}, Lie::kPadded),
        out(dtype, {5, kRagged}, Lie::kGaps);
    a.fill(whole_numbers(dtype));
    b.fill(whole_numbers(dtype, 1));
    const Window ends = offsets(Dtype::kI64);
    run_ok({"grouped_mm", {&a, &b, &ends}, {&out}});
    expect_elements(out, [&](const Index& i) -> Number {
      const int64_t g = group_of(i[1]);
      if (g == 3) return 0;
      return sum_of(0, 19, [&](int64_t k) { return a.get({g, i[0], k}) * b.get({k, i[1]}); });
    });
  }
}

TEST_P(GroupedTest, GroupsOfTerms) {
  for (Dtype dtype : kTypes) {
    Window a(dtype, {5, kRagged}, Lie::kReversed), b(dtype, {kRagged, 7}, Lie::kPadded),
        out(dtype, {3, 5, 7}, Lie::kGaps);
    a.fill(whole_numbers(dtype));
    b.fill(whole_numbers(dtype, 1));
    const Window ends = offsets();
    run_ok({"grouped_mm", {&a, &b, &ends}, {&out}});
    expect_elements(out, [&](const Index& i) {
      return sum_of(begin_of(i[0]), kEnds[i[0]], [&](int64_t k) {
        return a.get({i[1], k}) * b.get({k, i[2]});
      });
    });
  }
}

// Four groups on two ranks, two groups each. An operand with a group dim is the rank's part.
Attrs cut_in_two(const Dims& whole) {
  Attrs attrs;
  attrs.set(AttrKey::kSize, std::vector<int64_t>(whole.begin(), whole.end()));
  attrs.set(AttrKey::kCuts, std::vector<int64_t>{0, 0});
  return attrs;
}

TEST_P(GroupedTest, ProductsOfEachGroupOfARank) {
  for (int64_t rank : {0, 1})
    for (int64_t whole : {4, 3}) {  // with three groups the second rank has one group and padding
      Window a(Dtype::kF32, {2, 5, 6}), b(Dtype::kF32, {2, 6, 7}), out(Dtype::kF32, {2, 5, 7});
      a.fill(whole_numbers(Dtype::kF32));
      b.fill(whole_numbers(Dtype::kF32, 1));
      run_ok({"grouped_mm", {&a, &b}, {&out}, cut_in_two({whole, 5, 6}), "x=2", rank});
      expect_elements(out, [&](const Index& i) -> Number {
        if (2 * rank + i[0] >= whole) return 0;
        return sum_of(0, 6, [&](int64_t k) {
          return a.get({i[0], i[1], k}) * b.get({i[0], k, i[2]});
        });
      });
    }
}

TEST_P(GroupedTest, RowsOfGroupsElsewhereAreZero) {
  for (int64_t rank : {0, 1}) {
    Window a(Dtype::kF32, {kRagged, 6}), b(Dtype::kF32, {2, 6, 7}), out(Dtype::kF32, {kRagged, 7});
    a.fill(whole_numbers(Dtype::kF32));
    b.fill(whole_numbers(Dtype::kF32, 1));
    const Window ends = offsets();
    run_ok({"grouped_mm", {&a, &b, &ends}, {&out}, cut_in_two({3, 6, 7}), "x=2", rank});
    expect_elements(out, [&](const Index& i) -> Number {
      const int64_t g = group_of(i[0]) - 2 * rank;
      if (g < 0 || g >= (rank == 0 ? 2 : 1)) return 0;
      return sum_of(0, 6, [&](int64_t k) { return a.get({i[0], k}) * b.get({g, k, i[1]}); });
    });
  }
}

TEST_P(GroupedTest, EndsThatAreNoneAreALateError) {
  Window a(Dtype::kF32, {kRagged, 6}), b(Dtype::kF32, {3, 6, 7}), out(Dtype::kF32, {kRagged, 7});
  for (int64_t bad :
       {int64_t{-1}, kRagged + 1, int64_t{3}})  // 3 is before the end of the previous group
    for (int64_t group : {1, 2}) {
      Window ends = offsets(Dtype::kI64);
      ends.set({group}, static_cast<double>(bad));
      EXPECT_EQ(code_of({"grouped_mm", {&a, &b, &ends}, {&out}}), Code::kOutOfRange);
    }
}

TEST_P(GroupedTest, RefusesWhatDoesNotFit) {
  Window a(Dtype::kF32, {4, 6}), b(Dtype::kF32, {3, 6, 7}), out(Dtype::kF32, {4, 7}),
      ends(Dtype::kI32, {3}), two(Dtype::kI32, {2}), reals(Dtype::kF32, {3}),
      n(Dtype::kI32, {4, 6});
  EXPECT_EQ(code_of({"grouped_mm", {&a, &b}, {&out}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"grouped_mm", {&a, &b, &two}, {&out}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"grouped_mm", {&a, &b, &reals}, {&out}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"grouped_mm", {&n, &b, &ends}, {&out}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"grouped_mm", {&a, &b, &ends}, {&a}}), Code::kInvalidArgument);
}

SHW_CTS(GroupedTest);

}  // namespace
}  // namespace shw::cts
