// Runs one of ONNX's tests on ranks of this process.
#pragma once
#include <string>

#include "node_case.h"

namespace shw::testing {

enum class Verdict : uint8_t { kPassed, kRefused, kWrong };

struct Outcome {
  Verdict verdict = Verdict::kPassed;
  std::string why = {};  // refused or wrong
  int ranks = 0;         // the most that it ran on
  bool sharded = false;  // on two ranks, its inputs were cut
};

// On one rank and on two, against the outputs that the case has.
Outcome run_case(const NodeCase& c);

}  // namespace shw::testing
