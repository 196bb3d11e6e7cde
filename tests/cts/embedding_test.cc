// embedding and its backward.
#include "cts/kernel_test.h"

namespace shw::cts {
namespace {

class EmbeddingTest : public KernelTest {};

constexpr int64_t kIndices[] = {3, 0, 3, 6, 1, 3, 0, 5, 6, 6, 2, 3};

Window indices_of(Dtype dtype, Lie lie) {
  Window w(dtype, {3, 4}, lie);
  w.fill([](int64_t i) { return static_cast<double>(kIndices[i]); });
  return w;
}
int64_t at(const Window& indices, const Index& i) {
  return static_cast<int64_t>(indices.get({i[0], i[1]}).real());
}

TEST_P(EmbeddingTest, TakesRowsOfEveryWindow) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kI8, Dtype::kC64})
    for (Dtype index : {Dtype::kI32, Dtype::kI64})
      for (Lie table_lie : kReadable)
        for (Lie lie : kWritable) {
          Window table(dtype, {7, 5}, table_lie), out(dtype, {3, 4, 5}, lie);
          table.fill(whole_numbers(dtype));
          const Window indices = indices_of(index, lie);
          run_ok({"embedding", {&table, &indices}, {&out}});
          expect_elements(out, [&](const Index& i) { return table.get({at(indices, i), i[2]}); });
        }
}

TEST_P(EmbeddingTest, BackwardAddsGradientsByRow) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64, Dtype::kF16})
    for (Lie grad_lie : kReadable)
      for (Lie lie : kWritable)
        for (int64_t padding : {-1, 6})
          for (bool by_frequency : {false, true}) {
            Window grad(dtype, {3, 4, 5}, grad_lie), out(dtype, {7, 5}, lie);
            grad.fill(whole_numbers(dtype));
            const Window indices = indices_of(Dtype::kI64, lie);
            Attrs attrs;
            attrs.set(AttrKey::kNumWeights, int64_t{7});
            attrs.set(AttrKey::kPaddingIdx, padding);
            attrs.set(AttrKey::kScaleGradByFreq, by_frequency);
            run_ok({"embedding_dense_backward", {&grad, &indices}, {&out}, attrs});
            expect_elements(
                out,
                [&](const Index& i) {
                  Number sum = 0;
                  int count = 0;
                  for_each_index({3, 4}, [&](const Index& g) {
                    if (at(indices, g) != i[0] || i[0] == padding) return;
                    sum += grad.get({g[0], g[1], i[1]});
                    ++count;
                  });
                  return by_frequency && count > 0 ? sum / static_cast<double>(count) : sum;
                },
                by_frequency ? 1e-2 : 0);
          }
}

// A table of seven rows over 2×2 ranks, in blocks of 2; the last block has only one real row. Rank
// (i, j) has block 2j + i, since mesh dim 1 cuts first.
struct Part {
  Attrs attrs;
  int64_t first, last;
};
Part part_of(int64_t rank, int64_t whole) {
  Part p;
  const int64_t block = rank % 2 * 2 + rank / 2;
  p.first = std::min(whole, 2 * block);
  p.last = std::min(whole, 2 * block + 2);
  p.attrs.set(AttrKey::kSize, std::vector<int64_t>{whole, 5});
  p.attrs.set(AttrKey::kCuts, std::vector<int64_t>{1, 0, 0, 0});
  return p;
}

TEST_P(EmbeddingTest, FindsOnlyTheRowsOfItsPart) {
  for (int64_t rank = 0; rank < 4; ++rank) {
    const Part part = part_of(rank, 7);
    Window table(Dtype::kF32, {2, 5}), out(Dtype::kF32, {3, 4, 5}, Lie::kReversed);
    table.fill([](int64_t i) { return static_cast<double>(i + 1); });
    const Window indices = indices_of(Dtype::kI64, Lie::kDense);
    run_ok({"embedding", {&table, &indices}, {&out}, part.attrs, "x=2,y=2", rank});
    expect_elements(out, [&](const Index& i) -> Number {
      const int64_t row = at(indices, i);
      return row < part.first || row >= part.last ? 0 : table.get({row - part.first, i[2]});
    });
  }
}

