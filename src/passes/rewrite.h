// What passes that remove steps have in common.
#pragma once
#include <vector>

#include "plan/program.h"

namespace shw {

// Removes the steps whose flag is 0, then the values, storages and events that nothing refers to,
// and numbers what is left in its old order. Memory is unplanned afterwards if a storage went.
void keep_steps(Program& program, const std::vector<uint8_t>& keep);

}  // namespace shw
