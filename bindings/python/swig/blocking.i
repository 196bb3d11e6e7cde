/*
 * Calls that take long release the GIL. Those on a builder or planner do not run twice at once:
 * shardwise._planner holds a lock, and calls on builders keep the GIL.
 */
%thread shw_graph_import;
%thread shw_graph_import_onnx;
%thread shw_graph_get_summary;
%thread shw_graph_to_text;
%thread shw_plan_compile;
%thread shw_plan_load;
%thread shw_plan_save;
%thread shw_plan_compare;
%thread shw_plan_to_json;
%thread shw_plan_to_text;
%thread shw_plan_to_trace;
%thread shw_plan_bench;
%thread shw_bench_collectives;
%thread shw_plan_to_module_tree;
%thread shw_plan_to_module_tree_text;
%thread shw_plan_to_program_text;
%thread shw_plan_to_placements;
%thread shw_plan_shard;
%thread shw_plan_shard_into;
%thread shw_planner_create;
%thread shw_planner_compile;
%thread shw_planner_export;
%thread shw_planner_explain;
%thread shw_planner_explain_plan;
%thread shw_planner_pareto;
%thread shw_planner_compare;
%thread shw_plan_to_report;
%thread shw_planner_to_report;
%thread shw_search_create;
%thread shw_solution_create;
%thread shw_calibration_create;
%thread shw_world_create_mpi;
%thread shw_executor_create;
%thread shw_verification_create;
%thread shw_group_all_gather;
%thread shw_group_all_to_all;
%thread shw_group_all_to_all_v;
%thread shw_group_reduce_scatter;
%thread shw_group_all_reduce;
