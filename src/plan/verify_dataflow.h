// The second half of verify(Program): the order of reads and writes. The first half must have
// passed, so indices are in range.
#pragma once
#include <string>

#include "plan/happens_before.h"
#include "plan/program.h"

namespace shw {

// "step 3 (matmul): ", the prefix of an error message about a step.
std::string at_step(const Program& program, uint32_t step);

// Checks that every operand is known to be written before it is read, in its entry or, in session
// memory, by an earlier entry. Nothing is written twice; inputs and state are overwritten only by
// updates, and every step that reads them is known to run before the update, or after it.
Status verify_dataflow(const Program& program, const HappensBefore& order);

// Checks that two storages share bytes of the arena only if every step that touches the one is
// known to be over when the first step that touches the other begins. The same holds for an output
// and scratch in its memory, which is used before the output is written. Storages of a session must
// not share bytes.
Status verify_memory(const Program& program, const HappensBefore& order);

}  // namespace shw
