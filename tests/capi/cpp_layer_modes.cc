// The C++ layer with results, linked into a program whose other half has exceptions: neither takes
// the other's functions.
#define SHARDWISE_RESULTS
#include "shardwise/shardwise.hpp"

shw_code code_of_a_wrong_plan();

// SHW_OK: the call did not fail, or there is no context.
shw_code code_of_a_wrong_plan() {
  const shardwise::Result<shardwise::Context> context = shardwise::Context::create();
  if (!context.ok()) return SHW_OK;
  const shardwise::Result<shardwise::Plan> plan =
      shardwise::Plan::load(*context, shardwise::bytes(std::string_view("no plan")));
  return plan.status().code();
}
