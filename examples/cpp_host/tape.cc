#include "tape.h"

#include <stdexcept>
#include <utility>

namespace host {
namespace {

constexpr Id kNone = static_cast<Id>(-1);

}  // namespace

Id Tape::record(Kind kind, std::vector<Id> operands, Shape shape, double factor) {
  operations_.push_back({kind, std::move(operands), std::move(shape), factor, "", backward_});
  return operations_.size() - 1;
}

Id Tape::input(const std::string& name, Shape shape) {
  const Id id = record(Kind::kInput, {}, std::move(shape));
  operations_[id].name = name;
  return id;
}

Id Tape::parameter(const std::string& name, Shape shape) {
  const Id id = record(Kind::kParameter, {}, std::move(shape));
  operations_[id].name = name;
  return id;
}

Id Tape::matmul(Id a, Id b) {
  const Shape &left = operations_[a].shape, &right = operations_[b].shape;
  if (left.size() != 2 || right.size() != 2 || left[1] != right[0])
    throw std::invalid_argument("matmul: shapes");
  return record(Kind::kMatmul, {a, b}, {left[0], right[1]});
}

Id Tape::transpose(Id a) {
  const Shape& shape = operations_[a].shape;
  return record(Kind::kTranspose, {a}, {shape.at(1), shape.at(0)});
}

Id Tape::add(Id a, Id b) { return record(Kind::kAdd, {a, b}, operations_[a].shape); }
Id Tape::sub(Id a, Id b) { return record(Kind::kSub, {a, b}, operations_[a].shape); }
Id Tape::mul(Id a, Id b) { return record(Kind::kMul, {a, b}, operations_[a].shape); }
Id Tape::scale(Id a, double factor) {
  return record(Kind::kScale, {a}, operations_[a].shape, factor);
}
Id Tape::relu(Id a) { return record(Kind::kRelu, {a}, operations_[a].shape); }
Id Tape::mean(Id a) { return record(Kind::kMean, {a}, {}); }

void Tape::accumulate(Id id, Id gradient, std::vector<Id>* gradients) {
  Id& sum = (*gradients)[id];
  sum = sum == kNone ? gradient : add(sum, gradient);
}

void Tape::derive(Id id, Id gradient, std::vector<Id>* gradients) {
  const Operation op = operations_[id];  // a copy: recording moves the others
  switch (op.kind) {
    case Kind::kMatmul:
      accumulate(op.operands[0], matmul(gradient, transpose(op.operands[1])), gradients);
      accumulate(op.operands[1], matmul(transpose(op.operands[0]), gradient), gradients);
      return;
    case Kind::kAdd: {
      accumulate(op.operands[0], gradient, gradients);
      const Shape row = operations_[op.operands[1]].shape;
      accumulate(op.operands[1],
                 row == op.shape ? gradient : record(Kind::kSumRows, {gradient}, row), gradients);
      return;
    }
    case Kind::kSub:
      accumulate(op.operands[0], gradient, gradients);
      accumulate(op.operands[1], scale(gradient, -1), gradients);
      return;
    case Kind::kMul:
      accumulate(op.operands[0], mul(gradient, op.operands[1]), gradients);
      accumulate(op.operands[1], mul(gradient, op.operands[0]), gradients);
      return;
    case Kind::kScale:
      accumulate(op.operands[0], scale(gradient, op.factor), gradients);
      return;
    case Kind::kRelu:
      accumulate(op.operands[0], record(Kind::kReluGradient, {gradient, id}, op.shape), gradients);
      return;
    default:
      throw std::invalid_argument("minimise: an operation has no gradient");
  }
}

void Tape::minimise(Id loss, double rate) {
  backward_ = true;
  loss_ = loss;
  std::vector<Id> gradients(operations_.size(), kNone);
  // loss = mean(e e): its gradient for e is 2/n e, so there is no tensor of ones.
  const Operation mean_of = operations_[loss];
  const Operation square = operations_[mean_of.operands.at(0)];
  if (mean_of.kind != Kind::kMean || square.kind != Kind::kMul ||
      square.operands[0] != square.operands[1])
    throw std::invalid_argument("minimise: the loss is not a mean of squares");
  gradients[square.operands[0]] =
      scale(square.operands[0], 2.0 / static_cast<double>(count(square.shape)));
  for (Id id = square.operands[0] + 1; id-- > 0;) {
    const Kind kind = operations_[id].kind;
    if (gradients[id] == kNone || kind == Kind::kInput || kind == Kind::kParameter) continue;
    derive(id, gradients[id], &gradients);
  }
  for (Id id = 0; id < gradients.size(); ++id)
    if (operations_[id].kind == Kind::kParameter && gradients[id] != kNone)
      updates_.push_back({id, sub(id, scale(gradients[id], rate))});
}

}  // namespace host
