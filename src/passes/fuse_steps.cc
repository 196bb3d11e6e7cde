// fuse-steps: puts consecutive steps that work slice by slice into groups (groups/form_groups.h).
#include "groups/form_groups.h"
#include "passes/pass.h"

namespace shw {
namespace {

Result<uint32_t> run_fuse_steps(Program& p, const PassOptions&, Monitor& monitor) {
  SHW_RETURN_IF_ERROR(monitor.poll());
  return form_groups(p, order_of(p));
}

}  // namespace

extern const PassDef kFuseSteps;
constinit const PassDef kFuseSteps = {"fuse-steps", "Puts steps together that run slice by slice.",
                                      run_fuse_steps};

}  // namespace shw
