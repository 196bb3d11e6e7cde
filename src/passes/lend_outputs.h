// Scratch in the memory of outputs. The caller hands over the memory of an output for the whole
// run, and most outputs are written late: the gradient of the first layer's weight at the very end.
// Until then its bytes are free, so activations and temporaries may lie there, and the arena is
// smaller by as much.
#pragma once
#include <cstdint>

#include "passes/pass_options.h"
#include "plan/program.h"

namespace shw {

// Moves storages out of the arena until no other one that lives at the fullest step fits into an
// output. None may lie in an output before. The result is their number.
uint32_t lend_outputs(Program& program);

// Storages that lie in outputs become scratch without a place.
void take_back_outputs(Program& program);

// Lending cannot make the arena smaller by more. 0 where outputs lend nothing.
int64_t lendable_bytes(const Program& program, const PassOptions& options);

}  // namespace shw
