// The steps of a program as a table and as JSON: what each does, sends and takes.
#pragma once
#include <string>

#include "plan/program.h"

namespace shw {

// A line for each step, and their sum.
std::string steps_text(const Program& program);
// {"steps": [{"entry", "kernel", "inputs", "outputs" (types of a rank's pieces), "axes", "to_axes"
// (names of mesh dims; collectives), "reduce", "wire_bytes", "cost_us", "basis", "node"}],
// "wire_bytes", "cost_us"}; what does not apply is left out.
std::string steps_json(const Program& program);

}  // namespace shw
