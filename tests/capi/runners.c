#define _POSIX_C_SOURCE 200809L
#include "runners.h"

#include <pthread.h>
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

enum { ROWS = 8, IN_FLIGHT = 6 };
static const int64_t kRows[1] = {ROWS};

static shw_named_tensor named(const char* name, const void* data, const int64_t* dims,
                              int32_t rank) {
  shw_named_tensor made;
  memset(&made, 0, sizeof made);
  made.name = name;
  made.tensor.data = (void*)data;
  made.tensor.dims = dims;
  made.tensor.rank = rank;
  made.tensor.dtype = SHW_DTYPE_F32;
  return made;
}

static int holds(const shw_buffer* whole, float value) {
  float values[ROWS];
  int i, good = EXPECT_OK(shw_buffer_read(whole, values, sizeof values));
  for (i = 0; i < ROWS; ++i) good = good && values[i] == value;
  return good;
}

/* One step of the perceptron as one call with named tensors, with outputs in the caller's memory.
 */
static void a_run_is_one_call(const shw_plan* plan) {
  static const int64_t kX[2] = {MLP_BATCH, MLP_IN}, kW1[2] = {MLP_IN, MLP_HIDDEN},
                       kW2[2] = {MLP_HIDDEN, MLP_OUT}, kY[2] = {MLP_BATCH, MLP_OUT};
  static float y[MLP_BATCH * MLP_OUT], dw1[MLP_IN * MLP_HIDDEN];
  shw_named_tensor in[MLP_NUM_INPUTS], out[2], swapped;
  shw_runner* runner = NULL;
  size_t place = 0;
  int i;
  in[0] = named("tangent.0", mlp_input("tangent.0"), kY, 2);
  in[1] = named("input.0", mlp_input("input.0"), kX, 2);
  in[2] = named("param.w1", mlp_input("param.w1"), kW1, 2);
  in[3] = named("param.w2", mlp_input("param.w2"), kW2, 2);
  out[0] = named("grad.w1", dw1, kW1, 2);
  out[1] = named("output", y, kY, 2);
  if (!EXPECT_OK(shw_plan_find_output(plan, 0, "grad.w1", &place))) return;
  EXPECT(place == 1);
  EXPECT_OK(shw_plan_find_input(plan, 0, "input.0", &place));
  EXPECT_REFUSED(shw_plan_find_input(plan, 0, "output", &place), SHW_NOT_FOUND,
                 "there is no input 'output'");
  EXPECT(place == SHW_NONE);
  EXPECT_CODE(shw_plan_find_input(plan, 7, "input.0", &place), SHW_OUT_OF_RANGE);
  EXPECT_OK(shw_runner_create(plan, NULL, NULL, &runner));
  for (i = 0; i < 3; ++i) {
    memset(y, 0, sizeof y);
    memset(dw1, 0, sizeof dw1);
    EXPECT_OK(shw_runner_run(runner, i == 0 ? NULL : "step", in, MLP_NUM_INPUTS, out, 2));
    EXPECT(memcmp(y, mlp_expected("output"), sizeof y) == 0);
    EXPECT(memcmp(dw1, mlp_expected("grad.w1"), sizeof dw1) == 0);
  }
  EXPECT_REFUSED(shw_runner_run(runner, "stop", in, MLP_NUM_INPUTS, out, 2), SHW_NOT_FOUND,
                 "there is no entry 'stop'; there are: step");
  EXPECT_REFUSED(shw_runner_run(runner, "step", in, 3, out, 2), SHW_INVALID_ARGUMENT,
                 "'param.w2', is missing");
  swapped = named("grad.w1", dw1, kY, 2);
  EXPECT_REFUSED(shw_runner_run(runner, "step", in, MLP_NUM_INPUTS, &swapped, 1),
                 SHW_INVALID_ARGUMENT, "the tensor for output 'grad.w1' is f32[8,16]");
  in[3] = in[2];
  EXPECT_REFUSED(shw_runner_run(runner, "step", in, MLP_NUM_INPUTS, out, 2), SHW_INVALID_ARGUMENT,
                 "input 'param.w1' is given twice");
  in[3] = named("param.w3", mlp_input("param.w2"), kW2, 2);
  EXPECT_REFUSED(shw_runner_run(runner, "step", in, MLP_NUM_INPUTS, out, 2), SHW_NOT_FOUND,
                 "there is no input 'param.w3'");
  in[3] = named("param.w2", mlp_input("param.w2"), kW2, 2);
  EXPECT_OK(shw_runner_run(runner, "step", in, MLP_NUM_INPUTS, NULL, 0));
  shw_runner_destroy(runner);
}

