/* Callers that were built against another version of the header: shorter, longer and wrong structs.
 */
#include <string.h>

#include "calls.h"
#include "shardwise/shardwise.h"
#include "testing.h"

/* The struct as a later release might define it. */
typedef struct newer_context_options {
  shw_context_options known;
  uint64_t unknown;
} newer_context_options;

static void expect_context(uint32_t version, const void* options, shw_code code, const char* text) {
  shw_context* context = (shw_context*)&context; /* must be overwritten, also on failure */
  shw_status* status = shw_context_create(version, (const shw_context_options*)options, &context);
  if (code == SHW_OK)
    EXPECT_OK(status);
  else
    EXPECT_REFUSED(status, code, text);
  EXPECT((context != NULL) == (code == SHW_OK));
  shw_context_destroy(context);
}

static void reads_structs_of_every_age(void) {
  newer_context_options newer;
  shw_context_options now = SHW_CONTEXT_OPTIONS_INIT;
  expect_context(SHW_API_VERSION, NULL, SHW_OK, "");
  expect_context(SHW_API_VERSION, &now, SHW_OK, "");
  memset(&newer, 0, sizeof newer);
  newer.known.struct_size = sizeof newer;
  expect_context(SHW_API_VERSION, &newer, SHW_OK, "");
  newer.unknown = 1;
  expect_context(SHW_API_VERSION, &newer, SHW_INVALID_ARGUMENT, "too old to know");
  now.struct_size = 0;
  expect_context(SHW_API_VERSION, &now, SHW_INVALID_ARGUMENT, "struct_size is 0");
  now.struct_size = sizeof now - 1;
  expect_context(SHW_API_VERSION, &now, SHW_INVALID_ARGUMENT, "struct_size");
  now.struct_size = (size_t)-1; /* a nonsensical size is refused */
  expect_context(SHW_API_VERSION, &now, SHW_INVALID_ARGUMENT, "struct_size");
}

static void refuses_what_it_does_not_know(void) {
  shw_context_options options = SHW_CONTEXT_OPTIONS_INIT;
  options.flags = (uint64_t)1 << 63;
  expect_context(SHW_API_VERSION, &options, SHW_INVALID_ARGUMENT, "flags");
  options.flags = 0;
  options.reserved = 1;
  expect_context(SHW_API_VERSION, &options, SHW_INVALID_ARGUMENT, "reserved");
  options.reserved = 0;
  options.log_level = 5;
  expect_context(SHW_API_VERSION, &options, SHW_INVALID_ARGUMENT, "log_level 5");
}

static void compares_versions(void) {
  const uint32_t now = SHW_API_VERSION;
  EXPECT(shw_api_version() == now);
  EXPECT(strcmp(shw_version_string(), "0.2.0") == 0);
  expect_context(now + 1, NULL, SHW_FAILED_PRECONDITION, "0.3");
  expect_context(now, NULL, SHW_OK, "");
  expect_context(0, NULL, SHW_FAILED_PRECONDITION, "version 0.0");
  expect_context(SHW_MAKE_VERSION(SHW_VERSION_MAJOR + 1, 0), NULL, SHW_FAILED_PRECONDITION,
                 "version 1.0 of shardwise.h, the library has version 0.2");
}

/* Every _init function writes the same value as the INIT macro, and nothing beyond `size`. */
#define EXPECT_INIT(type, init, macro)                             \
  do {                                                             \
    struct {                                                       \
      type value;                                                  \
      unsigned char guard;                                         \
    } made;                                                        \
    const type wanted = macro;                                     \
    memset(&made, 0x5a, sizeof made);                              \
    init(&made.value, sizeof made.value);                          \
    EXPECT(memcmp(&made.value, &wanted, sizeof wanted) == 0);      \
    EXPECT(made.guard == 0x5a);                                    \
    memset(&made, 0x5a, sizeof made);                              \
    init(&made.value, sizeof(size_t) + 1); /* an older caller's */ \
    EXPECT(made.value.struct_size == sizeof(size_t) + 1);          \
    EXPECT(((unsigned char*)&made)[sizeof(size_t)] == 0);          \
    EXPECT(((unsigned char*)&made)[sizeof(size_t) + 1] == 0x5a);   \
    init(NULL, sizeof made.value);                                 \
    init(&made.value, 1); /* no room for the size: nothing */      \
    EXPECT(made.value.struct_size == sizeof(size_t) + 1);          \
  } while (0)

