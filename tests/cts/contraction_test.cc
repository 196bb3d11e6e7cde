// mm and einsum. Values are small integers, so that products and sums are exact and bits can be
// compared.
#include <cmath>
#include <map>

#include "cts/kernel_test.h"
#include "float8.h"

namespace shw::cts {
namespace {

class ContractionTest : public KernelTest {
 protected:
  // The definition: for each assignment of all letters, result += left · right.
  static void reference(const std::string& equation, const Window& a, const Window& b,
                        Window& out) {
    const size_t comma = equation.find(','), arrow = equation.find("->");
    const std::string left = equation.substr(0, comma);
    const std::string right = equation.substr(comma + 1, arrow - comma - 1);
    const std::string result = equation.substr(arrow + 2);
    std::map<char, int64_t> size;
    for (size_t d = 0; d < left.size(); ++d) size[left[d]] = a.shape()[d];
    for (size_t d = 0; d < right.size(); ++d)
      size[right[d]] = std::max(size[right[d]], b.shape()[d]);
    Dims all;
    std::string letters;
    for (const auto& [letter, n] : size) letters += letter, all.push_back(n);
    out.fill([](int64_t) { return 0; });
    for_each_index(all, [&](const Index& i) {
      const auto pick = [&](const std::string& subscripts) {
        Index index;
        for (char c : subscripts) index.push_back(i[letters.find(c)]);
        return index;
      };
      const Index to = pick(result);
      out.set(to, out.get(to) + a.broadcast(pick(left)) * b.broadcast(pick(right)));
    });
  }

