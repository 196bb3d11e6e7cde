// The part of verify() that checks the groups of fused steps.
#pragma once
#include "plan/program.h"

namespace shw {

// Indices of steps and values must be in range, and windows lie in their storages. Steps that run
// together, slice by slice, must be of one entry and one stream, none of them may wait for an event
// inside the group, each must be one that runs in slices, and none may touch bytes that another
// slice of an earlier one still needs.
Status verify_fused_groups(const Program& program);

}  // namespace shw
