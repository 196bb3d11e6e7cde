/* Runs: worlds, wrong buffers, events, abort and reset, and outputs in the caller's buffers. */
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "runners.h"
#include "testing.h"

static void ranks_are_checked(shw_context* context, const shw_plan* plan) {
  shw_world *small = NULL, *world = NULL;
  shw_executor* executor = (shw_executor*)&small;
  EXPECT_REFUSED(shw_world_create_virtual(context, 0, NULL, &world), SHW_INVALID_ARGUMENT, "0");
  EXPECT(world == NULL);
  EXPECT_OK(shw_world_create_virtual(context, 2, NULL, &small));
  EXPECT(shw_world_num_ranks(small) == 2);
  EXPECT_REFUSED(shw_executor_create(plan, small, 0, NULL, &executor), SHW_FAILED_PRECONDITION,
                 "the plan is for 4 ranks (dp=2,tp=2), the world has 2 ranks");
  EXPECT(executor == NULL);
  EXPECT_OK(shw_world_create_virtual(context, 4, NULL, &world));
  EXPECT_REFUSED(shw_executor_create(plan, world, 4, NULL, &executor), SHW_OUT_OF_RANGE, "rank 4");
  EXPECT_CODE(shw_executor_create(plan, world, -1, NULL, &executor), SHW_OUT_OF_RANGE);
  shw_world_destroy(small);
  shw_world_destroy(world);
}

/* Ranks with different plans would wait for each other forever, so such plans are refused. */
static void plans_of_ranks_are_compared(shw_context* context, const shw_plan* plan) {
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 2);
  shw_blob* graph = mlp_graph(context);
  shw_plan* other = NULL;
  shw_world* world = NULL;
  shw_executor *first = NULL, *second = NULL;
  shw_executor_options senseless = SHW_EXECUTOR_OPTIONS_INIT;
  senseless.max_in_flight = -1;
  options.input_layout = NULL;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &other));
  EXPECT_OK(shw_world_create_virtual(context, 4, NULL, &world));
  EXPECT_OK(shw_executor_create(plan, world, 2, NULL, &first));
  EXPECT_REFUSED(shw_executor_create(other, world, 1, NULL, &second), SHW_FAILED_PRECONDITION,
                 "rank 1 and rank 2 would run different programs together: options hashes");
  EXPECT_OK(shw_executor_create(plan, world, 1, NULL, &second)); /* the rank is still free */
  shw_executor_destroy(second);
  /* A rank that has no executor is free for another plan, also after a failure. */
  EXPECT_REFUSED(shw_executor_create(other, world, 2, &senseless, &second), SHW_INVALID_ARGUMENT,
                 "max_in_flight is -1");
  EXPECT_OK(shw_executor_create(other, world, 2, NULL, &second));
  shw_executor_destroy(first);
  shw_executor_destroy(second);
  shw_world_destroy(world);
  shw_plan_destroy(other);
  shw_blob_destroy(graph);
}

/* The plans have the same graph, options and mesh but different bytes, as plans of different
 * library versions have, or plans of searches that were ended by a time limit. */
static void checksums_of_plans_are_compared(shw_context* context, const shw_plan* plan) {
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 2);
  shw_blob* graph = mlp_graph(context);
  shw_plan* other = NULL;
  shw_world* world = NULL;
  shw_executor *first = NULL, *second = NULL;
  options.flags = SHW_COMPILE_NO_GRAPH;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &other));
  EXPECT_OK(shw_world_create_virtual(context, 4, NULL, &world));
  EXPECT_OK(shw_executor_create(plan, world, 0, NULL, &first));
  EXPECT_REFUSED(shw_executor_create(other, world, 3, NULL, &second), SHW_FAILED_PRECONDITION,
                 "rank 3 and rank 0 would run different programs together");
  shw_executor_destroy(first);
  shw_world_destroy(world);
  shw_plan_destroy(other);
  shw_blob_destroy(graph);
}

