/* Includes every header twice and uses every INIT macro, in code that is valid in all standards
 * since C99 and C++98. */
#include "shardwise/shardwise.h"

size_t use_headers(void);
size_t use_headers(void) {
  static const int64_t kDims[2] = {1, 0};
  const shw_attr attrs[] = {SHW_ATTR_INT("dim", 1),          SHW_ATTR_FLOAT("scale", 0.5),
                            SHW_ATTR_BOOL("keepdim", 1),     SHW_ATTR_DTYPE("dtype", SHW_DTYPE_F32),
                            SHW_ATTR_INTS("dims", kDims, 2), SHW_ATTR_STRING("equation", "ab->ba"),
                            SHW_ATTR_EXPR("end", "2*cache")};
  const shw_context_options context_options = SHW_CONTEXT_OPTIONS_INIT;
  const shw_compile_options compile_options = SHW_COMPILE_OPTIONS_INIT;
  const shw_planner_changes planner_changes = SHW_PLANNER_CHANGES_INIT;
  const shw_search_options search_options = SHW_SEARCH_OPTIONS_INIT;
  const shw_search_candidate search_candidate = SHW_SEARCH_CANDIDATE_INIT;
  const shw_explanation_summary explanation_summary = SHW_EXPLANATION_SUMMARY_INIT;
  const shw_explanation_alternative explanation_alternative = SHW_EXPLANATION_ALTERNATIVE_INIT;
  const shw_explanation_edge explanation_edge = SHW_EXPLANATION_EDGE_INIT;
  const shw_pareto_point pareto_point = SHW_PARETO_POINT_INIT;
  const shw_recipes_options recipes_options = SHW_RECIPES_OPTIONS_INIT;
  const shw_recipes_row recipes_row = SHW_RECIPES_ROW_INIT;
  const shw_plan_summary plan_summary = SHW_PLAN_SUMMARY_INIT;
  const shw_plan_entry plan_entry = SHW_PLAN_ENTRY_INIT;
  const shw_plan_port plan_port = SHW_PLAN_PORT_INIT;
  const shw_plan_node plan_node = SHW_PLAN_NODE_INIT;
  const shw_plan_step plan_step = SHW_PLAN_STEP_INIT;
  const shw_plan_collective plan_collective = SHW_PLAN_COLLECTIVE_INIT;
  const shw_plan_memory_share plan_memory_share = SHW_PLAN_MEMORY_SHARE_INIT;
  const shw_plan_phase plan_phase = SHW_PLAN_PHASE_INIT;
  const shw_executor_options executor_options = SHW_EXECUTOR_OPTIONS_INIT;
  const shw_run run = SHW_RUN_INIT;
  const shw_world_options world_options = SHW_WORLD_OPTIONS_INIT;
  const shw_device_info device_info = SHW_DEVICE_INFO_INIT;
  const shw_node_options node_options = SHW_NODE_OPTIONS_INIT;
  const shw_result_type result_type = SHW_RESULT_TYPE_INIT;
  const shw_builder_input builder_input = SHW_BUILDER_INPUT_INIT;
  const shw_builder_output builder_output = SHW_BUILDER_OUTPUT_INIT;
  const shw_builder_entry builder_entry = SHW_BUILDER_ENTRY_INIT;
  const shw_op_param op_param = SHW_OP_PARAM_INIT;
  const shw_symbol symbol = SHW_SYMBOL_INIT;
  return op_param.struct_size + symbol.struct_size + sizeof attrs / sizeof attrs[0] +
         context_options.struct_size + compile_options.struct_size + planner_changes.struct_size +
         search_options.struct_size + search_candidate.struct_size +
         explanation_summary.struct_size + explanation_alternative.struct_size +
         explanation_edge.struct_size + pareto_point.struct_size + recipes_options.struct_size +
         recipes_row.struct_size + plan_summary.struct_size + plan_entry.struct_size +
         plan_port.struct_size + plan_node.struct_size + plan_step.struct_size +
         plan_collective.struct_size + plan_memory_share.struct_size + plan_phase.struct_size +
         executor_options.struct_size + run.struct_size + world_options.struct_size +
         device_info.struct_size + node_options.struct_size + result_type.struct_size +
         builder_input.struct_size + builder_output.struct_size + builder_entry.struct_size;
}
