// The memory that a program needs beyond its plan, point by point.
#pragma once
#include <vector>

#include "compiler/prepared_model.h"
#include "placement/solve_placement.h"

namespace shw {

// For each point of the memory model, the bytes that the lowered program holds above what was
// planned there; zero where the program stays within the limit. Empty: all are zero. The program
// may still exceed the limit, at a step that corresponds to no point of the model.
std::vector<double> bytes_above_plan(const PreparedModel& model, const Placed& placed,
                                     double limit_bytes);

}  // namespace shw