static void worlds_know_their_ranks(shw_context* context) {
  shw_world_options options = SHW_WORLD_OPTIONS_INIT;
  shw_world* world = NULL;
  EXPECT_OK(shw_world_create_virtual(context, 3, NULL, &world));
  EXPECT(shw_world_num_local_ranks(world) == 3);
  EXPECT(shw_world_local_rank(world, 0) == 0 && shw_world_local_rank(world, 2) == 2);
  EXPECT(shw_world_local_rank(world, 3) == -1 && shw_world_local_rank(world, -1) == -1);
  shw_world_destroy(world);
  options.mpi_plugin = "/nowhere/libshardwise_mpi.so";
  EXPECT_REFUSED(shw_world_create_mpi(context, &options, &world), SHW_UNAVAILABLE,
                 "/nowhere/libshardwise_mpi.so");
  EXPECT(world == NULL);
  options.flags = 1;
  EXPECT_REFUSED(shw_world_create_mpi(context, &options, &world), SHW_INVALID_ARGUMENT, "flags");
}

/* Two parts of a world that share only its id run together. */
static void parts_of_a_world_meet_by_its_id(shw_context* context, const shw_plan* plan) {
  const int32_t mine[2] = {2, 0}, theirs[2] = {1, 3}, beyond[1] = {4};
  shw_world_options options = SHW_WORLD_OPTIONS_INIT;
  shw_world *first = NULL, *second = NULL, *none = NULL, *own;
  shw_executor* executor = NULL;
  shw_world_id id, other;
  mlp_job job;
  int32_t rank;
  if (!mlp_job_create(context, plan, &job)) return;
  EXPECT_OK(shw_world_make_id(context, &id));
  EXPECT_OK(shw_world_make_id(context, &other));
  EXPECT(memcmp(&id, &other, sizeof id) != 0);
  EXPECT_OK(shw_world_create_from_id(context, &id, 4, mine, 2, &options, &first));
  EXPECT(shw_world_num_ranks(first) == 4 && shw_world_num_local_ranks(first) == 2);
  EXPECT(shw_world_local_rank(first, 0) == 0 && shw_world_local_rank(first, 1) == 2);
  EXPECT_REFUSED(shw_world_create_from_id(context, &id, 4, mine, 2, NULL, &none),
                 SHW_ALREADY_EXISTS, "rank 0 belongs to another part");
  EXPECT_REFUSED(shw_world_create_from_id(context, &id, 5, theirs, 2, NULL, &none),
                 SHW_FAILED_PRECONDITION, "4 ranks, not 5");
  EXPECT_CODE(shw_world_create_from_id(context, &id, 4, beyond, 1, NULL, &none), SHW_OUT_OF_RANGE);
  memset(&other, 7, sizeof other);
  EXPECT_REFUSED(shw_world_create_from_id(context, &other, 4, theirs, 2, NULL, &none),
                 SHW_FAILED_PRECONDITION, "another context or process");
  EXPECT_OK(shw_world_create_from_id(context, &id, 4, theirs, 2, NULL, &second));
  EXPECT_REFUSED(shw_executor_create(plan, first, 1, NULL, &executor), SHW_OUT_OF_RANGE,
                 "rank 1 belongs to another part");
  own = job.world;
  for (rank = 0; rank < job.num_ranks; ++rank) {
    shw_executor_destroy(job.executors[rank]);
    EXPECT_OK(shw_executor_create(plan, rank % 2 == 0 ? first : second, rank, NULL,
                                  &job.executors[rank]));
  }
  shw_world_destroy(own);
  job.world = first;
  shw_world_destroy(second);
  EXPECT(mlp_job_run_and_check(plan, &job));
  mlp_job_destroy(&job);
}

/* A tensor is gathered from each rank's own piece. Ranks that hold equal pieces may be exchanged.
 */
