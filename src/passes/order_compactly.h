// The order of steps that holds little: each collective where it frees memory the soonest, or in
// front of its reader, one step after another. The program must have no streams and events.
#pragma once
#include "plan/program.h"

namespace shw {

void order_compactly(Program& program);

}  // namespace shw
