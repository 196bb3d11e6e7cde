// Runs a tape on many ranks: Shardwise plans it and runs the plan, in the host's memory. All of the
// host that knows Shardwise is in sharded.cc.
#pragma once

#include <memory>
#include <string>

#include "interpreter.h"

namespace host {

class Sharded {
 public:
  // On a mesh of dp times tp virtual ranks. Throws std::exception with the cause.
  Sharded(Memory& memory, Threads& threads, const Tape& tape, const Tensors& parameters, int dp,
          int tp);
  ~Sharded();

  float step(const Tensors& inputs);
  Tensor parameter(const std::string& name) const;
  // The plan, for a person.
  std::string report() const;

 private:
  struct State;
  Memory& memory_;
  const Tape& tape_;
  std::unique_ptr<State> state_;
};

}  // namespace host