static void pieces_of_other_ranks_are_refused(shw_context* context, const shw_plan* plan) {
  shw_buffer* pieces[4];
  shw_plan_entry step = SHW_PLAN_ENTRY_INIT;
  shw_buffer* whole = NULL;
  mlp_job job;
  size_t port;
  if (!mlp_job_create(context, plan, &job)) return;
  EXPECT_OK(shw_plan_get_entry(plan, 0, &step));
  port = step.inputs[2];
  pieces[0] = pieces[1] = job.inputs[0][2];
  pieces[2] = job.inputs[3][2];
  pieces[3] = job.inputs[2][2];
  EXPECT_OK(shw_plan_gather(plan, port, pieces, 4, &whole));
  shw_buffer_destroy(whole);
  pieces[2] = pieces[3] = job.inputs[1][2];
  EXPECT_REFUSED(shw_plan_gather(plan, port, pieces, 4, &whole), SHW_INVALID_ARGUMENT,
                 "the piece of port 'input.0' in place 2 is that of rank 1");
  EXPECT(whole == NULL);
  mlp_job_destroy(&job);
}

static void jobs_of_one_world_do_not_meet(shw_context* context, const shw_plan* plan) {
  mlp_job first, second;
  shw_world* own;
  int32_t rank;
  if (!mlp_job_create(context, plan, &first)) return;
  if (!mlp_job_create(context, plan, &second)) return;
  own = second.world;
  for (rank = 0; rank < second.num_ranks; ++rank) {
    shw_executor_destroy(second.executors[rank]);
    EXPECT_OK(shw_executor_create(plan, first.world, rank, NULL, &second.executors[rank]));
  }
  shw_world_destroy(own);
  second.world = NULL;
  EXPECT(mlp_job_run_and_check(plan, &second));
  EXPECT(mlp_job_run_and_check(plan, &first));
  mlp_job_destroy(&second);
  mlp_job_destroy(&first);
}

static void wrong_buffers_are_refused(shw_context* context, const shw_plan* plan) {
  const int64_t dims[2] = {3, 3};
  shw_buffer* inputs[MLP_NUM_INPUTS];
  shw_buffer *wrong = NULL, *outputs[MLP_NUM_OUTPUTS];
  shw_device* cpu = new_cpu(context);
  shw_event* done = NULL;
  shw_tensor tensor;
  mlp_job job;
  if (!mlp_job_create(context, plan, &job)) return;
  EXPECT_OK(shw_buffer_create(cpu, SHW_DTYPE_F32, dims, 2, &wrong));
  EXPECT_OK(shw_buffer_get_tensor(wrong, &tensor));
  EXPECT((uintptr_t)tensor.data % 256 == 0);
  memcpy(inputs, job.inputs[0], sizeof inputs);
  inputs[1] = wrong;
  EXPECT_REFUSED(enqueue(job.executors[0], 0, inputs, MLP_NUM_INPUTS, outputs, MLP_NUM_OUTPUTS,
                         NULL, 0, &done),
                 SHW_INVALID_ARGUMENT, "input 1, 'param.w2', is f32[3,3]");
  EXPECT(done == NULL && outputs[0] == NULL);
  EXPECT_REFUSED(enqueue(job.executors[0], 7, job.inputs[0], MLP_NUM_INPUTS, outputs,
                         MLP_NUM_OUTPUTS, NULL, 0, &done),
                 SHW_OUT_OF_RANGE, "entry 7");
  /* The type is right, but the piece is of another rank. "input.0" is S(0)R, so it is the same on
   * ranks 0 and 1. */
  memcpy(inputs, job.inputs[0], sizeof inputs);
  inputs[2] = job.inputs[2][2];
  EXPECT_REFUSED(enqueue(job.executors[0], 0, inputs, MLP_NUM_INPUTS, outputs, MLP_NUM_OUTPUTS,
                         NULL, 0, &done),
                 SHW_INVALID_ARGUMENT,
                 "input 2, 'input.0', is the piece of rank 2; the executor is that of rank 0");
  EXPECT(done == NULL && outputs[0] == NULL);
  EXPECT(mlp_job_run_and_check(plan, &job));
  shw_buffer_destroy(wrong);
  shw_device_destroy(cpu);
  mlp_job_destroy(&job);
}

