/* Manual regions whose bodies are functions of this program, on four virtual ranks. One body
 * doubles its input, the other exchanges data. */
#include <stddef.h>
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

enum { ROWS = 8, COLUMNS = 6, RANKS = 4 };

/* What the body saw, by rank: ranks run on different threads. */
typedef struct told {
  shw_code answer;
  int calls[RANKS];
  int sound[RANKS];
} told;

static shw_code twice(void* user, const shw_region_call* call) {
  told* t = (told*)user;
  const shw_tensor *in = call->inputs, *out = call->outputs;
  int64_t i, j;
  ++t->calls[call->rank];
  t->sound[call->rank] =
      call->struct_size >= sizeof *call && strcmp(call->region, "twice") == 0 &&
      call->num_inputs == 1 && call->num_outputs == 1 && call->num_axes == 2 &&
      call->mesh[0] == 2 && call->mesh[1] == 2 && call->coordinates[0] == call->rank / 2 &&
      call->coordinates[1] == call->rank % 2 && in->rank == 2 && in->dtype == SHW_DTYPE_F32 &&
      in->dims[0] == ROWS / 2 && in->dims[1] == COLUMNS / 2 && out->dims[0] == in->dims[0] &&
      out->dims[1] == in->dims[1] && out->strides[0] == COLUMNS / 2;
  if (!t->sound[call->rank]) return SHW_INTERNAL;
  for (i = 0; i < in->dims[0]; ++i)
    for (j = 0; j < in->dims[1]; ++j)
      ((float*)out->data)[i * out->strides[0] + j * out->strides[1]] =
          2 * ((const float*)in->data)[i * in->strides[0] + j * in->strides[1]];
  return t->answer;
}

/* Calls every collective. With `answer` SHW_INVALID_ARGUMENT it calls one of them with a wrong
 * argument. With another error, rank 3 expects other counts than rank 1 sends. */
static shw_code exchange(void* user, const shw_region_call* call) {
  const int64_t send_counts[RANKS] = {0, 1, 2, 3};
  const int32_t me = call->rank;
  int64_t receive_counts[RANKS], send[6], receive[RANKS * 3], both[2], sum = me;
  shw_group *all = call->groups[0], *tp = call->groups[1];
  told* t = (told*)user;
  int32_t m, i;
  int sound = call->num_groups == 2 && shw_group_size(all) == RANKS &&
              shw_group_member(all) == me && shw_group_size(tp) == 2 &&
              shw_group_member(tp) == me % 2;
  for (m = 0; m < RANKS; ++m) receive_counts[m] = send_counts[me];
  for (i = 0; i < 6; ++i) send[i] = 10 * me + i;
  ++t->calls[me];
  if (t->answer == SHW_INVALID_ARGUMENT) {
    EXPECT_REFUSED(shw_group_all_reduce(all, &sum, &sum, 1, SHW_DTYPE_I64, "median"),
                   SHW_INVALID_ARGUMENT, "'median' is none of sum, avg, max, min and product");
    EXPECT_REFUSED(shw_group_all_gather(all, send, receive, 1, 77), SHW_INVALID_ARGUMENT,
                   "dtype 77 is unknown");
    return SHW_OK; /* the run must fail all the same */
  }
  if (t->answer != SHW_OK && me == 3) receive_counts[1] = 2;
  if (t->answer != SHW_OK) {
    shw_status* status =
        shw_group_all_to_all_v(all, send, send_counts, receive, receive_counts, SHW_DTYPE_I64);
    const shw_code code = shw_status_code(status);
    shw_status_destroy(status);
    return code;
  }
  EXPECT_OK(shw_group_all_to_all_v(all, send, send_counts, receive, receive_counts, SHW_DTYPE_I64));
  for (m = 0; m < RANKS; ++m) /* blocks for members 0, 1, 2, 3 begin at 0, 0, 1, 3 */
    for (i = 0; i < me; ++i) sound = sound && receive[m * me + i] == 10 * m + me * (me - 1) / 2 + i;
  EXPECT_OK(shw_group_all_gather(tp, send, both, 1, SHW_DTYPE_I64));
  sound = sound && both[0] == 10 * (me - me % 2) && both[1] == both[0] + 10;
  EXPECT_OK(shw_group_all_to_all(tp, send, both, 1, SHW_DTYPE_I64));
  sound = sound && both[0] == 10 * (me - me % 2) + me % 2 && both[1] == both[0] + 10;
  EXPECT_OK(shw_group_reduce_scatter(tp, send, both, 1, SHW_DTYPE_I64, "max"));
  sound = sound && both[0] == 10 * (me | 1) + me % 2;
  EXPECT_OK(shw_group_all_reduce(all, &sum, &sum, 1, SHW_DTYPE_I64, NULL));
  t->sound[me] = sound && sum == 0 + 1 + 2 + 3;
  memset(call->outputs[0].data, 0, sizeof(float) * ROWS * COLUMNS / RANKS);
  return t->sound[me] ? SHW_OK : SHW_INTERNAL;
}