  void check(const std::string& equation, const Window& a, const Window& b, Window& out) {
    SCOPED_TRACE(equation + " " + to_string(a.type()) + " " + to_string(b.type()) + " -> " +
                 to_string(out.type()));
    Attrs attrs;
    attrs.set(AttrKey::kEquation, equation);
    run_ok({"einsum", {&a, &b}, {&out}, attrs});
    // The reference accumulates in a dtype in which every partial sum is exact.
    Window want(is_complex(out.dtype()) ? Dtype::kC64 : Dtype::kF64, out.shape());
    reference(equation, a, b, want);
    expect_elements(out, [&](const Index& i) { return want.get(i); });
  }
};

struct EinsumCase {
  const char* equation;
  Dims a, b, out;
};
const EinsumCase kCases[] = {
    {"mk,kn->mn", {5, 7}, {7, 6}, {5, 6}},
    {"abk,kn->abn", {2, 3, 7}, {7, 5}, {2, 3, 5}},      // LLaMA, forward
    {"abn,kn->abk", {2, 3, 5}, {7, 5}, {2, 3, 7}},      // gradient of the input
    {"abk,abn->kn", {2, 3, 7}, {2, 3, 5}, {7, 5}},      // gradient of the weight
    {"abk,abn->nk", {2, 3, 7}, {2, 3, 5}, {5, 7}},      // its transpose
    {"bmk,bkn->bmn", {3, 4, 5}, {3, 5, 6}, {3, 4, 6}},  // bmm
    {"bhqd,bhkd->bhqk", {2, 3, 4, 5}, {2, 3, 6, 5}, {2, 3, 4, 6}},
    {"bqhd,bkhd->bhqk", {2, 4, 3, 5}, {2, 6, 3, 5}, {2, 3, 4, 6}},
    {"i,j->ij", {4}, {5}, {4, 5}},          // outer product
    {"i,i->", {9}, {9}, {}},                // inner product
    {"ij,ij->ij", {3, 4}, {3, 4}, {3, 4}},  // only batch letters
    {"ij,j->i", {3, 4}, {4}, {3}},
    {"ij,i->j", {3, 4}, {3}, {4}},
    {"ij,jk->k", {3, 4}, {4, 5}, {5}},  // a letter that occurs on one side only is summed
    {"ij,k->", {3, 4}, {5}, {}},
    {"ii,ij->j", {4, 4}, {4, 3}, {3}},              // a diagonal
    {"abc,cd->dab", {2, 3, 4}, {4, 5}, {5, 2, 3}},  // the result permuted
    {"mk,kn->nm", {5, 7}, {7, 6}, {6, 5}},
    {"kxm,kny->xnmy", {4, 2, 3}, {4, 5, 2}, {2, 5, 3, 2}},  // rows and columns interleaved
    {"mk,kn->mn", {1, 7}, {7, 6}, {1, 6}},
    {"mk,kn->mn", {5, 7}, {7, 1}, {5, 1}},
    {"mk,kn->mn", {5, 1}, {1, 6}, {5, 6}},
    {"mk,kn->mn", {1, 1}, {1, 1}, {1, 1}},
    {"bmk,bkn->bmn", {1, 4, 5}, {3, 5, 6}, {3, 4, 6}},  // size 1 is broadcast
    {"mk,kn->mn", {5, 0}, {0, 6}, {5, 6}},
    {"mk,kn->mn", {0, 4}, {4, 6}, {0, 6}},
};

TEST_P(ContractionTest, EveryEquationOfEveryWindow) {
  for (const EinsumCase& c : kCases)
    for (Lie a_lie : kReadable)
      for (Lie b_lie : kReadable)
        for (Lie out_lie : kWritable) {
          Window a(Dtype::kF32, c.a, a_lie), b(Dtype::kF32, c.b, b_lie),
              out(Dtype::kF32, c.out, out_lie);
          a.fill(whole_numbers(Dtype::kF32));
          b.fill(whole_numbers(Dtype::kF32, 1));
          check(c.equation, a, b, out);
        }
}

TEST_P(ContractionTest, EveryDtype) {
  struct Types {
    Dtype a, b, out;
  };
  const Types all[] = {
      {Dtype::kBF16, Dtype::kBF16, Dtype::kBF16}, {Dtype::kBF16, Dtype::kBF16, Dtype::kF32},
      {Dtype::kF16, Dtype::kF16, Dtype::kF16},    {Dtype::kF32, Dtype::kBF16, Dtype::kF32},
      {Dtype::kF64, Dtype::kF64, Dtype::kF64},    {Dtype::kI64, Dtype::kI64, Dtype::kI64},
      {Dtype::kI32, Dtype::kI32, Dtype::kI32},    {Dtype::kC64, Dtype::kC64, Dtype::kC64}};
  for (const Types& t : all)
    for (const EinsumCase& c : kCases) {
      Window a(t.a, c.a, Lie::kReversed), b(t.b, c.b), out(t.out, c.out, Lie::kPadded);
      a.fill(whole_numbers(t.a));
      b.fill(whole_numbers(t.b, 1));
      check(c.equation, a, b, out);
    }
}

TEST_P(ContractionTest, MatricesLargerThanItsBlocks) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kBF16, Dtype::kF64})
    for (Lie lie : {Lie::kDense, Lie::kReversed}) {
      if (shw::testing::kSanitized && (lie == Lie::kDense || dtype == Dtype::kF64)) continue;
      Window a(dtype, {67, 150}, lie), b(dtype, {150, 131}, lie), out(dtype, {67, 131});
      // Values of −1, 0 and 1: even in bf16, sums of 150 products are exact.
      const auto small = [&](int salt) {
        return [dtype, salt](int64_t i) {
          return std::floor(whole_numbers(dtype, salt)(i).real() / 3);
        };
      };
      a.fill(small(0));
      b.fill(small(1));
      Window want(Dtype::kF64, {67, 131});
      run_ok({"mm", {&a, &b}, {&out}});
      reference("mk,kn->mn", a, b, want);
      expect_elements(out, [&](const Index& i) { return want.get(i); });
    }
}