static shw_event* start_run(mlp_job* job, int32_t rank, shw_buffer** outputs) {
  shw_event* done = NULL;
  EXPECT_OK(enqueue(job->executors[rank], job->entry, job->inputs[rank], MLP_NUM_INPUTS, outputs,
                    MLP_NUM_OUTPUTS, NULL, 0, &done));
  return done;
}

static void destroy_outputs(shw_buffer** outputs) {
  size_t i;
  for (i = 0; i < MLP_NUM_OUTPUTS; ++i) shw_buffer_destroy(outputs[i]);
}

/* One rank never runs, so the others wait. An abort from any rank ends their waits. */
static void an_abort_wakes_who_waits_for_a_missing_rank(shw_context* context,
                                                        const shw_plan* plan) {
  shw_buffer *outputs[8][MLP_NUM_OUTPUTS], *late[MLP_NUM_OUTPUTS];
  shw_event *done[8], *event = NULL;
  mlp_job job;
  int32_t rank;
  if (!mlp_job_create(context, plan, &job)) return;
  for (rank = 1; rank < job.num_ranks; ++rank) done[rank] = start_run(&job, rank, outputs[rank]);
  EXPECT_CODE(shw_event_wait(done[1], 0), SHW_DEADLINE_EXCEEDED);
  EXPECT_CODE(shw_event_wait(done[1], 1000000), SHW_DEADLINE_EXCEEDED);
  shw_executor_abort(job.executors[1]);
  EXPECT_CODE(shw_event_wait(done[1], -1), SHW_CANCELLED);
  for (rank = 2; rank < job.num_ranks; ++rank)
    EXPECT_CODE(shw_event_wait(done[rank], -1), SHW_ABORTED);
  /* The error stays until the reset, also for events that are waited for again. */
  EXPECT_CODE(shw_event_wait(done[1], -1), SHW_CANCELLED);
  EXPECT_CODE(enqueue(job.executors[1], 0, job.inputs[1], MLP_NUM_INPUTS, late, MLP_NUM_OUTPUTS,
                      NULL, 0, &event),
              SHW_CANCELLED);
  EXPECT(event == NULL && late[0] == NULL);
  for (rank = 1; rank < job.num_ranks; ++rank) {
    shw_event_destroy(done[rank]);
    destroy_outputs(outputs[rank]);
  }
  for (rank = 0; rank < job.num_ranks; ++rank) shw_executor_reset(job.executors[rank]);
  EXPECT(mlp_job_run_and_check(plan, &job));
  mlp_job_destroy(&job);
}

/* The error names the rank that never runs and the last collectives that the ranks dispatched. */
static void a_wait_has_a_time_out(shw_context* context, const shw_plan* plan) {
  const int32_t all[4] = {0, 1, 2, 3};
  shw_world_options options = SHW_WORLD_OPTIONS_INIT;
  shw_buffer* outputs[8][MLP_NUM_OUTPUTS];
  shw_status* status;
  shw_event* done[8];
  shw_world_id id;
  mlp_job job;
  int32_t rank;
  int late = 0;
  options.timeout_ns = 200000000;
  if (!mlp_job_create(context, plan, &job)) return;
  for (rank = 0; rank < 4; ++rank) shw_executor_destroy(job.executors[rank]);
  shw_world_destroy(job.world);
  EXPECT_OK(shw_world_make_id(context, &id));
  EXPECT_OK(shw_world_create_from_id(context, &id, 4, all, 4, &options, &job.world));
  for (rank = 0; rank < 4; ++rank)
    EXPECT_OK(shw_executor_create(plan, job.world, rank, NULL, &job.executors[rank]));
  for (rank = 0; rank < 3; ++rank) done[rank] = start_run(&job, rank, outputs[rank]);
  for (rank = 0; rank < 3; ++rank) {
    status = shw_event_wait(done[rank], -1);
    EXPECT(shw_status_code(status) == SHW_DEADLINE_EXCEEDED ||
           shw_status_code(status) == SHW_ABORTED);
    EXPECT(strstr(shw_status_message(status), "waited 0.2 s in ") != NULL);
    late += strstr(shw_status_message(status), "rank 3 has not arrived") != NULL;
    shw_status_destroy(status);
    shw_event_destroy(done[rank]);
    destroy_outputs(outputs[rank]);
  }
  EXPECT(late > 0);
  for (rank = 0; rank < 4; ++rank) shw_executor_reset(job.executors[rank]);
  EXPECT(mlp_job_run_and_check(plan, &job));
  mlp_job_destroy(&job);
}

