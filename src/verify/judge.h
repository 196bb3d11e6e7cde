// One output of a run, judged by what rounding did to the same output elsewhere.
#pragma once
#include <vector>

#include "verify/verify_run.h"

namespace shw {

// The same output of several runs.
struct Evidence {
  runtime::HostTensorView sharded;                 // what is judged
  std::vector<const runtime::HostTensor*> run;     // unsharded, in the plan's types, by sample
  std::vector<const runtime::HostTensor*> exact;   // unsharded, in f64, by sample
  std::vector<const runtime::HostTensor*> coarse;  // in f32 what is in f64, by sample; may be empty
  const runtime::HostTensor* plan = nullptr;       // sharded, in f64
  const runtime::HostTensorView* expected = nullptr;  // another program's; null: none
};

VerifiedTensor judge(const Port& port, const Evidence& evidence);

}  // namespace shw