TEST_P(EmbeddingTest, BackwardAddsOnlyToTheRowsOfItsPart) {
  for (int64_t rank = 0; rank < 4; ++rank)
    for (int64_t padding : {-1, 0, 3, 6}) {
      Part part = part_of(rank, 7);
      part.attrs.set(AttrKey::kNumWeights, int64_t{7});
      part.attrs.set(AttrKey::kPaddingIdx, padding);
      Window grad(Dtype::kF32, {3, 4, 5}), out(Dtype::kF32, {2, 5});
      grad.fill(whole_numbers(Dtype::kF32));
      const Window indices = indices_of(Dtype::kI32, Lie::kDense);
      run_ok({"embedding_dense_backward", {&grad, &indices}, {&out}, part.attrs, "x=2,y=2", rank});
      expect_elements(out, [&](const Index& i) {
        const int64_t row = part.first + i[0];
        Number sum = 0;
        for_each_index({3, 4}, [&](const Index& g) {
          if (at(indices, g) == row && row < part.last && row != padding)
            sum += grad.get({g[0], g[1], i[1]});
        });
        return sum;
      });
    }
}

TEST_P(EmbeddingTest, RefusesPartsThatAreNone) {
  Window table(Dtype::kF32, {2, 5}), indices(Dtype::kI64, {2}), out(Dtype::kF32, {2, 5});
  indices.fill([](int64_t i) { return static_cast<double>(8 * i); });
  const auto code = [&](const Attrs& attrs) {
    return code_of({"embedding", {&table, &indices}, {&out}, attrs, "x=2,y=2", 3});
  };
  EXPECT_EQ(code(part_of(3, 8).attrs), Code::kOutOfRange);        // no rank has index 8
  EXPECT_EQ(code(part_of(3, 40).attrs), Code::kInvalidArgument);  // blocks of 10 rows
  Attrs attrs = part_of(3, 8).attrs;
  attrs.set(AttrKey::kSize, std::vector<int64_t>{8});
  EXPECT_EQ(code(attrs), Code::kInvalidArgument);
  attrs = part_of(3, 8).attrs;
  attrs.set(AttrKey::kCuts, std::vector<int64_t>{2, 0});
  EXPECT_EQ(code(attrs), Code::kInvalidArgument);
}

// If each step were rounded, 256 + 1 + … would stay 256 in bf16.
TEST_P(EmbeddingTest, BackwardRoundsOnce) {
  Window grad(Dtype::kBF16, {9, 600}), out(Dtype::kBF16, {2, 600}), indices(Dtype::kI64, {9});
  grad.fill([](int64_t i) { return i < 600 ? 256.0 : 1.0; });
  indices.fill([](int64_t) { return 1; });
  run_ok({"embedding_dense_backward", {&grad, &indices}, {&out}});
  expect_elements(out, [](const Index& i) { return i[0] == 1 ? 264.0 : 0.0; });
}

TEST_P(EmbeddingTest, IndicesOutOfRangeAreALateError) {
  Window table(Dtype::kF32, {7, 5}), out(Dtype::kF32, {2, 5}), indices(Dtype::kI64, {2});
  for (double bad : {7.0, -1.0, 1e15}) {
    indices.fill([&](int64_t i) { return i == 0 ? 0.0 : bad; });
    EXPECT_EQ(code_of({"embedding", {&table, &indices}, {&out}}), Code::kOutOfRange);
    EXPECT_EQ(code_of({"embedding_dense_backward", {&out, &indices}, {&table}}), Code::kOutOfRange);
  }
}

TEST_P(EmbeddingTest, RefusesWrongTypes) {
  Window table(Dtype::kF32, {7, 5}), indices(Dtype::kI64, {2}), out(Dtype::kF32, {2, 4});
  Window floats(Dtype::kF32, {2}), good(Dtype::kF32, {2, 5}), flat(Dtype::kF32, {7});
  EXPECT_EQ(code_of({"embedding", {&table, &indices}, {&out}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"embedding", {&table, &floats}, {&good}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"embedding", {&flat, &indices}, {&good}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"embedding_dense_backward", {&out, &indices}, {&table}}),
            Code::kInvalidArgument);
}

SHW_CTS(EmbeddingTest);

}  // namespace
}  // namespace shw::cts