/* The same for a whole world. This cannot be undone. */
static void an_aborted_world_runs_nothing(shw_context* context, const shw_plan* plan) {
  shw_buffer *outputs[MLP_NUM_OUTPUTS], *more[MLP_NUM_OUTPUTS];
  shw_event *done, *event = NULL;
  shw_executor* late = NULL;
  shw_status* status;
  mlp_job job;
  if (!mlp_job_create(context, plan, &job)) return;
  EXPECT_OK(shw_world_status(job.world));
  done = start_run(&job, 2, outputs);
  shw_world_abort(job.world);
  EXPECT_CODE(shw_event_wait(done, -1), SHW_ABORTED);
  EXPECT_CODE(shw_world_status(job.world), SHW_CANCELLED);
  EXPECT_CODE(shw_executor_create(plan, job.world, 0, NULL, &late), SHW_CANCELLED);
  shw_executor_reset(job.executors[2]);
  shw_event_destroy(done);
  status = enqueue(job.executors[2], 0, job.inputs[2], MLP_NUM_INPUTS, more, MLP_NUM_OUTPUTS, NULL,
                   0, &event);
  if (status == NULL) status = shw_event_wait(event, -1);
  EXPECT(shw_status_code(status) == SHW_ABORTED);
  shw_status_destroy(status);
  shw_event_destroy(event);
  destroy_outputs(outputs);
  destroy_outputs(more);
  mlp_job_destroy(&job);
}

static void events_outlive_their_executor(shw_context* context, const shw_plan* plan) {
  shw_buffer* outputs[MLP_NUM_OUTPUTS];
  shw_event* done;
  mlp_job job;
  if (!mlp_job_create(context, plan, &job)) return;
  done = start_run(&job, 0, outputs);
  mlp_job_destroy(&job); /* the other ranks never ran */
  EXPECT_CODE(shw_event_wait(done, -1), SHW_CANCELLED);
  shw_event_destroy(done);
  destroy_outputs(outputs);
}

/* Runs one step after another into the same buffers. Each step waits for the event of the previous
 * step. */
static void runs_into_the_callers_buffers(shw_context* context, const shw_plan* plan) {
  shw_buffer* outputs[8][MLP_NUM_OUTPUTS];
  shw_event *done[8], *next[8];
  mlp_job job;
  int32_t rank;
  int step;
  if (!mlp_job_create(context, plan, &job)) return;
  for (rank = 0; rank < job.num_ranks; ++rank) done[rank] = start_run(&job, rank, outputs[rank]);
  for (step = 0; step < 20; ++step) {
    for (rank = 0; rank < job.num_ranks; ++rank)
      EXPECT_OK(enqueue_into(job.executors[rank], 0, job.inputs[rank], MLP_NUM_INPUTS,
                             outputs[rank], MLP_NUM_OUTPUTS, done, (size_t)job.num_ranks,
                             &next[rank]));
    for (rank = 0; rank < job.num_ranks; ++rank) {
      shw_event_destroy(done[rank]);
      done[rank] = next[rank];
    }
  }
  for (rank = 0; rank < job.num_ranks; ++rank) {
    EXPECT_OK(shw_event_wait(done[rank], -1));
    EXPECT_OK(shw_event_wait(done[rank], 0));
    shw_event_destroy(done[rank]);
    destroy_outputs(outputs[rank]);
  }
  EXPECT(mlp_job_run_and_check(plan, &job));
  mlp_job_destroy(&job);
}

