// Shared by the passes that remove steps.
#pragma once
#include <vector>

#include "plan/program.h"

namespace shw {

// Removes the steps whose flag is 0, then all unreferenced values, storages and events, and
// renumbers the rest in order. If a storage was removed, the memory plan is discarded.
void keep_steps(Program& program, const std::vector<uint8_t>& keep);

}  // namespace shw
