/* For N = 1, 2, …, allocation number N and all later ones fail, until the call succeeds. Each
 * failure must be reported as RESOURCE_EXHAUSTED, leak nothing, and leave its objects usable. */
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "failing_new.h"
#include "mlp.h"
#include "testing.h"

enum { MOST_ALLOCATIONS = 200000 };

typedef struct state {
  shw_context* context;
  shw_blob *graph, *bytes;
  shw_plan* plan;
  shw_planner* planner;
  mlp_job job;
  shw_runner* runner;
} state;

/* Does one operation and destroys what it makes. */
typedef shw_status* (*operation)(state* s);

static const char kHardware[] = "{\"base\": \"h100\", \"nccl\": {\"net_latency_us\": 0}}";

static shw_status* compile_for(state* s, int64_t dp, int64_t tp) {
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, dp, tp);
  shw_plan* plan = (shw_plan*)s;
  shw_status* status;
  options.hardware_description.data = kHardware;
  options.hardware_description.size = strlen(kHardware);
  status = shw_plan_compile(s->context, bytes_of(s->graph), &options, &plan);
  EXPECT((plan != NULL) == (status == NULL));
  shw_plan_destroy(plan);
  return status;
}

static shw_status* compile(state* s) { return compile_for(s, 4, 1); }
static shw_status* compile_with_orders(state* s) { return compile_for(s, 2, 2); }

static shw_status* load(state* s) {
  shw_plan* plan = (shw_plan*)s;
  shw_status* status = shw_plan_load(s->context, bytes_of(s->bytes), &plan);
  EXPECT((plan != NULL) == (status == NULL));
  shw_plan_destroy(plan);
  return status;
}

static shw_status* save(state* s) {
  shw_blob* blob = (shw_blob*)s;
  shw_status* status = shw_plan_save(s->plan, &blob);
  EXPECT((blob != NULL) == (status == NULL));
  shw_blob_destroy(blob);
  return status;
}

static shw_status* describe(state* s) {
  shw_blob* blob = NULL;
  shw_status* status = shw_plan_to_json(s->plan, &blob);
  shw_blob_destroy(blob);
  if (status != NULL) return status;
  status = shw_plan_to_text(s->plan, &blob);
  shw_blob_destroy(blob);
  if (status != NULL) return status;
  status = shw_plan_to_module_tree(s->plan, &blob);
  shw_blob_destroy(blob);
  if (status != NULL) return status;
  status = shw_plan_to_trace(s->plan, NULL, &blob);
  shw_blob_destroy(blob);
  if (status != NULL) return status;
  status = shw_plan_to_report(s->plan, s->plan, NULL, &blob);
  shw_blob_destroy(blob);
  if (status != NULL) return status;
  {
    shw_comparison* comparison = NULL;
    shw_blob* text = NULL;
    status = shw_plan_compare(s->plan, s->plan, &comparison);
    if (status == NULL) status = shw_comparison_to_text(comparison, &text);
    shw_blob_destroy(text);
    shw_comparison_destroy(comparison);
  }
  return status;
}

static shw_status* compile_again(state* s) {
  shw_plan* plan = (shw_plan*)s;
  shw_status* status = shw_planner_compile(s->planner, NULL, &plan);
  EXPECT((plan != NULL) == (status == NULL));
  shw_plan_destroy(plan);
  return status;
}

static shw_status* compile_placements(state* s) {
  shw_planner_changes changes = SHW_PLANNER_CHANGES_INIT;
  shw_blob* saved = NULL;
  shw_plan* plan = NULL;
  shw_status* status = shw_plan_to_placements(s->plan, &saved);
  changes.placements = bytes_of(saved);
  if (status == NULL) status = shw_planner_compile(s->planner, &changes, &plan);
  shw_plan_destroy(plan);
  shw_blob_destroy(saved);
  return status;
}

static shw_status* explain(state* s) {
  shw_explanation* explanation = (shw_explanation*)s;
  shw_explanation_options options = SHW_EXPLANATION_OPTIONS_INIT;
  shw_status* status;
  options.layout = "RS(1)";
  status = shw_planner_explain(s->planner, "param.w1", &options, NULL, &explanation);
  EXPECT((explanation != NULL) == (status == NULL));
  shw_explanation_destroy(explanation);
  return status;
}

