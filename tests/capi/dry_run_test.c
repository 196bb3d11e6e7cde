/* A dry run allocates no memory: it counts a terabyte of state, which no host has. */
#include "calls.h"
#include "mlp.h"
#include "testing.h"

enum { IN = 1 << 18, OUT = 1 << 20 };
static const int64_t kRow[2] = {1, IN}, kWeight[2] = {IN, OUT};

/* One product with a parameter of 2^38 numbers, which the executor keeps as state. */
static shw_plan* new_plan(shw_context* context) {
  shw_builder_output output = SHW_BUILDER_OUTPUT_INIT;
  shw_builder* builder = NULL;
  shw_blob* graph = NULL;
  shw_plan* plan = NULL;
  size_t operands[2], number;
  EXPECT_OK(shw_builder_create(context, &builder));
  EXPECT_OK(
      add_input(builder, SHW_ROLE_INPUT, NULL, 0, SHW_DTYPE_F32, kRow, 2, NULL, &operands[0]));
  EXPECT_OK(add_state(builder, SHW_ROLE_PARAMETER, "w", kWeight, 2, &operands[1]));
  output.role = SHW_ROLE_RESULT;
  EXPECT_OK(shw_builder_add_node(builder, "mm", operands, 2, NULL, 0, NULL, &output.node));
  EXPECT_OK(shw_builder_add_output(builder, &output, &number));
  EXPECT_OK(shw_builder_finish(builder, &graph));
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), NULL, &plan));
  shw_blob_destroy(graph);
  shw_builder_destroy(builder);
  return plan;
}

int main(void) {
  shw_context* context = new_context();
  shw_plan* plan = new_plan(context);
  shw_executor_options options = SHW_EXECUTOR_OPTIONS_INIT;
  shw_device_info info = SHW_DEVICE_INFO_INIT;
  shw_run run = SHW_RUN_INIT;
  shw_world* world = NULL;
  shw_executor* executor = NULL;
  shw_event* done = NULL;
  shw_buffer *x = NULL, *y = NULL;
  EXPECT_OK(shw_device_create(context, SHW_DEVICE_NULL, 0, &options.device));
  EXPECT_OK(shw_world_create_virtual(context, 1, NULL, &world));
  EXPECT_OK(shw_executor_create(plan, world, 0, &options, &executor));
  EXPECT_OK(shw_buffer_create(options.device, SHW_DTYPE_F32, kRow, 2, &x));
  run.inputs = &x;
  run.num_inputs = 1;
  run.outputs = &y;
  run.num_outputs = 1;
  EXPECT_OK(shw_executor_enqueue(executor, &run, &done));
  EXPECT_OK(shw_event_wait(done, -1));
  EXPECT_OK(shw_device_get_info(options.device, &info));
  EXPECT(info.num_launches == 1 && info.num_collectives == 0);
  EXPECT(info.memory_bytes >= ((int64_t)1 << 40) && info.peak_memory_bytes >= info.memory_bytes);
  shw_event_destroy(done);
  shw_buffer_destroy(x);
  shw_buffer_destroy(y);
  shw_executor_destroy(executor);
  shw_world_destroy(world);
  shw_device_destroy(options.device);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
  return test_result();
}