/* y = x + sum, sum += x. So the result of a run depends on all earlier runs. */
static shw_plan* plan_of_sums(shw_context* context) {
  const shw_mesh_axis mesh[1] = {{"dp", 2}};
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  shw_builder* b = NULL;
  shw_blob* graph = NULL;
  shw_plan* plan = NULL;
  size_t operands[2], y = 0;
  EXPECT_OK(shw_builder_create(context, &b));
  EXPECT_OK(add_input(b, SHW_ROLE_INPUT, "x", 0, SHW_DTYPE_F32, kRows, 1, NULL, &operands[0]));
  EXPECT_OK(add_state(b, SHW_ROLE_PARAMETER, "sum", kRows, 1, &operands[1]));
  EXPECT_OK(shw_builder_add_node(b, "add", operands, 2, NULL, 0, NULL, &y));
  EXPECT_OK(add_output(b, SHW_ROLE_RESULT, y, "y", SHW_NONE));
  EXPECT_OK(add_output(b, SHW_ROLE_UPDATE, y, NULL, operands[1]));
  EXPECT_OK(shw_builder_finish(b, &graph));
  options.mesh_axes = mesh;
  options.num_mesh_axes = 1;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &plan));
  shw_blob_destroy(graph);
  shw_builder_destroy(b);
  return plan;
}

static shw_status* start(shw_runner* runner, int value, shw_pending** out_pending) {
  float x[ROWS];
  shw_named_tensor input;
  int i;
  for (i = 0; i < ROWS; ++i) x[i] = (float)value;
  input = named("input.x", x, kRows, 1); /* copied: `x` ends with this call */
  return shw_runner_start(runner, "step", &input, 1, out_pending);
}

static void several_runs_are_in_flight(shw_runner* runner) {
  shw_pending* pending[IN_FLIGHT];
  shw_buffer* whole = NULL;
  shw_named_tensor zero;
  float zeros[ROWS] = {0};
  int round, i, sum = 0;
  zero = named("param.sum", zeros, kRows, 1);
  EXPECT_OK(shw_runner_set_state(runner, "param.sum", &zero.tensor));
  for (round = 0; round < 3; ++round) {
    for (i = 0; i < IN_FLIGHT; ++i) EXPECT_OK(start(runner, i + 1, &pending[i]));
    EXPECT_OK(shw_pending_wait(pending[IN_FLIGHT - 1], -1));
    for (i = 0; i < IN_FLIGHT; ++i) {
      sum += i + 1;
      EXPECT(shw_pending_query(pending[i]) == 1);
      EXPECT_OK(shw_pending_gather(pending[i], "output.y", &whole));
      EXPECT(holds(whole, (float)sum));
      shw_buffer_destroy(whole);
    }
    EXPECT_REFUSED(shw_pending_gather(pending[0], "input.x", &whole), SHW_NOT_FOUND,
                   "there is no output 'input.x'; there are: output.y");
    for (i = 0; i < IN_FLIGHT; ++i) shw_pending_destroy(pending[i]);
  }
  EXPECT_OK(shw_runner_gather_state(runner, "param.sum", &whole));
  EXPECT(holds(whole, (float)sum));
  shw_buffer_destroy(whole);
  EXPECT_CODE(shw_runner_set_state(runner, "input.x", &zero.tensor), SHW_INVALID_ARGUMENT);
  EXPECT_CODE(shw_runner_set_state(runner, "param.product", &zero.tensor), SHW_NOT_FOUND);
}

/* Written by a thread of the library and read by the test's thread. */
typedef struct told {
  pthread_mutex_t mutex;
  int count;
  shw_code code;
} told;

static void remember(void* user, shw_code code) {
  told* all = (told*)user;
  pthread_mutex_lock(&all->mutex);
  ++all->count;
  all->code = code;
  pthread_mutex_unlock(&all->mutex);
}

static int was_told(told* all, int count, shw_code code) {
  int good;
  pthread_mutex_lock(&all->mutex);
  good = EXPECT(all->count == count) && EXPECT(all->code == code);
  pthread_mutex_unlock(&all->mutex);
  return good;
}

/* The callback is called once for each shw_pending_notify(), even if the handle is destroyed. It
 * gets the code of the cause. */
static void ends_are_told(shw_runner* runner) {
  shw_pending* pending[IN_FLIGHT];
  told ends = {PTHREAD_MUTEX_INITIALIZER, 0, SHW_INTERNAL};
  shw_status* status;
  int i;
  for (i = 0; i < IN_FLIGHT; ++i) {
    EXPECT_OK(start(runner, i, &pending[i]));
    EXPECT_OK(shw_pending_notify(pending[i], remember, &ends));
  }
  for (i = 0; i + 1 < IN_FLIGHT; ++i) shw_pending_destroy(pending[i]);
  EXPECT_OK(shw_pending_wait(pending[IN_FLIGHT - 1], -1));
  EXPECT_CODE(shw_pending_notify(pending[IN_FLIGHT - 1], NULL, NULL), SHW_INVALID_ARGUMENT);
  shw_pending_destroy(pending[IN_FLIGHT - 1]);
  EXPECT_OK(start(runner, 0, &pending[0])); /* the callbacks of earlier runs have returned */
  EXPECT_OK(shw_pending_wait(pending[0], -1));
  was_told(&ends, IN_FLIGHT, SHW_OK);
  EXPECT_OK(shw_pending_notify(pending[0], remember, &ends));
  was_told(&ends, IN_FLIGHT + 1, SHW_OK); /* called during shw_pending_notify() */
  shw_pending_destroy(pending[0]);

  EXPECT_OK(start(runner, 0, &pending[0]));
  shw_runner_abort(runner);
  status = shw_pending_wait(pending[0], -1); /* NULL if the run ended before the abort */
  EXPECT_OK(shw_pending_notify(pending[0], remember, &ends));
  was_told(&ends, IN_FLIGHT + 2, status == NULL ? SHW_OK : shw_status_code(status));
  shw_status_destroy(status);
  shw_pending_destroy(pending[0]);
}

