// Places scratch in the memory of outputs. The caller provides the memory of an output for the
// whole run, but most outputs are written late: the gradient of the first layer's weight at the
// very end. Until then its bytes are free, so activations and temporaries may use them, and the
// arena shrinks by as much.
#pragma once
#include <cstdint>

#include "passes/pass_options.h"
#include "plan/program.h"

namespace shw {

// Moves storages out of the arena until no further one that is live at the fullest step fits into
// an output. No storage may lie in an output before. Returns the number of storages moved.
uint32_t lend_outputs(Program& program);

// Turns storages that lie in outputs into arena scratch without an offset.
void take_back_outputs(Program& program);

// An upper bound on the arena bytes that lending saves; 0 if outputs cannot be lent.
int64_t lendable_bytes(const Program& program, const PassOptions& options);

}  // namespace shw
