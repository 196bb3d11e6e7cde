#include "calls.h"

#include "testing.h"

shw_status* add_input(shw_builder* builder, shw_role role, const char* name, size_t position,
                      shw_dtype dtype, const int64_t* dims, int32_t rank,
                      const shw_node_options* options, size_t* out_node) {
  shw_builder_input input = SHW_BUILDER_INPUT_INIT;
  input.role = role;
  input.name = name;
  input.position = position;
  input.dtype = dtype;
  input.dims = dims;
  input.rank = rank;
  return shw_builder_add_input(builder, &input, options, out_node);
}

shw_status* add_state(shw_builder* builder, shw_role role, const char* name, const int64_t* dims,
                      int32_t rank, size_t* out_node) {
  shw_builder_input input = SHW_BUILDER_INPUT_INIT;
  input.role = role;
  input.storage = SHW_STORAGE_STATE;
  input.name = name;
  input.dtype = SHW_DTYPE_F32;
  input.dims = dims;
  input.rank = rank;
  return shw_builder_add_input(builder, &input, NULL, out_node);
}

shw_status* add_output(shw_builder* builder, shw_role role, size_t node, const char* name,
                       size_t of_input) {
  shw_builder_output output = SHW_BUILDER_OUTPUT_INIT;
  size_t number = 0;
  output.role = role;
  output.node = node;
  output.name = name;
  output.of_input = of_input;
  return shw_builder_add_output(builder, &output, &number);
}

static shw_status* port_of(const shw_plan* plan, size_t entry, size_t index, int is_output,
                           size_t* out_port) {
  shw_plan_entry e = SHW_PLAN_ENTRY_INIT;
  shw_status* status = shw_plan_get_entry(plan, entry, &e);
  const size_t count = is_output ? e.num_outputs : e.num_inputs;
  *out_port = SHW_NONE; /* no plan has this port */
  if (status == NULL && index < count) *out_port = (is_output ? e.outputs : e.inputs)[index];
  return status;
}

shw_status* get_input(const shw_plan* plan, size_t entry, size_t index, shw_plan_port* out_port) {
  size_t port;
  shw_status* status = port_of(plan, entry, index, 0, &port);
  return status != NULL ? status : shw_plan_get_port(plan, port, out_port);
}

shw_status* get_output(const shw_plan* plan, size_t entry, size_t index, shw_plan_port* out_port) {
  size_t port;
  shw_status* status = port_of(plan, entry, index, 1, &port);
  return status != NULL ? status : shw_plan_get_port(plan, port, out_port);
}

shw_status* shard_input(const shw_plan* plan, size_t entry, size_t index, int32_t rank,
                        const shw_tensor* whole, shw_buffer** out_buffer) {
  return shard_input_on(plan, entry, index, rank, whole, NULL, out_buffer);
}

shw_status* shard_input_on(const shw_plan* plan, size_t entry, size_t index, int32_t rank,
                           const shw_tensor* whole, shw_device* device, shw_buffer** out_buffer) {
  size_t port;
  shw_status* status = port_of(plan, entry, index, 0, &port);
  return status != NULL ? status : shw_plan_shard(plan, port, rank, whole, device, out_buffer);
}

shw_status* gather_output(const shw_plan* plan, size_t entry, size_t index,
                          shw_buffer* const* pieces, size_t num_pieces, shw_buffer** out_buffer) {
  size_t port;
  shw_status* status = port_of(plan, entry, index, 1, &port);
  return status != NULL ? status : shw_plan_gather(plan, port, pieces, num_pieces, out_buffer);
}

shw_status* enqueue(shw_executor* executor, size_t entry, shw_buffer* const* inputs,
                    size_t num_inputs, shw_buffer** outputs, size_t num_outputs,
                    shw_event* const* wait_for, size_t num_wait_for, shw_event** out_done) {
  size_t i;
  for (i = 0; outputs != NULL && i < num_outputs; ++i) outputs[i] = NULL;
  return enqueue_into(executor, entry, inputs, num_inputs, outputs, num_outputs, wait_for,
                      num_wait_for, out_done);
}

shw_status* enqueue_into(shw_executor* executor, size_t entry, shw_buffer* const* inputs,
                         size_t num_inputs, shw_buffer** outputs, size_t num_outputs,
                         shw_event* const* wait_for, size_t num_wait_for, shw_event** out_done) {
  shw_run run = SHW_RUN_INIT;
  run.entry = entry;
  run.inputs = inputs;
  run.num_inputs = num_inputs;
  run.outputs = outputs;
  run.num_outputs = num_outputs;
  run.wait_for = wait_for;
  run.num_wait_for = num_wait_for;
  return shw_executor_enqueue(executor, &run, out_done);
}

shw_device* new_cpu(shw_context* context) {
  shw_device* device = NULL;
  EXPECT_OK(shw_device_create(context, SHW_DEVICE_CPU, 0, &device));
  return device;
}
