// Runs a tape on one device, with the host's kernels.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tape.h"
#include "tensor.h"
#include "threads.h"

namespace host {

using Tensors = std::map<std::string, Tensor>;

class Interpreter {
 public:
  // The parameters are copied.
  Interpreter(Memory& memory, Threads& threads, const Tape& tape, const Tensors& parameters);

  // One step; gives the loss before it.
  float step(const Tensors& inputs);
  const Tensor& parameter(const std::string& name) const { return parameters_.at(name); }

 private:
  Memory& memory_;
  Threads& threads_;
  const Tape& tape_;
  Tensors parameters_;
};

}  // namespace host