/* Rank 0 waits for the other ranks, so its outputs are not ready until they run. */
static void outputs_are_read_after_the_run(shw_context* context, const shw_plan* plan) {
  static float values[MLP_IN * MLP_HIDDEN];
  shw_buffer* outputs[8][MLP_NUM_OUTPUTS];
  shw_event* done[8];
  shw_tensor tensor;
  mlp_job job;
  int32_t rank;
  size_t size;
  if (!mlp_job_create(context, plan, &job)) return;
  done[0] = start_run(&job, 0, outputs[0]);
  EXPECT_OK(shw_buffer_get_tensor(outputs[0][1], &tensor));
  size = (size_t)(tensor.dims[0] * tensor.dims[1]) * sizeof(float);
  EXPECT_REFUSED(shw_buffer_read(outputs[0][1], values, size), SHW_FAILED_PRECONDITION,
                 "wait for that run first");
  EXPECT_CODE(shw_buffer_write(outputs[0][1], values, size), SHW_FAILED_PRECONDITION);
  for (rank = 1; rank < job.num_ranks; ++rank) done[rank] = start_run(&job, rank, outputs[rank]);
  for (rank = 0; rank < job.num_ranks; ++rank) {
    EXPECT_OK(shw_event_wait(done[rank], -1));
    shw_event_destroy(done[rank]);
  }
  EXPECT_OK(shw_buffer_read(outputs[0][1], values, size));
  for (rank = 0; rank < job.num_ranks; ++rank) destroy_outputs(outputs[rank]);
  mlp_job_destroy(&job);
}

static void a_run_fails_if_one_that_it_waits_for_did(shw_context* context, const shw_plan* plan) {
  shw_buffer *outputs[MLP_NUM_OUTPUTS], *more[8][MLP_NUM_OUTPUTS];
  shw_event *failed, *done[8];
  mlp_job job, other;
  int32_t rank;
  if (!mlp_job_create(context, plan, &job) || !mlp_job_create(context, plan, &other)) return;
  failed = start_run(&other, 0, outputs);
  shw_executor_abort(other.executors[0]);
  EXPECT_CODE(shw_event_wait(failed, -1), SHW_CANCELLED);
  for (rank = 0; rank < job.num_ranks; ++rank)
    EXPECT_OK(enqueue(job.executors[rank], 0, job.inputs[rank], MLP_NUM_INPUTS, more[rank],
                      MLP_NUM_OUTPUTS, &failed, 1, &done[rank]));
  for (rank = 0; rank < job.num_ranks; ++rank) {
    EXPECT_CODE(shw_event_wait(done[rank], -1), SHW_ABORTED);
    shw_event_destroy(done[rank]);
    destroy_outputs(more[rank]);
  }
  shw_event_destroy(failed);
  destroy_outputs(outputs);
  mlp_job_destroy(&job);
  mlp_job_destroy(&other);
}

enum { ENDED_WELL = 100 };
static void remember(void* user, shw_code code) {
  *(shw_code*)user = code == SHW_OK ? ENDED_WELL : code;
}