/* The JSON is a tree of lists and objects, which are partly built when memory runs out. */
static shw_status* import_graph(state* s) {
  static const char kGraph[] =
      "{\"format\": \"ap-graph-1\", \"nodes\": [{\"name\": \"a name that is not short\", \"op\": "
      "\"placeholder\", \"target\": \"a\", \"args\": [], \"kwargs\": {}, \"val\": {\"shape\": [4, "
      "4], "
      "\"stride\": [4, 1], \"dtype\": \"float32\"}, \"desc\": {\"cls\": \"PlainAOTInput\", "
      "\"idx\": 0}}, {\"name\": \"y\", \"op\": \"call_function\", \"target\": \"aten.mm.default\", "
      "\"args\": [{\"n\": \"a name that is not short\"}, {\"n\": \"a name that is not short\"}], "
      "\"kwargs\": {}, \"val\": {\"shape\": [4, 4], \"stride\": [4, 1], \"dtype\": "
      "\"float32\"}}, {\"name\": \"output\", \"op\": \"output\", \"target\": \"output\", "
      "\"args\": [[{\"n\": \"y\"}]], \"kwargs\": {}}]}";
  const shw_bytes bytes = {kGraph, sizeof kGraph - 1};
  shw_blob* graph = (shw_blob*)s;
  shw_status* status = shw_graph_import(s->context, SHW_GRAPH_FORMAT_FX_JSON, bytes, &graph);
  EXPECT((graph != NULL) == (status == NULL));
  shw_blob_destroy(graph);
  return status;
}

static shw_status* solve(state* s) {
  static const char kProblem[] =
      "{\"problem\": {\"nodes\": {\"intervals\": [[0, 2], [1, 3]], \"costs\": [[1, 2], [3, 4]], "
      "\"usages\": [[5, 1], [5, 1]]}, \"edges\": {\"nodes\": [[0, 1]], \"costs\": [[0, 1, 1, "
      "0]]}, \"usage_limit\": 6}}";
  const shw_bytes bytes = {kProblem, sizeof kProblem - 1};
  shw_solution_options options = SHW_SOLUTION_OPTIONS_INIT;
  shw_solution* solution = (shw_solution*)s;
  shw_status* status;
  options.format = SHW_PROBLEM_FORMAT_IOPDDL;
  options.num_threads = 1;
  status = shw_solution_create(s->context, bytes, &options, &solution);
  EXPECT((solution != NULL) == (status == NULL));
  if (status == NULL) {
    shw_blob* json = NULL;
    status = shw_solution_to_json(solution, &json);
    shw_blob_destroy(json);
  }
  shw_solution_destroy(solution);
  return status;
}

static shw_status* create_executor(state* s) {
  shw_executor* executor = (shw_executor*)s;
  shw_world* world = NULL;
  shw_status* status = shw_world_create_virtual(s->context, 4, NULL, &world);
  if (status == NULL) {
    status = shw_executor_create(s->plan, world, 0, NULL, &executor);
    EXPECT((executor != NULL) == (status == NULL));
    shw_executor_destroy(executor);
  }
  shw_world_destroy(world);
  return status;
}

/* Runs all ranks. If one rank's run cannot be enqueued, the others are stopped. */
static shw_status* run(state* s) {
  shw_buffer* outputs[8][MLP_NUM_OUTPUTS];
  shw_event* done[8];
  shw_status* status = NULL;
  int32_t rank, count = 0;
  size_t i;
  while (status == NULL && count < s->job.num_ranks) {
    status = enqueue(s->job.executors[count], s->job.entry, s->job.inputs[count], MLP_NUM_INPUTS,
                     outputs[count], MLP_NUM_OUTPUTS, NULL, 0, &done[count]);
    ++count;
  }
  fail_none();
  if (status != NULL)
    for (rank = 0; rank < s->job.num_ranks; ++rank) shw_executor_abort(s->job.executors[rank]);
  for (rank = 0; rank < count; ++rank) {
    if (done[rank] != NULL) shw_status_destroy(shw_event_wait(done[rank], -1));
    shw_event_destroy(done[rank]);
    for (i = 0; i < MLP_NUM_OUTPUTS; ++i) shw_buffer_destroy(outputs[rank][i]);
  }
  if (status != NULL)
    for (rank = 0; rank < s->job.num_ranks; ++rank) shw_executor_reset(s->job.executors[rank]);
  return status;
}

