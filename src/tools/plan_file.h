// A plan from a file.
#pragma once
#include <string>

#include "plan/plan.h"

namespace shw::tools {

// Errors of the plan name the file.
Result<Plan> read_plan_file(const std::string& path);

}  // namespace shw::tools
