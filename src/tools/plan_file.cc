#include "tools/plan_file.h"

#include "import/file.h"

namespace shw::tools {

Result<Plan> read_plan_file(const std::string& path) {
  SHW_ASSIGN_OR_RETURN(const std::vector<uint8_t> bytes, import::read_file(path));
  auto plan = read_plan(bytes);
  if (plan.ok()) return plan;
  return Status(plan.status().code(), path + ": " + plan.status().message());
}

}  // namespace shw::tools
