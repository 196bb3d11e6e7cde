#include "interpreter.h"

#include <algorithm>

#include "kernels.h"

namespace host {
namespace {

void copy(const Tensor& from, const Tensor& to) {
  std::copy(from.data(), from.data() + from.size(), to.data());
}

}  // namespace

Interpreter::Interpreter(Memory& memory, Threads& threads, const Tape& tape,
                         const Tensors& parameters)
    : memory_(memory), threads_(threads), tape_(tape) {
  for (const auto& [name, tensor] : parameters) {
    const Tensor mine(memory, tensor.shape());
    copy(tensor, mine);
    parameters_.emplace(name, mine);
  }
}

float Interpreter::step(const Tensors& inputs) {
  std::vector<Tensor> values;
  for (const Operation& op : tape_.operations()) {
    if (op.kind == Kind::kInput || op.kind == Kind::kParameter) {
      values.push_back(op.kind == Kind::kInput ? inputs.at(op.name) : parameters_.at(op.name));
      continue;
    }
    std::vector<Tensor> operands;
    for (const Id operand : op.operands) operands.push_back(values[operand]);
    values.emplace_back(memory_, op.shape);
    compute(threads_, op, operands, values.back());
  }
  for (const Update& update : tape_.updates())
    copy(values[update.value], parameters_.at(tape_.operations()[update.parameter].name));
  return values[tape_.loss()].data()[0];
}

}  // namespace host
