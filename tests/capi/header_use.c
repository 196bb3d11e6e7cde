/* Includes every header twice and uses every INIT macro, in the words that all standards from C99
 * and C++98 on have. */
#include "shardwise/builder.h"
#include "shardwise/planner.h"
#include "shardwise/runtime.h"
#include "shardwise/shardwise.h"

size_t use_headers(void);
size_t use_headers(void) {
  static const int64_t kDims[2] = {1, 0};
  const shw_attr attrs[] = {SHW_ATTR_INT("dim", 1),          SHW_ATTR_FLOAT("scale", 0.5),
                            SHW_ATTR_BOOL("keepdim", 1),     SHW_ATTR_DTYPE("dtype", SHW_DTYPE_F32),
                            SHW_ATTR_INTS("dims", kDims, 2), SHW_ATTR_STRING("equation", "ab->ba")};
  const shw_context_options context = SHW_CONTEXT_OPTIONS_INIT;
  const shw_compile_options compile = SHW_COMPILE_OPTIONS_INIT;
  const shw_plan_summary summary = SHW_PLAN_SUMMARY_INIT;
  const shw_plan_entry entry = SHW_PLAN_ENTRY_INIT;
  const shw_plan_port port = SHW_PLAN_PORT_INIT;
  const shw_plan_node plan_node = SHW_PLAN_NODE_INIT;
  const shw_executor_options executor = SHW_EXECUTOR_OPTIONS_INIT;
  const shw_node_options node = SHW_NODE_OPTIONS_INIT;
  const shw_result_type type = SHW_RESULT_TYPE_INIT;
  const shw_planner_changes changes = SHW_PLANNER_CHANGES_INIT;
  return context.struct_size + compile.struct_size + summary.struct_size + entry.struct_size +
         port.struct_size + plan_node.struct_size + executor.struct_size + node.struct_size +
         type.struct_size + changes.struct_size + sizeof attrs / sizeof attrs[0];
}
