// The second half of verify(Program): what is read and written when. The first half has passed:
// indices are in range.
#pragma once
#include <string>

#include "plan/happens_before.h"
#include "plan/program.h"

namespace shw {

// "step 3 (matmul): ", in front of what is wrong with it.
std::string at_step(const Program& program, uint32_t step);

// Every operand is written before it is read and known to be, in its entry or, in session memory,
// by an entry that ran before. Nothing is written twice; inputs and state are overwritten only by
// updates, and every step that reads them is known to run before the update, or after it.
Status verify_dataflow(const Program& program, const HappensBefore& order);

// Two storages share bytes of the arena only if every step that touches the one is over when the
// first that touches the other begins. So it is with bytes of an output, which scratch has before
// anything is written to the output. Storages of a session share none.
Status verify_memory(const Program& program, const HappensBefore& order);

}  // namespace shw