static void init_functions_are_the_macros(void) {
  EXPECT_INIT(shw_context_options, shw_context_options_init, SHW_CONTEXT_OPTIONS_INIT);
  EXPECT_INIT(shw_compile_options, shw_compile_options_init, SHW_COMPILE_OPTIONS_INIT);
  EXPECT_INIT(shw_planner_changes, shw_planner_changes_init, SHW_PLANNER_CHANGES_INIT);
  EXPECT_INIT(shw_search_options, shw_search_options_init, SHW_SEARCH_OPTIONS_INIT);
  EXPECT_INIT(shw_search_candidate, shw_search_candidate_init, SHW_SEARCH_CANDIDATE_INIT);
  EXPECT_INIT(shw_explanation_summary, shw_explanation_summary_init, SHW_EXPLANATION_SUMMARY_INIT);
  EXPECT_INIT(shw_explanation_alternative, shw_explanation_alternative_init,
              SHW_EXPLANATION_ALTERNATIVE_INIT);
  EXPECT_INIT(shw_explanation_edge, shw_explanation_edge_init, SHW_EXPLANATION_EDGE_INIT);
  EXPECT_INIT(shw_pareto_point, shw_pareto_point_init, SHW_PARETO_POINT_INIT);
  EXPECT_INIT(shw_recipes_options, shw_recipes_options_init, SHW_RECIPES_OPTIONS_INIT);
  EXPECT_INIT(shw_recipes_row, shw_recipes_row_init, SHW_RECIPES_ROW_INIT);
  EXPECT_INIT(shw_plan_summary, shw_plan_summary_init, SHW_PLAN_SUMMARY_INIT);
  EXPECT_INIT(shw_plan_entry, shw_plan_entry_init, SHW_PLAN_ENTRY_INIT);
  EXPECT_INIT(shw_plan_port, shw_plan_port_init, SHW_PLAN_PORT_INIT);
  EXPECT_INIT(shw_plan_node, shw_plan_node_init, SHW_PLAN_NODE_INIT);
  EXPECT_INIT(shw_plan_step, shw_plan_step_init, SHW_PLAN_STEP_INIT);
  EXPECT_INIT(shw_plan_collective, shw_plan_collective_init, SHW_PLAN_COLLECTIVE_INIT);
  EXPECT_INIT(shw_plan_memory_share, shw_plan_memory_share_init, SHW_PLAN_MEMORY_SHARE_INIT);
  EXPECT_INIT(shw_plan_phase, shw_plan_phase_init, SHW_PLAN_PHASE_INIT);
  EXPECT_INIT(shw_executor_options, shw_executor_options_init, SHW_EXECUTOR_OPTIONS_INIT);
  EXPECT_INIT(shw_run, shw_run_init, SHW_RUN_INIT);
  EXPECT_INIT(shw_world_options, shw_world_options_init, SHW_WORLD_OPTIONS_INIT);
  EXPECT_INIT(shw_device_info, shw_device_info_init, SHW_DEVICE_INFO_INIT);
  EXPECT_INIT(shw_node_options, shw_node_options_init, SHW_NODE_OPTIONS_INIT);
  EXPECT_INIT(shw_result_type, shw_result_type_init, SHW_RESULT_TYPE_INIT);
  EXPECT_INIT(shw_builder_input, shw_builder_input_init, SHW_BUILDER_INPUT_INIT);
  EXPECT_INIT(shw_builder_output, shw_builder_output_init, SHW_BUILDER_OUTPUT_INIT);
  EXPECT_INIT(shw_op_param, shw_op_param_init, SHW_OP_PARAM_INIT);
  EXPECT_INIT(shw_builder_entry, shw_builder_entry_init, SHW_BUILDER_ENTRY_INIT);
  EXPECT_INIT(shw_symbol, shw_symbol_init, SHW_SYMBOL_INIT);
}

static void expect_compile_refused(const shw_compile_options* options, const char* text) {
  const shw_bytes no_graph = {NULL, 0};
  shw_context* context = new_context();
  shw_plan* plan = (shw_plan*)&context;
  EXPECT_REFUSED(shw_plan_compile(context, no_graph, options, &plan), SHW_INVALID_ARGUMENT, text);
  EXPECT(plan == NULL);
  shw_context_destroy(context);
}

