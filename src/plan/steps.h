// The steps of a program as a table and as JSON: the kernel, the bytes sent and the cost of each.
#pragma once
#include <string>

#include "plan/program.h"

namespace shw {

// A line for each step, and their sum.
std::string steps_text(const Program& program);
// {"steps": [{"entry", "kernel", "inputs", "outputs" (types of a rank's pieces), "axes", "to_axes"
// (names of mesh dims; collectives), "reduce", "wire_bytes", "cost_us", "basis", "node"}],
// "wire_bytes", "cost_us"}; members that do not apply are omitted.
std::string steps_json(const Program& program);

}  // namespace shw
