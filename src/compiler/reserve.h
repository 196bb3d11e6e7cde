// What a program needs above its plan, point by point.
#pragma once
#include <vector>

#include "compiler/prepared_model.h"
#include "placement/solve_placement.h"

namespace shw {

// By point of the memory model, the bytes that the lowered program holds above what was planned
// there; zero where the program stays within the limit. Empty: it exceeds the limit at no point
// that is known, or not at all.
std::vector<double> bytes_above_plan(const PreparedModel& model, const Placed& placed,
                                     double limit_bytes);

}  // namespace shw
