// The host's tape: it records operations, and derives gradients as further operations. What is
// recorded can be run by the host's own interpreter, or handed to Shardwise.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tensor.h"

namespace host {

// What an operation does. The host's names; sharded.cc knows what Shardwise calls them.
enum class Kind {
  kInput,
  kParameter,
  kMatmul,
  kTranspose,
  kAdd,
  kSub,
  kMul,
  kScale,
  kRelu,
  kReluGradient,
  kMean,
  kSumRows
};

using Id = std::size_t;

struct Operation {
  Kind kind;
  std::vector<Id> operands;
  Shape shape;
  double factor = 1;      // of kScale
  std::string name;       // of inputs and parameters
  bool backward = false;  // recorded by minimise()
};

struct Update {
  Id parameter;
  Id value;
};

class Tape {
 public:
  Id input(const std::string& name, Shape shape);
  Id parameter(const std::string& name, Shape shape);
  Id matmul(Id a, Id b);
  Id transpose(Id a);
  Id add(Id a, Id b);  // a row that is added to a matrix is added to every row
  Id sub(Id a, Id b);
  Id mul(Id a, Id b);
  Id scale(Id a, double factor);
  Id relu(Id a);
  Id mean(Id a);  // of all elements

  // Records the gradients of `loss` for all parameters, and a step of gradient descent.
  void minimise(Id loss, double rate);

  const std::vector<Operation>& operations() const { return operations_; }
  const std::vector<Update>& updates() const { return updates_; }
  Id loss() const { return loss_; }

 private:
  Id record(Kind kind, std::vector<Id> operands, Shape shape, double factor = 1);
  void derive(Id id, Id gradient, std::vector<Id>* gradients);
  void accumulate(Id id, Id gradient, std::vector<Id>* gradients);

  std::vector<Operation> operations_;
  std::vector<Update> updates_;
  Id loss_ = 0;
  bool backward_ = false;
};

}  // namespace host
