// The C++ layer in results mode, linked into a program whose other part uses exceptions. Neither
// part may use the other's functions.
#define SHARDWISE_RESULTS
#include "shardwise/shardwise.hpp"

shw_code code_of_a_wrong_plan();

// Returns SHW_OK if the call did not fail, or if there is no context.
shw_code code_of_a_wrong_plan() {
  const shardwise::Result<shardwise::Context> context = shardwise::Context::create();
  if (!context.ok()) return SHW_OK;
  const shardwise::Result<shardwise::Plan> plan =
      shardwise::Plan::load(*context, shardwise::bytes(std::string_view("no plan")));
  return plan.status().code();
}
