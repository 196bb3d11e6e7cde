/*
 * What the calls that one run of Python makes take in C: a piece of the caller's memory in place,
 * one run on one rank, its result.
 *
 *   overhead PLAN.swplan RUNS BATCHES
 *
 * Prints the microseconds of a run in the fastest batch: CPU time of this thread, and wall clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "shardwise/shardwise.h"

static void check(shw_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s\n", shw_status_message(status));
  exit(1);
}

static double now_us(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

int main(int argc, char** argv) {
  static char bytes[1 << 20];
  static float values[4];
  const int64_t dims[1] = {4};
  const shw_tensor tensor = {values, dims, NULL, 1, SHW_DTYPE_F32, 0, 0};
  shw_bytes saved = {bytes, 0};
  shw_context* context;
  shw_device* device;
  shw_world* world;
  shw_plan* plan;
  shw_executor* executor;
  double best_cpu = 1e30, best_wall = 1e30;
  FILE* file = argc == 4 ? fopen(argv[1], "rb") : NULL;
  if (file == NULL) return 2;
  saved.size = fread(bytes, 1, sizeof bytes, file);
  fclose(file);
  const int runs = atoi(argv[2]), batches = atoi(argv[3]);
  check(shw_context_create(SHW_API_VERSION, NULL, &context));
  check(shw_device_create(context, SHW_DEVICE_CPU, 0, &device));
  check(shw_plan_load(context, saved, &plan));
  check(shw_world_create_virtual(context, 1, NULL, &world));
  check(shw_executor_create(plan, world, 0, NULL, &executor));
  for (int batch = 0; batch < batches; ++batch) {
    const double cpu = now_us(CLOCK_THREAD_CPUTIME_ID), wall = now_us(CLOCK_MONOTONIC);
    for (int i = 0; i < runs; ++i) {
      shw_run run = SHW_RUN_INIT;
      shw_buffer *in, *out = NULL;
      shw_event* done;
      shw_tensor result;
      check(shw_buffer_import(device, &tensor, SHW_BORROW_UNTIL_RELEASE, NULL, NULL, &in));
      run.inputs = &in;
      run.outputs = &out;
      run.num_inputs = run.num_outputs = 1;
      check(shw_executor_enqueue(executor, &run, &done));
      check(shw_event_wait(done, -1));
      check(shw_buffer_get_tensor(out, &result));
      shw_event_destroy(done);
      shw_buffer_destroy(in);
      shw_buffer_destroy(out);
    }
    const double took_cpu = (now_us(CLOCK_THREAD_CPUTIME_ID) - cpu) / runs;
    const double took_wall = (now_us(CLOCK_MONOTONIC) - wall) / runs;
    if (took_cpu < best_cpu) best_cpu = took_cpu;
    if (took_wall < best_wall) best_wall = took_wall;
  }
  printf("%f %f\n", best_cpu, best_wall);
  shw_executor_destroy(executor);
  return 0;
}
