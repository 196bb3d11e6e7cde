// Orders steps so that little memory is live when they run one after another: each collective goes
// where it frees memory soonest, or in front of its reader. The program must have no streams or
// events.
#pragma once
#include "plan/program.h"

namespace shw {

void order_compactly(Program& program);

}  // namespace shw
