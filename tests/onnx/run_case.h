// Runs one of ONNX's tests on virtual ranks of this process.
#pragma once
#include <string>

#include "node_case.h"

namespace shw::testing {

enum class Verdict : uint8_t { kPassed, kRefused, kWrong };

struct Outcome {
  Verdict verdict = Verdict::kPassed;
  std::string why = {};  // why it was refused or is wrong
  int ranks = 0;         // the largest number of ranks that it ran on
  bool sharded = false;  // whether its inputs were cut on two ranks
};

// Runs on one rank and on two, and compares with the outputs of the case.
Outcome run_case(const NodeCase& c);

}  // namespace shw::testing