/* y = twice(x), with the region on pieces that are cut in both dims. `groups` NULL: no groups. */
static shw_plan* region_plan(shw_context* context, const char* groups) {
  const int64_t dims[2] = {ROWS, COLUMNS};
  const shw_attr attrs[] = {
      SHW_ATTR_STRING("region", "twice"), SHW_ATTR_STRING("in_placements", "S(0)S(1)"),
      SHW_ATTR_STRING("out_placements", "S(0)S(1)"), SHW_ATTR_STRING("result_types", "f32[8,6]"),
      SHW_ATTR_STRING("groups", groups)};
  shw_mesh_axis axes[2];
  const shw_compile_options options = mlp_options(axes, 2, 2);
  shw_builder* b = NULL;
  shw_blob* graph = NULL;
  shw_plan* plan = NULL;
  size_t x = SHW_NONE, y = SHW_NONE;
  EXPECT_OK(shw_builder_create(context, &b));
  EXPECT_OK(add_input(b, SHW_ROLE_INPUT, NULL, 0, SHW_DTYPE_F32, dims, 2, NULL, &x));
  EXPECT_REFUSED(shw_builder_add_node(b, "local_map", &x, 1, attrs, 3, NULL, &y),
                 SHW_INVALID_ARGUMENT, "attribute 'result_types' is missing");
  EXPECT_OK(shw_builder_add_node(b, "local_map", &x, 1, attrs, groups == NULL ? 4 : 5, NULL, &y));
  EXPECT_OK(add_output(b, SHW_ROLE_RESULT, y, NULL, SHW_NONE));
  EXPECT_OK(shw_builder_finish(b, &graph));
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &plan));
  shw_blob_destroy(graph);
  shw_builder_destroy(b);
  return plan;
}

static void refuses_bodies_that_are_none(shw_context* context, const shw_plan* plan) {
  shw_region regions[2] = {{"twice", twice, NULL}, {"twice", twice, NULL}};
  shw_executor_options options = SHW_EXECUTOR_OPTIONS_INIT;
  shw_world* world = NULL;
  shw_executor* executor = NULL;
  EXPECT_OK(shw_world_create_virtual(context, RANKS, NULL, &world));
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, NULL, &executor), SHW_UNIMPLEMENTED,
                 "region 'twice' has no body");
  options.num_regions = 1;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_INVALID_ARGUMENT,
                 "regions");
  options.regions = regions;
  regions[0].name = "thrice";
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_UNIMPLEMENTED,
                 "region 'twice' has no body");
  regions[0].name = NULL;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_INVALID_ARGUMENT,
                 "regions[0] has no name");
  regions[0].name = "twice";
  regions[0].run = NULL;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_INVALID_ARGUMENT,
                 "regions[0], 'twice', has no function");
  regions[0].run = twice;
  options.num_regions = 2;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_INVALID_ARGUMENT,
                 "two regions 'twice'");
  options.num_regions = 1;
  options.num_regions = 0;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_UNIMPLEMENTED,
                 "region 'twice' has no body");
  EXPECT(executor == NULL);
  shw_world_destroy(world);
}

typedef struct job {
  shw_world* world;
  shw_executor* executors[RANKS];
  shw_buffer *inputs[RANKS], *outputs[RANKS];
  shw_event* done[RANKS];
} job;

static void start(shw_context* context, const shw_plan* plan, shw_region_fn body, const float* x,
                  told* t, job* j) {
  const int64_t dims[2] = {ROWS, COLUMNS};
  shw_region region = {"twice", NULL, NULL};
  shw_executor_options options = SHW_EXECUTOR_OPTIONS_INIT;
  shw_tensor whole;
  int32_t rank;
  memset(j, 0, sizeof *j);
  memset(&whole, 0, sizeof whole);
  whole.data = (void*)x;
  whole.dims = dims;
  whole.rank = 2;
  whole.dtype = SHW_DTYPE_F32;
  region.run = body;
  region.user = t;
  options.regions = &region;
  options.num_regions = 1;
  EXPECT_OK(shw_world_create_virtual(context, RANKS, NULL, &j->world));
  for (rank = 0; rank < RANKS; ++rank) {
    EXPECT_OK(shw_executor_create(plan, j->world, rank, &options, &j->executors[rank]));
    EXPECT_OK(shard_input(plan, 0, 0, rank, &whole, &j->inputs[rank]));
  }
  region.run = NULL; /* the struct was needed only during the call */
  for (rank = 0; rank < RANKS; ++rank)
    EXPECT_OK(enqueue(j->executors[rank], 0, &j->inputs[rank], 1, &j->outputs[rank], 1, NULL, 0,
                      &j->done[rank]));
}

