// Formulas of pointwise kernels.
//
// A kernel's functor, called with Traced values in place of numbers, records what it computes. So
// an operation is defined once: what the compiler makes of the functor, and what is generated for a
// group of steps, are the same operations in the same order, and give the same bits.
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
  kNumber,  // the same everywhere
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNegate,
  kMagnitude,
  kSquareRoot,
  kExp,              // fast_exp (math.h)
  kCopySign,         // the magnitude of the first, the sign of the second
  kSelectLess,       // a < b ? c : d
  kSelectLessEqual,  // a <= b ? c : d
  kRowSum,           // of a row, in f64, divided by `number` if that is not 0
  kRoundToBf16,      // to the nearest number of bf16, as f32
};

// What it is made of are earlier nodes.
struct FormulaNode {
  FormulaOp op = FormulaOp::kNumber;
  std::array<int32_t, 4> operands{-1, -1, -1, -1};
  float number = 0;  // of kNumber, kRowSum
};
int num_operands(FormulaOp op);  // that are nodes

class Formula {
 public:
  const std::vector<FormulaNode>& nodes() const { return nodes_; }
  int32_t add(const FormulaNode& node);
  int32_t number(float value);  // one node for each value

 private:
  std::vector<FormulaNode> nodes_;
};

// A number that is known only when the formula is computed, or one that is known already.
class Traced {
 public:
  // From what functors write among their operands: 1 + x.
  constexpr Traced(double number = 0)  // NOLINT(google-explicit-constructor)
      : number_(static_cast<float>(number)) {}
  Traced(Formula& formula, int32_t node) : formula_(&formula), node_(node) {}

  // The node in `formula`, which is the only one that its operands are in.
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

  Formula* formula_ = nullptr;  // null: a number
  int32_t node_ = -1;
  float number_ = 0;
};

// What formulas of real numbers are written for.
template <class T>
concept Real = std::floating_point<T> || std::same_as<T, Traced>;

// What functors may branch on.
template <class T>
concept Known = !std::same_as<T, Traced>;

// Functions that functors call by these names for all types.
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

// Elements `begin` … `begin` + `count` - 1 of the result's rows are those of an input's from `from`
// on.
struct RowPart {
  int64_t begin, count;
  int64_t from;
  size_t input;
};

// A kernel whose results are computed in f32 from operands in f32 or bf16: each from one element of
// each operand, or from a row of its only one. A result that is stored in bf16 is rounded then.
class TracedKernel {
 public:
  // `inputs`: by the step's inputs; those that the kernel does not read are not looked at.
  virtual Traced trace(std::span<const Traced> inputs) const = 0;
  // Dims at the end of its operand that are a row, and have size 1 in the result. 0: none.
  virtual size_t row_dims() const { return 0; }
  // Of a kernel that computes nothing: the parts of rows that it lays side by side. Empty: it
  // computes.
  virtual std::span<const RowPart> row_parts() const { return {}; }

 protected:
  ~TracedKernel() = default;
};

}  // namespace shw::runtime::cpu