/* Runs that are not waited for, aborted runs, and runs that outlive their runner. */
static void runs_may_be_left_alone(shw_runner* runner) {
  shw_pending *pending = NULL, *last = NULL;
  shw_buffer* whole = NULL;
  shw_status* status;
  int i;
  for (i = 0; i < 20; ++i) {
    EXPECT_OK(start(runner, i, &pending));
    shw_pending_destroy(pending);
  }
  for (i = 0; i < 200; ++i) { /* a rank may learn of the abort from another rank */
    EXPECT_OK(start(runner, 0, &pending));
    shw_runner_abort(runner);
    status = shw_pending_wait(pending, -1); /* NULL if the run ended before the abort */
    EXPECT(status == NULL || shw_status_code(status) == SHW_CANCELLED);
    shw_status_destroy(status);
    shw_pending_destroy(pending);
  }
  EXPECT_OK(start(runner, 0, &last));
  EXPECT_OK(shw_pending_wait(last, -1));
  EXPECT_OK(start(runner, 1, &pending));
  shw_runner_destroy(runner);
  EXPECT(shw_pending_query(pending) == 1);
  shw_status_destroy(shw_pending_wait(pending, -1));
  EXPECT_OK(shw_pending_gather(last, "output.y", &whole));
  shw_buffer_destroy(whole);
  shw_pending_destroy(pending);
  shw_pending_destroy(last);
}

static void* abort_once(void* runner) {
  shw_runner_abort((shw_runner*)runner);
  return NULL;
}

/* One thread aborts while another call makes the runner usable again. The abort affects earlier
 * runs or that call, but not the run after both. */
static void late_aborts_stop_no_run(shw_runner* runner) {
  shw_pending* pending = NULL;
  shw_buffer* whole = NULL;
  int round;
  for (round = 0; round < 300; ++round) {
    pthread_t other;
    shw_runner_abort(runner);
    if (!EXPECT(pthread_create(&other, NULL, abort_once, runner) == 0)) return;
    EXPECT_OK(shw_runner_gather_state(runner, "param.sum", &whole)); /* resets */
    shw_buffer_destroy(whole);
    EXPECT(pthread_join(other, NULL) == 0);
    EXPECT_OK(start(runner, 0, &pending));
    EXPECT_OK(shw_pending_wait(pending, -1));
    shw_pending_destroy(pending);
  }
}

static void ranks_elsewhere_are_refused(shw_context* context, const shw_plan* plan) {
  const int32_t mine[2] = {0, 1};
  shw_world* world = NULL;
  shw_runner* runner = NULL;
  shw_world_id id;
  EXPECT_OK(shw_world_make_id(context, &id));
  EXPECT_OK(shw_world_create_from_id(context, &id, 4, mine, 2, NULL, &world));
  EXPECT_REFUSED(shw_runner_create(plan, world, NULL, &runner), SHW_FAILED_PRECONDITION,
                 "this process has 2 of 4");
  shw_world_destroy(world);
  EXPECT_OK(shw_world_create_virtual(context, 2, NULL, &world));
  EXPECT_REFUSED(shw_runner_create(plan, world, NULL, &runner), SHW_FAILED_PRECONDITION,
                 "the plan is for 4 ranks (dp=2,tp=2), the world has 2 ranks");
  shw_world_destroy(world);
}

static void simulated_times_of_entries(const shw_plan* plan) {
  shw_plan_entry_time time = SHW_PLAN_ENTRY_TIME_INIT;
  EXPECT_OK(shw_plan_get_entry_time(plan, 0, &time));
  EXPECT(time.us > 0 && time.lower_bound_us <= time.us && time.longest_chain_us <= time.us);
  EXPECT(time.unavoidable_us <= time.exposed_us && time.exposed_us <= time.us);
  EXPECT(time.device_peak_bytes > 0);
  EXPECT_CODE(shw_plan_get_entry_time(plan, 1, &time), SHW_OUT_OF_RANGE);
  EXPECT(time.us == 0 && time.device_peak_bytes == 0);
}

void runners_work(shw_context* context, const shw_plan* plan) {
  shw_plan* sums = plan_of_sums(context);
  shw_runner* runner = NULL;
  a_run_is_one_call(plan);
  ranks_elsewhere_are_refused(context, plan);
  simulated_times_of_entries(plan);
  if (!EXPECT_OK(shw_runner_create(sums, NULL, NULL, &runner))) return;
  shw_plan_destroy(sums);
  several_runs_are_in_flight(runner);
  ends_are_told(runner);
  late_aborts_stop_no_run(runner);
  runs_may_be_left_alone(runner);
}