static void end(job* j) {
  int32_t rank;
  for (rank = 0; rank < RANKS; ++rank) {
    shw_event_destroy(j->done[rank]);
    shw_executor_destroy(j->executors[rank]);
    shw_buffer_destroy(j->inputs[rank]);
    shw_buffer_destroy(j->outputs[rank]);
  }
  shw_world_destroy(j->world);
}

static void runs_the_body_on_every_piece(shw_context* context, const shw_plan* plan) {
  float x[ROWS * COLUMNS], y[ROWS * COLUMNS];
  shw_buffer* whole = NULL;
  told t;
  job j;
  int32_t rank;
  size_t i;
  memset(&t, 0, sizeof t);
  for (i = 0; i < ROWS * COLUMNS; ++i) x[i] = (float)i - 20;
  start(context, plan, twice, x, &t, &j);
  for (rank = 0; rank < RANKS; ++rank) EXPECT_OK(shw_event_wait(j.done[rank], -1));
  EXPECT_OK(gather_output(plan, 0, 0, j.outputs, RANKS, &whole));
  EXPECT_OK(shw_buffer_read(whole, y, sizeof y));
  for (i = 0; i < ROWS * COLUMNS; ++i) EXPECT(y[i] == 2 * x[i]);
  for (rank = 0; rank < RANKS; ++rank) EXPECT(t.calls[rank] == 1 && t.sound[rank]);
  shw_buffer_destroy(whole);
  end(&j);
}

static void a_body_that_fails_fails_the_run(shw_context* context, const shw_plan* plan) {
  static const struct {
    shw_code answer, expected;
  } kCases[] = {{SHW_RESOURCE_EXHAUSTED, SHW_RESOURCE_EXHAUSTED}, {-7, SHW_UNKNOWN}};
  float x[ROWS * COLUMNS];
  told t;
  job j;
  int32_t rank;
  size_t i;
  memset(x, 0, sizeof x);
  for (i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) {
    int told_why = 0;
    memset(&t, 0, sizeof t);
    t.answer = kCases[i].answer;
    start(context, plan, twice, x, &t, &j);
    for (rank = 0; rank < RANKS; ++rank) {
      shw_status* status = shw_event_wait(j.done[rank], -1);
      EXPECT(shw_status_code(status) == kCases[i].expected ||
             shw_status_code(status) == SHW_ABORTED); /* another rank failed first */
      told_why |= shw_status_code(status) == kCases[i].expected &&
                  strstr(shw_status_message(status), "body of region 'twice' failed") != NULL;
      shw_status_destroy(status);
    }
    EXPECT(told_why);
    end(&j);
  }
}

static void bodies_exchange_data(shw_context* context, const shw_plan* plan) {
  float x[ROWS * COLUMNS];
  told t;
  job j;
  int32_t rank;
  int told_why = 0;
  memset(x, 0, sizeof x);
  memset(&t, 0, sizeof t);
  start(context, plan, exchange, x, &t, &j);
  for (rank = 0; rank < RANKS; ++rank) EXPECT_OK(shw_event_wait(j.done[rank], -1));
  for (rank = 0; rank < RANKS; ++rank) EXPECT(t.calls[rank] == 1 && t.sound[rank]);
  end(&j);
  t.answer = SHW_UNKNOWN;
  start(context, plan, exchange, x, &t, &j);
  for (rank = 0; rank < RANKS; ++rank) {
    shw_status* status = shw_event_wait(j.done[rank], -1);
    EXPECT(shw_status_code(status) == SHW_FAILED_PRECONDITION ||
           shw_status_code(status) == SHW_ABORTED);
    told_why += strstr(shw_status_message(status),
                       "the ranks diverged: rank 1 sends 3 elements to rank 3, which expects 2, in "
                       "all_to_all_v[dp,tp] #1 of i64") != NULL;
    shw_status_destroy(status);
  }
  EXPECT(told_why == RANKS);
  end(&j);
  t.answer = SHW_INVALID_ARGUMENT;
  start(context, plan, exchange, x, &t, &j);
  for (rank = 0; rank < RANKS; ++rank) {
    shw_status* status = shw_event_wait(j.done[rank], -1);
    EXPECT(strstr(shw_status_message(status), "the reduction 'median' is none of") != NULL);
    shw_status_destroy(status);
  }
  end(&j);
}

int main(void) {
  shw_context* context = new_context();
  shw_plan* plan = region_plan(context, NULL);
  if (plan != NULL) {
    refuses_bodies_that_are_none(context, plan);
    runs_the_body_on_every_piece(context, plan);
    a_body_that_fails_fails_the_run(context, plan);
  }
  shw_plan_destroy(plan);
  plan = region_plan(context, "dp,tp; tp");
  if (plan != NULL) bodies_exchange_data(context, plan);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
  return test_result();
}