/* Runs all ranks through a runner. After a failed run the runner must stay usable. */
static shw_status* run_by_name(state* s) {
  static const int64_t kX[2] = {MLP_BATCH, MLP_IN}, kW1[2] = {MLP_IN, MLP_HIDDEN},
                       kW2[2] = {MLP_HIDDEN, MLP_OUT}, kY[2] = {MLP_BATCH, MLP_OUT};
  static const struct {
    const char* name;
    const int64_t* dims;
  } kInputs[] = {{"input.0", kX}, {"param.w1", kW1}, {"param.w2", kW2}, {"tangent.0", kY}};
  shw_named_tensor inputs[MLP_NUM_INPUTS];
  shw_pending* pending = NULL;
  shw_status* status;
  int i;
  memset(inputs, 0, sizeof inputs);
  for (i = 0; i < MLP_NUM_INPUTS; ++i) {
    inputs[i].name = kInputs[i].name;
    inputs[i].tensor.data = (void*)mlp_input(kInputs[i].name);
    inputs[i].tensor.dims = kInputs[i].dims;
    inputs[i].tensor.rank = 2;
    inputs[i].tensor.dtype = SHW_DTYPE_F32;
  }
  status = shw_runner_start(s->runner, NULL, inputs, MLP_NUM_INPUTS, &pending);
  EXPECT((pending != NULL) == (status == NULL));
  if (status == NULL) status = shw_pending_wait(pending, -1);
  shw_pending_destroy(pending);
  return status;
}

static shw_status* build(state* s) {
  static const int64_t kDims[2] = {4, 4};
  shw_builder* b = NULL;
  shw_blob* blob = NULL;
  size_t x[2] = {0, 0}, y = 0;
  shw_status* status = shw_builder_create(s->context, &b);
  if (status == NULL)
    status = add_input(b, SHW_ROLE_INPUT, "a name that is not short", 0, SHW_DTYPE_F32, kDims, 2,
                       NULL, &x[0]);
  x[1] = x[0];
  if (status == NULL) status = shw_builder_add_node(b, "mm", x, 2, NULL, 0, NULL, &y);
  if (status == NULL) status = add_output(b, SHW_ROLE_RESULT, y, NULL, SHW_NONE);
  if (status == NULL) status = shw_builder_finish(b, &blob);
  shw_blob_destroy(blob);
  shw_builder_destroy(b);
  return status;
}

/* Sizes as expressions: those of inputs, those in attributes, and those derived from them. */
static shw_status* build_with_symbols(state* s) {
  const shw_attr half = SHW_ATTR_EXPR("end", "length+-4");
  shw_symbol symbol = SHW_SYMBOL_INIT;
  shw_builder_input input = SHW_BUILDER_INPUT_INIT;
  shw_builder* b = NULL;
  shw_blob* blob = NULL;
  size_t x = 0, y = 0, number = 0;
  shw_status* status = shw_builder_create(s->context, &b);
  symbol.name = "length";
  symbol.minimum = symbol.divisor = 8;
  symbol.maximum = 64;
  input.role = SHW_ROLE_INPUT;
  input.name = "a name that is not short";
  input.dtype = SHW_DTYPE_F32;
  input.symbolic_dims = "[2*length,length,4]";
  if (status == NULL) status = shw_builder_add_symbol(b, &symbol, &number);
  if (status == NULL) status = shw_builder_add_input(b, &input, NULL, &x);
  if (status == NULL) status = shw_builder_add_node(b, "slice", &x, 1, &half, 1, NULL, &y);
  if (status == NULL) status = add_output(b, SHW_ROLE_RESULT, y, NULL, SHW_NONE);
  if (status == NULL) status = shw_builder_finish(b, &blob);
  shw_blob_destroy(blob);
  shw_builder_destroy(b);
  return status;
}

