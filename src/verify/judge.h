// Judges the error of one output of a run by the rounding errors of other runs.
#pragma once
#include <vector>

#include "verify/verify_run.h"

namespace shw {

// The same output of several runs.
struct Evidence {
  runtime::HostTensorView sharded;                 // the result to judge
  std::vector<const runtime::HostTensor*> run;     // unsharded, in the plan's types, by sample
  std::vector<const runtime::HostTensor*> exact;   // unsharded, in f64, by sample
  std::vector<const runtime::HostTensor*> coarse;  // f64 replaced by f32, by sample; may be empty
  const runtime::HostTensor* plan = nullptr;       // sharded, in f64
  const runtime::HostTensorView* expected = nullptr;  // from another program; null: none
};

VerifiedTensor judge(const Port& port, const Evidence& evidence);

}  // namespace shw
