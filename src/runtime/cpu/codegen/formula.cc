#include "runtime/cpu/codegen/formula.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "runtime/cpu/codegen/math.h"
#include "runtime/half.h"

namespace shw::runtime::cpu {

int num_operands(FormulaOp op) {
  switch (op) {
    case FormulaOp::kInput:
    case FormulaOp::kNumber:
      return 0;
    case FormulaOp::kNegate:
    case FormulaOp::kMagnitude:
    case FormulaOp::kSquareRoot:
    case FormulaOp::kExp:
    case FormulaOp::kRowSum:
    case FormulaOp::kRoundToBf16:
      return 1;
    case FormulaOp::kSelectLess:
    case FormulaOp::kSelectLessEqual:
      return 4;
    default:
      return 2;
  }
}

int32_t Formula::add(const FormulaNode& node) {
  nodes_.push_back(node);
  return static_cast<int32_t>(nodes_.size() - 1);
}

int32_t Formula::number(float value) {
  const auto known = std::ranges::find_if(nodes_, [&](const FormulaNode& node) {
    return node.op == FormulaOp::kNumber &&
           std::bit_cast<uint32_t>(node.number) == std::bit_cast<uint32_t>(value);
  });
  if (known != nodes_.end()) return static_cast<int32_t>(known - nodes_.begin());
  return add({FormulaOp::kNumber, {}, value});
}

// Evaluates operations on constants only.
Traced Traced::fold(FormulaOp op, const Traced* operands) {
  const auto number = [&](size_t o) { return operands[o].number_; };
  switch (op) {
    case FormulaOp::kAdd:
      return number(0) + number(1);
    case FormulaOp::kSubtract:
      return number(0) - number(1);
    case FormulaOp::kMultiply:
      return number(0) * number(1);
    case FormulaOp::kDivide:
      return number(0) / number(1);
    case FormulaOp::kNegate:
      return -number(0);
    case FormulaOp::kMagnitude:
      return std::abs(number(0));
    case FormulaOp::kSquareRoot:
      return std::sqrt(number(0));
    case FormulaOp::kExp:
      return fast_exp(number(0));
    case FormulaOp::kCopySign:
      return std::copysign(number(0), number(1));
    case FormulaOp::kSelectLess:
      return number(0) < number(1) ? number(2) : number(3);
    case FormulaOp::kSelectLessEqual:
      return number(0) <= number(1) ? number(2) : number(3);
    case FormulaOp::kRoundToBf16:
      return bf16_to_f32(f32_to_bf16(number(0)));
    case FormulaOp::kInput:
    case FormulaOp::kNumber:
    case FormulaOp::kRowSum:
      break;
  }
  return operands[0];
}

Traced Traced::record(FormulaOp op, std::initializer_list<Traced> operands, float number) {
  Formula* formula = nullptr;
  for (const Traced& operand : operands)
    if (operand.formula_ != nullptr) formula = operand.formula_;
  if (formula == nullptr) return fold(op, operands.begin());
  FormulaNode node{op, {-1, -1, -1, -1}, number};
  size_t o = 0;
  for (const Traced& operand : operands) node.operands[o++] = operand.node(*formula);
  return {*formula, formula->add(node)};
}

}  // namespace shw::runtime::cpu
