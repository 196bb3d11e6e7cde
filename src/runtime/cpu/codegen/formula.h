// Formulas of pointwise kernels.
//
// A kernel's functor records its computation if it is called with Traced values instead of numbers.
// So each operation is defined once. The compiled functor and the code that is generated for a
// group of steps execute the same operations in the same order, and give the same bits.
#pragma once
#include <array>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <vector>

namespace shw::runtime::cpu {

enum class FormulaOp : uint8_t {
  kInput,   // read from memory; operands[0]: the caller's number for it
  kNumber,  // a constant
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,
  kMagnitude,
  kSquareRoot,
  kExp,              // fast_exp (math.h)
  kCopySign,         // magnitude of the first operand, sign of the second
  kSelectLess,       // a < b ? c : d
  kSelectLessEqual,  // a <= b ? c : d
  kRowSum,           // the sum of a row, in f64; divided by `number` if that is not 0
  kRoundToBf16,      // to the nearest bf16 number, as f32
};

// The operands are earlier nodes.
struct FormulaNode {
  FormulaOp op = FormulaOp::kNumber;
  std::array<int32_t, 4> operands{-1, -1, -1, -1};
  float number = 0;  // for kNumber and kRowSum
};
int num_operands(FormulaOp op);  // number of operands that are nodes

class Formula {
 public:
  const std::vector<FormulaNode>& nodes() const { return nodes_; }
  int32_t add(const FormulaNode& node);
  int32_t number(float value);  // one node for each value

 private:
  std::vector<FormulaNode> nodes_;
};

// A value that is computed when the formula runs, or a constant.
class Traced {
 public:
  // Converts constants that functors use as operands, as in 1 + x.
  constexpr Traced(double number = 0)  // NOLINT(google-explicit-constructor)
      : number_(static_cast<float>(number)) {}
  Traced(Formula& formula, int32_t node) : formula_(&formula), node_(node) {}

  // The value's node in `formula`. All operands must belong to this formula.
  int32_t node(Formula& formula) const {
    return formula_ != nullptr ? node_ : formula.number(number_);
  }

  friend Traced operator+(Traced a, Traced b) { return record(FormulaOp::kAdd, {a, b}); }
  friend Traced operator-(Traced a, Traced b) { return record(FormulaOp::kSubtract, {a, b}); }
  friend Traced operator*(Traced a, Traced b) { return record(FormulaOp::kMultiply, {a, b}); }
  friend Traced operator/(Traced a, Traced b) { return record(FormulaOp::kDivide, {a, b}); }
  friend Traced operator-(Traced a) { return record(FormulaOp::kNegate, {a}); }

  static Traced record(FormulaOp op, std::initializer_list<Traced> operands, float number = 0);

 private:
  static Traced fold(FormulaOp op, const Traced* operands);

  Formula* formula_ = nullptr;  // null: a constant
  int32_t node_ = -1;
  float number_ = 0;
};

// The types that real formulas are written for.
template <class T>
concept Real = std::floating_point<T> || std::same_as<T, Traced>;

// Types whose values are known when the functor runs, so that it may branch on them.
template <class T>
concept Known = !std::same_as<T, Traced>;

// Functions that functors can call for all types.
template <class T>
T select_less(T a, T b, T then, T otherwise) {
  return a < b ? then : otherwise;
}
inline Traced select_less(Traced a, Traced b, Traced then, Traced otherwise) {
  return Traced::record(FormulaOp::kSelectLess, {a, b, then, otherwise});
}
template <class T>
T select_less_equal(T a, T b, T then, T otherwise) {
  return a <= b ? then : otherwise;
}
inline Traced select_less_equal(Traced a, Traced b, Traced then, Traced otherwise) {
  return Traced::record(FormulaOp::kSelectLessEqual, {a, b, then, otherwise});
}
inline Traced sqrt(Traced x) { return Traced::record(FormulaOp::kSquareRoot, {x}); }
inline Traced abs(Traced x) { return Traced::record(FormulaOp::kMagnitude, {x}); }
inline Traced copysign(Traced magnitude, Traced sign) {
  return Traced::record(FormulaOp::kCopySign, {magnitude, sign});
}
inline Traced fast_exp(Traced x) { return Traced::record(FormulaOp::kExp, {x}); }
inline Traced round_to_bf16(Traced x) { return Traced::record(FormulaOp::kRoundToBf16, {x}); }
inline Traced row_sum(Traced x, float divisor) {
  return Traced::record(FormulaOp::kRowSum, {x}, divisor);
}

// Elements `begin` … `begin` + `count` - 1 of each result row are the elements of an input from
// `from` on.
struct RowPart {
  int64_t begin, count;
  int64_t from;
  size_t input;
};

// A kernel whose results are computed in f32 from operands in f32 or bf16. Each result depends on
// one element of each operand, or on a row of its only operand. A result that is stored in bf16 is
// rounded at the end.
class TracedKernel {
 public:
  // `inputs`: one per input of the step; those that the kernel does not read are ignored.
  virtual Traced trace(std::span<const Traced> inputs) const = 0;
  // The number of trailing dims of its operand that form a row and have size 1 in the result. 0: it
  // does not reduce rows.
  virtual size_t row_dims() const { return 0; }
  // For a kernel that only copies: the row parts that it concatenates. Empty: it computes.
  virtual std::span<const RowPart> row_parts() const { return {}; }

 protected:
  ~TracedKernel() = default;
};

}  // namespace shw::runtime::cpu