static void ends_of_runs_are_told(shw_context* context, const shw_plan* plan) {
  shw_buffer* outputs[8][MLP_NUM_OUTPUTS];
  shw_event* done[8];
  shw_code told[8] = {0}, late = 0, aborted = 0;
  mlp_job job;
  int32_t rank;
  if (!mlp_job_create(context, plan, &job)) return;
  for (rank = 0; rank < job.num_ranks; ++rank) {
    done[rank] = start_run(&job, rank, outputs[rank]);
    EXPECT_OK(shw_event_notify(done[rank], remember, &told[rank]));
    if (rank + 1 < job.num_ranks) EXPECT(shw_event_query(done[rank]) == 0);
  }
  for (rank = 0; rank < job.num_ranks; ++rank) {
    EXPECT_OK(shw_event_wait(done[rank], -1));
    EXPECT(shw_event_query(done[rank]) == 1);
    destroy_outputs(outputs[rank]);
  }
  EXPECT_OK(shw_event_notify(done[0], remember, &late));
  EXPECT(late == ENDED_WELL); /* called during shw_event_notify() */
  for (rank = 0; rank < job.num_ranks; ++rank) shw_event_destroy(done[rank]);

  done[0] = start_run(&job, 0, outputs[0]);
  EXPECT_OK(shw_event_notify(done[0], remember, &aborted));
  shw_executor_abort(job.executors[0]);
  EXPECT_CODE(shw_event_wait(done[0], -1), SHW_CANCELLED);
  shw_event_destroy(done[0]);
  destroy_outputs(outputs[0]);
  mlp_job_destroy(&job); /* no callback is called after this */
  for (rank = 0; rank < job.num_ranks; ++rank) EXPECT(told[rank] == ENDED_WELL);
  EXPECT(aborted == SHW_CANCELLED);
}

static void a_time_limit_ends_a_run_whose_peers_do_not_come(shw_context* context,
                                                            const shw_plan* plan) {
  shw_executor_options options = SHW_EXECUTOR_OPTIONS_INIT;
  shw_buffer* outputs[MLP_NUM_OUTPUTS];
  shw_executor* executor = NULL;
  shw_world* world = NULL;
  shw_event* done = NULL;
  mlp_job job;
  if (!mlp_job_create(context, plan, &job)) return;
  EXPECT_OK(shw_world_create_virtual(context, job.num_ranks, NULL, &world));
  options.time_limit_ns = -1;
  EXPECT_CODE(shw_executor_create(plan, world, 0, &options, &executor), SHW_INVALID_ARGUMENT);
  options.time_limit_ns = 20000000;
  EXPECT_OK(shw_executor_create(plan, world, 0, &options, &executor));
  EXPECT_OK(enqueue(executor, job.entry, job.inputs[0], MLP_NUM_INPUTS, outputs, MLP_NUM_OUTPUTS,
                    NULL, 0, &done));
  EXPECT_CODE(shw_event_wait(done, -1), SHW_DEADLINE_EXCEEDED);
  shw_event_destroy(done);
  destroy_outputs(outputs);
  shw_executor_destroy(executor);
  shw_world_destroy(world);
  mlp_job_destroy(&job);
}

int main(void) {
  shw_context* context = new_context();
  shw_plan* plan = mlp_plan(context, 2, 2);
  ranks_are_checked(context, plan);
  plans_of_ranks_are_compared(context, plan);
  checksums_of_plans_are_compared(context, plan);
  worlds_know_their_ranks(context);
  parts_of_a_world_meet_by_its_id(context, plan);
  jobs_of_one_world_do_not_meet(context, plan);
  wrong_buffers_are_refused(context, plan);
  pieces_of_other_ranks_are_refused(context, plan);
  an_abort_wakes_who_waits_for_a_missing_rank(context, plan);
  a_wait_has_a_time_out(context, plan);
  an_aborted_world_runs_nothing(context, plan);
  events_outlive_their_executor(context, plan);
  outputs_are_read_after_the_run(context, plan);
  runs_into_the_callers_buffers(context, plan);
  a_run_fails_if_one_that_it_waits_for_did(context, plan);
  ends_of_runs_are_told(context, plan);
  a_time_limit_ends_a_run_whose_peers_do_not_come(context, plan);
  runners_work(context, plan);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
  return test_result();
}