/* Tests every `step`-th allocation. `keeps_nothing`: a failure leaves no memory allocated.
 * Executors keep the memory of their failures, which their events report. */
static void fails_at_every_allocation(const char* name, operation f, state* s, int keeps_nothing,
                                      long step) {
  long n, before;
  int failed = 1, sound = 1;
  EXPECT_OK(f(s)); /* warms up what is made once, such as thread-local state of the C++ library */
  before = live_pieces();
  for (n = 1; failed && sound && n < MOST_ALLOCATIONS; n += step) {
    shw_status* status;
    fail_from(n);
    status = f(s);
    fail_none();
    failed = has_failed();
    /* A failed allocation need not fail the call: a sort without memory for a copy is in place. */
    if (status != NULL) sound &= EXPECT_CODE(status, SHW_RESOURCE_EXHAUSTED) && EXPECT(failed);
    if (keeps_nothing) sound &= EXPECT(live_pieces() == before);
    if (!sound)
      fprintf(stderr, "  %s, allocation %ld: %ld pieces leaked\n", name, n, live_pieces() - before);
  }
  EXPECT(n > 2 && n < MOST_ALLOCATIONS);
  EXPECT_OK(f(s));
}

static shw_planner* planner_for(state* s, int64_t dp, int64_t tp) {
  shw_mesh_axis axes[2];
  const shw_compile_options options = mlp_options(axes, dp, tp);
  shw_planner* planner = NULL;
  EXPECT_OK(shw_planner_create(s->context, bytes_of(s->graph), &options, &planner));
  return planner;
}

/* Runs in which every allocation of the library's threads fails. */
static void threads_of_the_library_allocate_nothing(state* s) {
  int i;
  EXPECT(mlp_job_run_and_check(s->plan, &s->job));
  for (i = 0; i < 20; ++i) {
    int good;
    fail_elsewhere(1);
    good = mlp_job_run_and_check(s->plan, &s->job);
    fail_elsewhere(0);
    EXPECT(good);
    EXPECT(failed_elsewhere() == 0);
  }
}

int main(void) {
  state s;
  s.context = new_context();
  s.graph = mlp_graph(s.context);
  s.plan = mlp_plan(s.context, 2, 2);
  s.planner = planner_for(&s, 2, 2);
  s.bytes = NULL;
  EXPECT_OK(shw_plan_save(s.plan, &s.bytes));
  if (!mlp_job_create(s.context, s.plan, &s.job)) return test_result();
  fails_at_every_allocation("build", build, &s, 1, 1);
  fails_at_every_allocation("build with symbols", build_with_symbols, &s, 1, 1);
  fails_at_every_allocation("load", load, &s, 1, 1);
  fails_at_every_allocation("save", save, &s, 1, 1);
  fails_at_every_allocation("describe", describe, &s, 1, 1);
  fails_at_every_allocation("import", import_graph, &s, 1, 1);
  fails_at_every_allocation("solve", solve, &s, 1, 1);
  fails_at_every_allocation("create executor", create_executor, &s, 1, 1);
  fails_at_every_allocation("run", run, &s, 0, 1);
  s.runner = NULL;
  EXPECT_OK(shw_runner_create(s.plan, NULL, NULL, &s.runner));
  fails_at_every_allocation("run by name", run_by_name, &s, 0, 1);
  shw_runner_destroy(s.runner);
  threads_of_the_library_allocate_nothing(&s);
  fails_at_every_allocation("compile", compile, &s, 1, 1);
  /* Pricing orders makes some ten thousand similar allocations, so only a sample is tested. */
  fails_at_every_allocation("compile with orders", compile_with_orders, &s, 1, 23);
  fails_at_every_allocation("compile again", compile_again, &s, 1, 5);
  fails_at_every_allocation("compile placements", compile_placements, &s, 1, 7);
  fails_at_every_allocation("explain", explain, &s, 1, 23);
  mlp_job_destroy(&s.job);
  shw_planner_destroy(s.planner);
  shw_plan_destroy(s.plan);
  shw_blob_destroy(s.bytes);
  shw_blob_destroy(s.graph);
  shw_context_destroy(s.context);
  return test_result();
}
