// The part of verify() that checks the groups of fused steps.
#pragma once
#include "plan/program.h"

namespace shw {

// Requires indices of steps and values in range, and windows within their storages. Checks that the
// steps of a group belong to one entry and one stream, that none waits for an event inside the
// group, that each can run in slices, and that none touches bytes that another slice of an earlier
// step still needs.
Status verify_fused_groups(const Program& program);

}  // namespace shw