// Covers both 8-bit dtypes, single scales and scales by row and column, with and without a bias, in
// several layouts. Sums of small whole numbers are exact, so only the scales and the result are
// rounded.
TEST_P(ContractionTest, ScaledMmOfFloat8) {
  for (Dtype left : testing::kFloat8)
    for (Dtype right : testing::kFloat8)
      for (Dtype to : {Dtype::kF32, Dtype::kBF16, Dtype::kF8E4M3})
        for (Lie lie : {Lie::kDense, Lie::kReversed, Lie::kGaps})
          for (bool by_rows : {false, true}) {
            SCOPED_TRACE(std::string(dtype_name(left)) + " × " + std::string(dtype_name(right)) +
                         " to " + std::string(dtype_name(to)));
            Window a(left, {5, 32}, lie), b(right, {32, 16}, lie),
                scale_a(Dtype::kF32, by_rows ? Dims{5, 1} : Dims{}),
                scale_b(Dtype::kF32, by_rows ? Dims{1, 16} : Dims{1}), bias(Dtype::kF32, {16}),
                out(to, {5, 16}, lie == Lie::kGaps ? Lie::kReversed : Lie::kDense);
            a.fill(whole_numbers(left));
            b.fill(whole_numbers(right, 1));
            // Powers of two, so that products with them are exact.
            const auto power = [](int64_t i) {
              return std::ldexp(1.0, static_cast<int>(i % 5) - 3);
            };
            scale_a.fill(power);
            scale_b.fill(power);
            bias.fill(whole_numbers(Dtype::kF32, 2));
            Window want(Dtype::kF64, {5, 16});
            reference("mk,kn->mn", a, b, want);
            const auto scaled = [&](const Index& i) {
              return want.get(i) * scale_a.get(by_rows ? Index{i[0], 0} : Index{}) *
                     scale_b.get(by_rows ? Index{0, i[1]} : Index{0});
            };
            run_ok({"scaled_mm", {&a, &b, &scale_a, &scale_b}, {&out}});
            expect_elements(out, scaled);
            run_ok({"scaled_mm", {&a, &b, &scale_a, &scale_b, &bias}, {&out}});
            expect_elements(out, [&](const Index& i) { return scaled(i) + bias.get({i[1]}); });
          }
}

TEST_P(ContractionTest, MmRefusesWhatDoesNotFit) {
  Window a(Dtype::kF32, {2, 3}), b(Dtype::kF32, {4, 5}), out(Dtype::kF32, {2, 5}),
      v(Dtype::kF32, {3});
  EXPECT_EQ(code_of({"mm", {&a, &b}, {&out}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"mm", {&a, &v}, {&out}}), Code::kInvalidArgument);
  EXPECT_EQ(code_of({"mm", {&a}, {&out}}), Code::kInvalidArgument);
}

TEST_P(ContractionTest, RefusesAWorkspaceBeyondAllMemory) {
  const TensorType huge{{int64_t{1} << 40, int64_t{1} << 15}, {0, 0}, Dtype::kF32};
  const TensorType scalar = row_major(Dtype::kF32, {});
  const TensorType* inputs[] = {&huge, &huge};
  const TensorType* outputs[] = {&scalar};
  const Mesh mesh = *Mesh::parse("x=1");
  for (const char* equation : {"ab,ab->", "ab,cd->"}) {
    Attrs attrs;
    attrs.set(AttrKey::kEquation, std::string(equation));
    const auto prepared = device_->prepare("einsum", {inputs, outputs, attrs, mesh, 0});
    EXPECT_EQ(prepared.status().code(), Code::kResourceExhausted) << equation;
  }
}

TEST_P(ContractionTest, EinsumRefusesWhatItDoesNotSpeak) {
  Window a(Dtype::kF32, {2, 3}), b(Dtype::kF32, {3, 5}), out(Dtype::kF32, {2, 5});
  for (const char* equation :
       {"", "ij,jk", "ij->ij", "ij,jk,kl->il", "...j,jk->...k", "i j,jk->ik"}) {
    Attrs attrs;
    attrs.set(AttrKey::kEquation, std::string(equation));
    const Code code = code_of({"einsum", {&a, &b}, {&out}, attrs});
    EXPECT_TRUE(code == Code::kUnimplemented || code == Code::kInvalidArgument) << equation;
  }
  for (const char* equation : {"ij,jk->iz", "ijk,jk->ik", "ij,jk->ii", "ij,jk->i"}) {
    Attrs attrs;
    attrs.set(AttrKey::kEquation, std::string(equation));
    EXPECT_EQ(code_of({"einsum", {&a, &b}, {&out}, attrs}), Code::kInvalidArgument) << equation;
  }
}

SHW_CTS(ContractionTest);

}  // namespace
}  // namespace shw::cts