static void compile_options_are_checked(void) {
  const shw_compile_options start = SHW_COMPILE_OPTIONS_INIT;
  const shw_mesh_axis twice[] = {{"dp", 2}, {"dp", 4}}, empty[] = {{"dp", 0}},
                      unnamed[] = {{NULL, 2}}, sneaky[] = {{"dp=2,tp", 4}};
  const shw_mesh_axis seven[] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1},
                                 {"e", 1}, {"f", 1}, {"g", 1}};
  const shw_pin half = {NULL, "RR"};
  const shw_port_layout nameless = {NULL, "RR"};
  const char* const no_name[] = {"casts*", NULL};
  shw_compile_options o = start;
  o.flags = (uint64_t)1 << 40, expect_compile_refused(&o, "flags");
  o = start, o.num_mesh_axes = 1, expect_compile_refused(&o, "axes is NULL");
  o = start, o.mesh_axes = twice, o.num_mesh_axes = 2, expect_compile_refused(&o, "dp");
  o = start, o.mesh_axes = empty, o.num_mesh_axes = 1, expect_compile_refused(&o, "dp");
  o = start, o.mesh_axes = unnamed, o.num_mesh_axes = 1, expect_compile_refused(&o, "no name");
  o = start, o.mesh_axes = sneaky, o.num_mesh_axes = 1, expect_compile_refused(&o, "dp=2,tp");
  o = start, o.mesh_axes = seven, o.num_mesh_axes = 7, expect_compile_refused(&o, "at most 6");
  o = start, o.num_pins = 1, expect_compile_refused(&o, "pins is NULL");
  o = start, o.pins = &half, o.num_pins = 1, expect_compile_refused(&o, "pins[0]");
  o = start, o.rules = 3, expect_compile_refused(&o, "rules 3");
  o = start, o.rules = -1, expect_compile_refused(&o, "rules -1");
  o = start, o.rules = SHW_RULES_COMPAT, o.flags = SHW_COMPILE_STRIDED;
  expect_compile_refused(&o, "strided");
  o = start, o.param_budget = 4, expect_compile_refused(&o, "param_budget 4");
  o = start, o.param_budget_factor = 0.5, expect_compile_refused(&o, "param_budget_factor");
  o = start, o.param_budget = SHW_PARAM_BUDGET_FACTOR, expect_compile_refused(&o, "0.0");
  o.param_budget_factor = 1.5, expect_compile_refused(&o, "1.5");
  o = start, o.grad_reduce_dtype = 99, expect_compile_refused(&o, "99");
  o = start, o.num_threads = -1, expect_compile_refused(&o, "-1");
  o = start, o.time_limit_s = -1, expect_compile_refused(&o, "-1");
  o = start, o.gap = -1e-4, expect_compile_refused(&o, "gap");
  o = start, o.gap = 2, expect_compile_refused(&o, "gap");
  o = start, o.memory_limit_bytes = -1, expect_compile_refused(&o, "memory_limit_bytes is -1");
  o = start, o.optimizer_factor = -1, expect_compile_refused(&o, "optimizer_factor");
  o = start, o.recompute = "all", expect_compile_refused(&o, "recompute 'all': expected none");
  o = start, o.prefetch_bytes = -1, expect_compile_refused(&o, "prefetch_bytes");
  o = start, o.prefetch_depth = -1, expect_compile_refused(&o, "prefetch_depth");
  o = start, o.products_between_reductions = -1,
  expect_compile_refused(&o, "products_between_reductions");
  o = start, o.fuse_bytes = -1, expect_compile_refused(&o, "fuse_bytes");
  o = start, o.overlap = 5, expect_compile_refused(&o, "overlap 5 is unknown");
  o = start, o.overlap = -1, expect_compile_refused(&o, "overlap -1 is unknown");
  o = start, o.prefetch_scale = 0.5,
  expect_compile_refused(&o, "only valid with overlap SHW_OVERLAP_PREFETCH");
  o = start, o.bounded_share = 0.5,
  expect_compile_refused(&o, "only valid with overlap SHW_OVERLAP_BOUNDED");
  o = start, o.num_entries = 1, expect_compile_refused(&o, "entries is NULL");
  o = start, o.overlap = SHW_OVERLAP_BOUNDED, o.bounded_share = 1.5;
  expect_compile_refused(&o, "expected 0 to 1");
  o = start, o.reserved = 1, expect_compile_refused(&o, "reserved");
  o = start, o.num_without = 1, expect_compile_refused(&o, "without is NULL");
  o = start, o.without = no_name, o.num_without = 2;
  expect_compile_refused(&o, "without[1] is NULL");
  o = start, o.num_input_layouts = 1, expect_compile_refused(&o, "input_layouts is NULL");
  o = start, o.output_layouts = &nameless, o.num_output_layouts = 1;
  expect_compile_refused(&o, "output_layouts[0]");
  o = start, o.struct_size = 7, expect_compile_refused(&o, "struct_size is 7");
}

int main(void) {
  reads_structs_of_every_age();
  refuses_what_it_does_not_know();
  compares_versions();
  init_functions_are_the_macros();
  compile_options_are_checked();
  return test_result();
}
