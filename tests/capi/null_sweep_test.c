/* Calls every function with NULL for every pointer. No call may abort. Every out-parameter starts
 * as garbage and must be NULL or 0 afterwards. tests/lint/boundary.py checks that no function is
 * missing. */
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

#define GARBAGE(type) ((type)&g_somewhere)
static char g_somewhere[64];

#define REFUSED(call) EXPECT_CODE((call), SHW_INVALID_ARGUMENT)
/* `call` fails, and afterwards the handle `out` of type `type` must be NULL. */
#define REFUSED_HANDLE(type, call) \
  do {                             \
    type* out = GARBAGE(type*);    \
    REFUSED(call);                 \
    EXPECT(out == NULL);           \
  } while (0)
/* Afterwards the fields of the extensible struct `out` must be 0, and its size unchanged. */
#define REFUSED_STRUCT(type, call)                   \
  do {                                               \
    type out, zero;                                  \
    memset(&out, 0x5a, sizeof out);                  \
    memset(&zero, 0, sizeof zero);                   \
    out.struct_size = zero.struct_size = sizeof out; \
    REFUSED(call);                                   \
    EXPECT(memcmp(&out, &zero, sizeof out) == 0);    \
  } while (0)
#define REFUSED_VALUE(type, call)                 \
  do {                                            \
    type out, zero;                               \
    memset(&out, 0x5a, sizeof out);               \
    memset(&zero, 0, sizeof zero);                \
    REFUSED(call);                                \
    EXPECT(memcmp(&out, &zero, sizeof out) == 0); \
  } while (0)

/* Afterwards the index `out` must be SHW_NONE. */
#define REFUSED_INDEX(call)  \
  do {                       \
    size_t out = 0x5a;       \
    REFUSED(call);           \
    EXPECT(out == SHW_NONE); \
  } while (0)

static void status_context_cancel_blob(shw_context* context) {
  EXPECT(shw_api_version() != 0 && shw_version_string() != NULL);
  EXPECT(shw_status_code(NULL) == SHW_OK && shw_status_code_name(0) != NULL);
  EXPECT(shw_status_message(NULL) != NULL && shw_status_node_name(NULL) != NULL);
  EXPECT(shw_status_num_conflicts(NULL) == 0 && shw_status_conflict(NULL, 0)[0] == 0);
  EXPECT(shw_hardware_count() > 3 && shw_hardware_name(0)[0] != 0);
  EXPECT(shw_hardware_name(shw_hardware_count())[0] == 0);
  EXPECT(shw_op_count() > 100 && shw_op_name(0)[0] != 0 && shw_op_name(SHW_NONE)[0] == 0);
  REFUSED_INDEX(shw_op_find(NULL, &out));
  REFUSED(shw_op_find("mm", NULL));
  EXPECT(shw_op_num_params(SHW_NONE) == 0);
  shw_op_param_init(NULL, sizeof(shw_op_param));
  REFUSED(shw_op_get_param(0, 0, NULL));
  EXPECT(shw_status_node_index(NULL) == SHW_NONE && shw_status_source_file(NULL) != NULL);
  EXPECT(shw_status_source_line(NULL) == 0);
  shw_status_destroy(NULL);
  REFUSED(shw_context_create(SHW_API_VERSION, NULL, NULL));
  shw_context_options_init(NULL, sizeof(shw_context_options));
  shw_context_destroy(NULL);
  REFUSED(shw_cancel_create(NULL));
  shw_cancel_raise(NULL);
  shw_cancel_destroy(NULL);
  EXPECT(shw_blob_data(NULL) == NULL && shw_blob_size(NULL) == 0);
  shw_blob_destroy(NULL);
  (void)context;
}

static void plan_making(shw_context* context, const shw_plan* plan) {
  const shw_bytes none = {NULL, 0}, broken = {NULL, 8};
  shw_compile_options_init(NULL, sizeof(shw_compile_options));
  REFUSED_HANDLE(shw_plan, shw_plan_compile(NULL, none, NULL, &out));
  REFUSED_HANDLE(shw_plan, shw_plan_compile(context, none, NULL, &out));
  REFUSED_HANDLE(shw_plan, shw_plan_compile(context, broken, NULL, &out));
  REFUSED(shw_plan_compile(context, none, NULL, NULL));
  REFUSED_HANDLE(shw_plan, shw_plan_compile_reshard(NULL, "f32[8]", "R", "R", NULL, &out));
  REFUSED_HANDLE(shw_plan, shw_plan_compile_reshard(context, NULL, "R", "R", NULL, &out));
  REFUSED_HANDLE(shw_plan, shw_plan_compile_reshard(context, "f32[8]", NULL, "R", NULL, &out));
  REFUSED_HANDLE(shw_plan, shw_plan_compile_reshard(context, "f32[8]", "R", NULL, NULL, &out));
  REFUSED(shw_plan_compile_reshard(context, "f32[8]", "R", "R", NULL, NULL));
  REFUSED_HANDLE(shw_plan, shw_plan_load(NULL, none, &out));
  REFUSED_HANDLE(shw_plan, shw_plan_load(context, broken, &out));
  REFUSED(shw_plan_load(context, none, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_save(NULL, &out));
  REFUSED(shw_plan_save(plan, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_to_json(NULL, &out));
  REFUSED(shw_plan_to_json(plan, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_to_text(NULL, &out));
  REFUSED(shw_plan_to_text(plan, NULL));
  shw_plan_destroy(NULL);
}

static void plan_queries(const shw_plan* plan) {
  EXPECT(shw_plan_num_ranks(NULL) == 0 && shw_plan_num_mesh_axes(NULL) == 0);
  EXPECT(shw_plan_num_entries(NULL) == 0 && shw_plan_num_nodes(NULL) == 0);
  EXPECT(shw_plan_num_collectives(NULL) == 0 && shw_plan_num_phases(NULL) == 0);
  EXPECT(shw_plan_num_memory_shares(NULL) == 0);
  EXPECT(shw_plan_num_ports(NULL) == 0 && shw_plan_num_steps(NULL) == 0);
  shw_plan_summary_init(NULL, sizeof(shw_plan_summary));
  shw_plan_entry_init(NULL, sizeof(shw_plan_entry));
  shw_plan_port_init(NULL, sizeof(shw_plan_port));
  shw_plan_node_init(NULL, sizeof(shw_plan_node));
  shw_plan_step_init(NULL, sizeof(shw_plan_step));
  shw_plan_collective_init(NULL, sizeof(shw_plan_collective));
  shw_plan_memory_share_init(NULL, sizeof(shw_plan_memory_share));
  shw_plan_phase_init(NULL, sizeof(shw_plan_phase));
  REFUSED_STRUCT(shw_plan_summary, shw_plan_get_summary(NULL, &out));
  REFUSED(shw_plan_get_summary(plan, NULL));
  REFUSED_VALUE(shw_mesh_axis, shw_plan_get_mesh_axis(NULL, 0, &out));
  REFUSED(shw_plan_get_mesh_axis(plan, 0, NULL));
  REFUSED_STRUCT(shw_plan_entry, shw_plan_get_entry(NULL, 0, &out));
  REFUSED(shw_plan_get_entry(plan, 0, NULL));
  REFUSED_INDEX(shw_plan_find_entry(NULL, "step", &out));
  REFUSED_INDEX(shw_plan_find_entry(plan, NULL, &out));
  shw_plan_entry_time_init(NULL, sizeof(shw_plan_entry_time));
  REFUSED_STRUCT(shw_plan_entry_time, shw_plan_get_entry_time(NULL, 0, &out));
  REFUSED(shw_plan_get_entry_time(plan, 0, NULL));
  REFUSED_INDEX(shw_plan_find_input(NULL, 0, "input.0", &out));
  REFUSED_INDEX(shw_plan_find_input(plan, 0, NULL, &out));
  REFUSED(shw_plan_find_input(plan, 0, "input.0", NULL));
  REFUSED_INDEX(shw_plan_find_output(NULL, 0, "output", &out));
  REFUSED_INDEX(shw_plan_find_output(plan, 0, NULL, &out));
  REFUSED(shw_plan_find_output(plan, 0, "output", NULL));
  REFUSED_INDEX(shw_plan_find_port(NULL, 0, "output", &out));
  REFUSED_INDEX(shw_plan_find_port(plan, 0, NULL, &out));
  REFUSED(shw_plan_find_port(plan, 0, "output", NULL));
  EXPECT(shw_plan_num_symbols(NULL) == 0);
  shw_symbol_init(NULL, sizeof(shw_symbol));
  REFUSED_STRUCT(shw_symbol, shw_plan_get_symbol(NULL, 0, &out));
  REFUSED(shw_plan_get_symbol(plan, 0, NULL));
  REFUSED_INDEX(shw_plan_choose_bucket(NULL, "step", NULL, 0, &out));
  REFUSED_INDEX(shw_plan_choose_bucket(plan, NULL, NULL, 0, &out));
  REFUSED_INDEX(shw_plan_choose_bucket(plan, "step", NULL, 1, &out));
  REFUSED(shw_plan_choose_bucket(plan, "step", NULL, 0, NULL));
  REFUSED(shw_plan_find_entry(plan, "step", NULL));
  REFUSED_STRUCT(shw_plan_port, shw_plan_get_port(NULL, 0, &out));
  REFUSED(shw_plan_get_port(plan, 0, NULL));
  REFUSED_STRUCT(shw_plan_node, shw_plan_get_node(NULL, 0, &out));
  REFUSED(shw_plan_get_node(plan, 0, NULL));
  REFUSED_STRUCT(shw_plan_step, shw_plan_get_step(NULL, 0, &out));
  REFUSED(shw_plan_get_step(plan, 0, NULL));
  REFUSED_STRUCT(shw_plan_collective, shw_plan_get_collective(NULL, 0, &out));
  REFUSED(shw_plan_get_collective(plan, 0, NULL));
  REFUSED_STRUCT(shw_plan_memory_share, shw_plan_get_memory_share(NULL, 0, &out));
  REFUSED(shw_plan_get_memory_share(plan, 0, NULL));
  REFUSED_STRUCT(shw_plan_phase, shw_plan_get_phase(NULL, 0, &out));
  REFUSED(shw_plan_get_phase(plan, 0, NULL));
}

static void buffers(shw_context* context) {
  static float value = 1;
  const int64_t dims[1] = {1};
  shw_tensor tensor, empty;
  shw_buffer* buffer = NULL;
  shw_device* device = new_cpu(context);
  REFUSED_HANDLE(shw_device, shw_device_create(NULL, SHW_DEVICE_CPU, 0, &out));
  REFUSED_HANDLE(shw_device, shw_device_create(context, 0, 0, &out));
  REFUSED(shw_device_create(context, SHW_DEVICE_CPU, 0, NULL));
  shw_device_info_init(NULL, sizeof(shw_device_info));
  REFUSED_STRUCT(shw_device_info, shw_device_get_info(NULL, &out));
  REFUSED(shw_device_get_info(device, NULL));
  memset(&empty, 0, sizeof empty);
  tensor = empty;
  tensor.data = &value;
  tensor.dims = dims;
  tensor.rank = 1;
  tensor.dtype = SHW_DTYPE_F32;
  REFUSED_HANDLE(shw_buffer, shw_buffer_create(NULL, SHW_DTYPE_F32, dims, 1, &out));
  REFUSED_HANDLE(shw_buffer, shw_buffer_create(device, SHW_DTYPE_F32, NULL, 1, &out));
  REFUSED(shw_buffer_create(device, SHW_DTYPE_F32, dims, 1, NULL));
  REFUSED_HANDLE(shw_buffer, shw_buffer_import(NULL, &tensor, SHW_BORROW_COPY, NULL, NULL, &out));
  REFUSED_HANDLE(shw_buffer, shw_buffer_import(device, NULL, SHW_BORROW_COPY, NULL, NULL, &out));
  REFUSED_HANDLE(shw_buffer, shw_buffer_import(device, &empty, SHW_BORROW_COPY, NULL, NULL, &out));
  REFUSED_HANDLE(shw_buffer, shw_buffer_import(device, &tensor, 0, NULL, NULL, &out));
  REFUSED(shw_buffer_import(device, &tensor, SHW_BORROW_COPY, NULL, NULL, NULL));
  tensor.data = NULL;
  REFUSED_HANDLE(shw_buffer, shw_buffer_import(device, &tensor, SHW_BORROW_COPY, NULL, NULL, &out));
  EXPECT_OK(shw_buffer_create(device, SHW_DTYPE_F32, dims, 1, &buffer));
  REFUSED_VALUE(shw_tensor, shw_buffer_get_tensor(NULL, &out));
  REFUSED(shw_buffer_get_tensor(buffer, NULL));
  REFUSED(shw_buffer_read(NULL, &value, sizeof value));
  REFUSED(shw_buffer_read(buffer, NULL, sizeof value));
  REFUSED(shw_buffer_write(NULL, &value, sizeof value));
  REFUSED(shw_buffer_write(buffer, NULL, sizeof value));
  shw_buffer_destroy(buffer);
  shw_buffer_destroy(NULL);
  shw_device_destroy(device);
  shw_device_destroy(NULL);
}

static void runners(const shw_plan* plan) {
  const shw_named_tensor nameless = {NULL, {NULL, NULL, NULL, 0, 0, 0, 0}};
  shw_runner* runner = NULL;
  shw_tensor whole;
  memset(&whole, 0, sizeof whole);
  REFUSED_HANDLE(shw_runner, shw_runner_create(NULL, NULL, NULL, &out));
  REFUSED(shw_runner_create(plan, NULL, NULL, NULL));
  EXPECT_OK(shw_runner_create(plan, NULL, NULL, &runner));
  REFUSED(shw_runner_set_state(NULL, "param.w1", &whole));
  REFUSED(shw_runner_set_state(runner, NULL, &whole));
  REFUSED(shw_runner_set_state(runner, "param.w1", NULL));
  REFUSED_HANDLE(shw_buffer, shw_runner_gather_state(NULL, "param.w1", &out));
  REFUSED_HANDLE(shw_buffer, shw_runner_gather_state(runner, NULL, &out));
  REFUSED(shw_runner_gather_state(runner, "param.w1", NULL));
  REFUSED(shw_runner_run(NULL, NULL, NULL, 0, NULL, 0));
  REFUSED(shw_runner_run(runner, NULL, NULL, 0, NULL, 0));
  REFUSED(shw_runner_run(runner, NULL, NULL, 1, NULL, 0));
  REFUSED(shw_runner_run(runner, NULL, NULL, 0, NULL, 1));
  REFUSED(shw_runner_run(runner, NULL, &nameless, 1, NULL, 0));
  REFUSED_HANDLE(shw_pending, shw_runner_start(NULL, NULL, NULL, 0, &out));
  REFUSED_HANDLE(shw_pending, shw_runner_start(runner, NULL, NULL, 0, &out));
  REFUSED_HANDLE(shw_pending, shw_runner_start(runner, NULL, NULL, 1, &out));
  REFUSED(shw_runner_start(runner, NULL, NULL, 0, NULL));
  shw_runner_abort(NULL);
  shw_runner_destroy(NULL);
  shw_runner_destroy(runner);
  REFUSED(shw_pending_wait(NULL, 0));
  EXPECT(shw_pending_query(NULL) == 1);
  REFUSED(shw_pending_notify(NULL, NULL, NULL));
  REFUSED_HANDLE(shw_buffer, shw_pending_gather(NULL, "output.y", &out));
  shw_pending_destroy(NULL);
}

static void running(shw_context* context, const shw_plan* plan) {
  const int32_t ranks[2] = {0, 1};
  shw_world_id id;
  mlp_job job;
  shw_tensor whole;
  shw_buffer* outputs[MLP_NUM_OUTPUTS];
  shw_buffer* const none[8] = {NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL};
  shw_event* const no_event[1] = {NULL};
  shw_buffer* const* inputs;
  size_t i;
  memset(&whole, 0, sizeof whole);
  REFUSED_HANDLE(shw_world, shw_world_create_virtual(NULL, 8, NULL, &out));
  REFUSED(shw_world_create_virtual(context, 8, NULL, NULL));
  memset(&id, 0x5a, sizeof id);
  REFUSED(shw_world_make_id(NULL, &id));
  EXPECT(id.bytes[0] == 0 && id.bytes[127] == 0);
  REFUSED(shw_world_make_id(context, NULL));
  REFUSED_HANDLE(shw_world, shw_world_create_from_id(NULL, &id, 2, ranks, 2, NULL, &out));
  REFUSED_HANDLE(shw_world, shw_world_create_from_id(context, NULL, 2, ranks, 2, NULL, &out));
  REFUSED_HANDLE(shw_world, shw_world_create_from_id(context, &id, 2, NULL, 2, NULL, &out));
  REFUSED(shw_world_create_from_id(context, &id, 2, ranks, 2, NULL, NULL));
  REFUSED_HANDLE(shw_world, shw_world_create_mpi(NULL, NULL, &out));
  REFUSED(shw_world_create_mpi(context, NULL, NULL));
  shw_world_options_init(NULL, sizeof(shw_world_options));
  EXPECT(shw_world_num_ranks(NULL) == 0);
  EXPECT(shw_world_num_local_ranks(NULL) == 0);
  EXPECT(shw_world_local_rank(NULL, 0) == -1);
  REFUSED(shw_world_status(NULL));
  shw_world_abort(NULL);
  if (!mlp_job_create(context, plan, &job)) return;
  inputs = job.inputs[0];
  shw_executor_options_init(NULL, sizeof(shw_executor_options));
  REFUSED_HANDLE(shw_executor, shw_executor_create(NULL, job.world, 0, NULL, &out));
  REFUSED_HANDLE(shw_executor, shw_executor_create(plan, NULL, 0, NULL, &out));
  REFUSED(shw_executor_create(plan, job.world, 0, NULL, NULL));
#define ENQUEUE(executor, in, num_in, outs, num_out, wait, num_wait)                       \
  do {                                                                                     \
    for (i = 0; i < MLP_NUM_OUTPUTS; ++i) outputs[i] = NULL;                               \
    REFUSED_HANDLE(shw_event,                                                              \
                   enqueue(executor, 0, in, num_in, outs, num_out, wait, num_wait, &out)); \
    for (i = 0; i < MLP_NUM_OUTPUTS; ++i) EXPECT(outputs[i] == NULL);                      \
  } while (0)
  ENQUEUE(NULL, inputs, MLP_NUM_INPUTS, outputs, MLP_NUM_OUTPUTS, NULL, 0);
  ENQUEUE(job.executors[0], NULL, MLP_NUM_INPUTS, outputs, MLP_NUM_OUTPUTS, NULL, 0);
  ENQUEUE(job.executors[0], none, MLP_NUM_INPUTS, outputs, MLP_NUM_OUTPUTS, NULL, 0);
  ENQUEUE(job.executors[0], inputs, MLP_NUM_INPUTS - 1, outputs, MLP_NUM_OUTPUTS, NULL, 0);
  ENQUEUE(job.executors[0], inputs, MLP_NUM_INPUTS, NULL, MLP_NUM_OUTPUTS, NULL, 0);
  ENQUEUE(job.executors[0], inputs, MLP_NUM_INPUTS, outputs, MLP_NUM_OUTPUTS - 1, NULL, 0);
  ENQUEUE(job.executors[0], inputs, MLP_NUM_INPUTS, outputs, MLP_NUM_OUTPUTS, NULL, 1);
  ENQUEUE(job.executors[0], inputs, MLP_NUM_INPUTS, outputs, MLP_NUM_OUTPUTS, no_event, 1);
  REFUSED(enqueue(job.executors[0], 0, inputs, MLP_NUM_INPUTS, outputs, MLP_NUM_OUTPUTS, NULL, 0,
                  NULL));
  REFUSED_HANDLE(shw_event, shw_executor_enqueue(job.executors[0], NULL, &out));
  shw_run_init(NULL, sizeof(shw_run));
  REFUSED_HANDLE(shw_buffer, shw_executor_get_state(NULL, 0, &out));
  REFUSED_HANDLE(shw_buffer, shw_executor_get_state(job.executors[0], 0, &out));
  REFUSED(shw_executor_get_state(job.executors[0], 0, NULL));
  REFUSED_HANDLE(shw_session, shw_session_create(NULL, &out));
  REFUSED(shw_session_create(job.executors[0], NULL));
  shw_session_destroy(NULL);
  shw_executor_abort(NULL);
  shw_executor_reset(NULL);
  shw_executor_destroy(NULL);
  runners(plan);
  REFUSED(shw_event_wait(NULL, 0));
  REFUSED(shw_event_notify(NULL, NULL, NULL));
  EXPECT(shw_event_query(NULL) == 1);
  shw_event_destroy(NULL);
  EXPECT(shw_group_size(NULL) == 0 && shw_group_member(NULL) == 0);
  REFUSED(shw_group_all_gather(NULL, NULL, NULL, 0, 0));
  REFUSED(shw_group_all_to_all(NULL, NULL, NULL, 0, 0));
  REFUSED(shw_group_all_to_all_v(NULL, NULL, NULL, NULL, NULL, 0));
  REFUSED(shw_group_reduce_scatter(NULL, NULL, NULL, 0, 0, NULL));
  REFUSED(shw_group_all_reduce(NULL, NULL, NULL, 0, 0, NULL));
  REFUSED_HANDLE(shw_buffer, shw_plan_shard(NULL, 0, 0, &whole, NULL, &out));
  REFUSED_HANDLE(shw_buffer, shw_plan_shard(plan, 0, 0, NULL, NULL, &out));
  REFUSED_HANDLE(shw_buffer, shw_plan_shard(plan, 0, 0, &whole, NULL, &out));
  REFUSED(shw_plan_shard(plan, 0, 0, &whole, NULL, NULL));
  REFUSED(shw_plan_shard_into(NULL, 0, 0, &whole, job.inputs[0][0]));
  REFUSED(shw_plan_shard_into(plan, 0, 0, NULL, job.inputs[0][0]));
  REFUSED(shw_plan_shard_into(plan, 0, 0, &whole, NULL));
  REFUSED_HANDLE(shw_buffer, shw_plan_gather(NULL, 0, none, 8, &out));
  REFUSED_HANDLE(shw_buffer, shw_plan_gather(plan, 0, NULL, 8, &out));
  REFUSED_HANDLE(shw_buffer, shw_plan_gather(plan, 0, none, 8, &out));
  REFUSED(shw_plan_gather(plan, 0, none, 8, NULL));
  mlp_job_run_and_check(plan, &job); /* refused calls leave no trace */
  mlp_job_destroy(&job);
  shw_world_destroy(NULL);
}

static void builders(shw_context* context) {
  const int64_t dims[1] = {1};
  const size_t operands[2] = {0, 0};
  const shw_attr unnamed = SHW_ATTR_INT(NULL, 1), no_ints = SHW_ATTR_INTS("dims", NULL, 1),
                 no_string = SHW_ATTR_STRING("equation", NULL);
  const shw_builder_output output = SHW_BUILDER_OUTPUT_INIT;
  const shw_builder_entry entry = SHW_BUILDER_ENTRY_INIT;
  const shw_symbol symbol = SHW_SYMBOL_INIT;
  shw_tensor tensor;
  shw_builder* builder = NULL;
  size_t node = SHW_NONE;
  memset(&tensor, 0, sizeof tensor);
  REFUSED_HANDLE(shw_builder, shw_builder_create(NULL, &out));
  REFUSED(shw_builder_create(context, NULL));
  EXPECT_OK(shw_builder_create(context, &builder));
  shw_node_options_init(NULL, sizeof(shw_node_options));
  shw_result_type_init(NULL, sizeof(shw_result_type));
#define INPUT(b, role, name, dims, out) \
  add_input(b, role, name, 0, SHW_DTYPE_F32, dims, 1, NULL, out)
  REFUSED_INDEX(INPUT(NULL, SHW_ROLE_INPUT, "x", dims, &out));
  REFUSED_INDEX(INPUT(builder, SHW_ROLE_PARAMETER, NULL, dims, &out));
  REFUSED_INDEX(INPUT(builder, SHW_ROLE_INPUT, "x", NULL, &out));
  REFUSED(INPUT(builder, SHW_ROLE_INPUT, "x", dims, NULL));
  EXPECT_OK(INPUT(builder, SHW_ROLE_INPUT, "x", dims, &node));
#define NODE(b, op, operands, attrs, num_attrs, out) \
  shw_builder_add_node(b, op, operands, 2, attrs, num_attrs, NULL, out)
  REFUSED_INDEX(NODE(NULL, "add", operands, NULL, 0, &out));
  REFUSED_INDEX(NODE(builder, NULL, operands, NULL, 0, &out));
  REFUSED_INDEX(NODE(builder, "add", NULL, NULL, 0, &out));
  REFUSED_INDEX(NODE(builder, "add", operands, NULL, 1, &out));
  REFUSED_INDEX(NODE(builder, "add", operands, &unnamed, 1, &out));
  REFUSED_INDEX(NODE(builder, "add", operands, &no_ints, 1, &out));
  REFUSED_INDEX(NODE(builder, "add", operands, &no_string, 1, &out));
  REFUSED(NODE(builder, "add", operands, NULL, 0, NULL));
  shw_builder_input_init(NULL, sizeof(shw_builder_input));
  shw_builder_output_init(NULL, sizeof(shw_builder_output));
  shw_builder_entry_init(NULL, sizeof(shw_builder_entry));
  REFUSED_INDEX(shw_builder_add_input(builder, NULL, NULL, &out));
  REFUSED_INDEX(shw_builder_add_symbol(NULL, &symbol, &out));
  REFUSED_INDEX(shw_builder_add_symbol(builder, NULL, &out));
  REFUSED_INDEX(shw_builder_add_symbol(builder, &symbol, &out)); /* without a name */
  REFUSED(shw_builder_add_symbol(builder, &symbol, NULL));
  REFUSED_INDEX(shw_builder_add_constant(NULL, "c", &tensor, NULL, &out));
  REFUSED_INDEX(shw_builder_add_constant(builder, "c", NULL, NULL, &out));
  REFUSED(shw_builder_add_constant(builder, "c", &tensor, NULL, NULL));
  REFUSED_INDEX(shw_builder_add_output(NULL, &output, &out));
  REFUSED_INDEX(shw_builder_add_output(builder, NULL, &out));
  REFUSED(shw_builder_add_output(builder, &output, NULL));
  REFUSED_INDEX(shw_builder_add_entry(NULL, &entry, &out));
  REFUSED_INDEX(shw_builder_add_entry(builder, NULL, &out));
  REFUSED(shw_builder_add_entry(builder, &entry, NULL));
  REFUSED_STRUCT(shw_result_type, shw_builder_get_type(NULL, 0, 0, &out));
  REFUSED(shw_builder_get_type(builder, 0, 0, NULL));
  REFUSED_HANDLE(shw_blob, shw_builder_finish(NULL, &out));
  REFUSED(shw_builder_finish(builder, NULL));
  shw_builder_destroy(builder);
  shw_builder_destroy(NULL);
}

static void plan_explanations(void) {
  REFUSED_STRUCT(shw_plan_explanation_summary, shw_plan_explanation_get_summary(NULL, &out));
  REFUSED_STRUCT(shw_plan_explanation_rival, shw_plan_explanation_get_rival(NULL, 0, &out));
  REFUSED_STRUCT(shw_plan_explanation_group, shw_plan_explanation_get_group(NULL, 0, &out));
  REFUSED_STRUCT(shw_explanation_edge, shw_plan_explanation_get_edge(NULL, 0, &out));
  EXPECT(shw_plan_explanation_num_rivals(NULL) == 0 && shw_plan_explanation_num_edges(NULL) == 0);
  EXPECT(shw_plan_explanation_num_groups(NULL) == 0);
  shw_plan_explanation_summary_init(NULL, sizeof(shw_plan_explanation_summary));
  shw_plan_explanation_rival_init(NULL, sizeof(shw_plan_explanation_rival));
  shw_plan_explanation_group_init(NULL, sizeof(shw_plan_explanation_group));
  REFUSED_HANDLE(shw_blob, shw_plan_explanation_to_json(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_plan_explanation_to_text(NULL, &out));
  shw_plan_explanation_destroy(NULL);
}

static void comparisons(const shw_plan* plan) {
  REFUSED_HANDLE(shw_comparison, shw_plan_compare(NULL, plan, &out));
  REFUSED_HANDLE(shw_comparison, shw_plan_compare(plan, NULL, &out));
  REFUSED(shw_plan_compare(plan, plan, NULL));
  EXPECT(shw_comparison_num_nodes(NULL) == 0 && shw_comparison_num_unchanged(NULL) == 0);
  shw_comparison_node_init(NULL, sizeof(shw_comparison_node));
  REFUSED_STRUCT(shw_comparison_node, shw_comparison_get_node(NULL, 0, &out));
  REFUSED_HANDLE(shw_blob, shw_comparison_to_json(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_comparison_to_text(NULL, &out));
  shw_comparison_destroy(NULL);
  shw_plan_effort_init(NULL, sizeof(shw_plan_effort));
  REFUSED_STRUCT(shw_plan_effort, shw_plan_get_effort(NULL, &out));
  REFUSED(shw_plan_get_effort(plan, NULL));
}

static void graphs(shw_context* context) {
  const shw_bytes none = {NULL, 0}, broken = {NULL, 8};
  shw_blob *graph = mlp_graph(context), *values = NULL;
  REFUSED_HANDLE(shw_blob, shw_graph_import(NULL, SHW_GRAPH_FORMAT_TEXT, none, &out));
  REFUSED_HANDLE(shw_blob, shw_graph_import(context, 0, none, &out));
  REFUSED_HANDLE(shw_blob, shw_graph_import(context, SHW_GRAPH_FORMAT_FX_JSON, none, &out));
  REFUSED_HANDLE(shw_blob, shw_graph_import(context, SHW_GRAPH_FORMAT_TEXT, broken, &out));
  REFUSED(shw_graph_import(context, SHW_GRAPH_FORMAT_TEXT, none, NULL));
  shw_onnx_options_init(NULL, sizeof(shw_onnx_options));
  REFUSED_HANDLE(shw_blob, shw_graph_import_onnx(NULL, none, NULL, &out, &values));
  REFUSED_HANDLE(shw_blob, shw_graph_import_onnx(context, broken, NULL, &out, &values));
  REFUSED_HANDLE(shw_blob, shw_graph_import_onnx(context, none, NULL, &out, NULL));
  REFUSED(shw_graph_import_onnx(context, none, NULL, NULL, &values));
  EXPECT(values == NULL);
  shw_graph_summary_init(NULL, sizeof(shw_graph_summary));
  REFUSED_STRUCT(shw_graph_summary, shw_graph_get_summary(broken, &out));
  REFUSED(shw_graph_get_summary(bytes_of(graph), NULL));
  REFUSED_HANDLE(shw_blob, shw_graph_to_text(NULL, bytes_of(graph), &out));
  REFUSED_HANDLE(shw_blob, shw_graph_to_text(context, broken, &out));
  REFUSED(shw_graph_to_text(context, bytes_of(graph), NULL));
  shw_blob_destroy(graph);
}

static void solutions(shw_context* context) {
  const shw_bytes none = {NULL, 0}, broken = {NULL, 8};
  shw_solution_options_init(NULL, sizeof(shw_solution_options));
  shw_solution_summary_init(NULL, sizeof(shw_solution_summary));
  shw_solution_budget_init(NULL, sizeof(shw_solution_budget));
  shw_solution_price_init(NULL, sizeof(shw_solution_price));
  REFUSED_HANDLE(shw_solution, shw_solution_create(NULL, none, NULL, &out));
  REFUSED_HANDLE(shw_solution, shw_solution_create(context, none, NULL, &out));
  REFUSED_HANDLE(shw_solution, shw_solution_create(context, broken, NULL, &out));
  REFUSED(shw_solution_create(context, none, NULL, NULL));
  REFUSED_STRUCT(shw_solution_summary, shw_solution_get_summary(NULL, &out));
  REFUSED_STRUCT(shw_solution_budget, shw_solution_get_budget(NULL, 0, &out));
  REFUSED_STRUCT(shw_solution_price, shw_solution_get_price(NULL, 0, &out));
  EXPECT(shw_solution_num_nodes(NULL) == 0 && shw_solution_num_budgets(NULL) == 0);
  EXPECT(shw_solution_num_prices(NULL) == 0 && shw_solution_strategy(NULL, 0) == SHW_NONE);
  REFUSED_HANDLE(shw_blob, shw_solution_to_json(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_solution_to_text(NULL, &out));
  shw_solution_destroy(NULL);
}

static void hardware(shw_context* context) {
  const shw_bytes none = {NULL, 0}, broken = {NULL, 8};
  const shw_calibration_file file = {NULL, {NULL, 0}, NULL}, broken_file = {NULL, {NULL, 8}, NULL};
  shw_hardware_info_init(NULL, sizeof(shw_hardware_info));
  REFUSED_STRUCT(shw_hardware_info, shw_hardware_get_info(NULL, broken, &out));
  REFUSED(shw_hardware_get_info("h100", none, NULL));
  REFUSED_HANDLE(shw_blob, shw_hardware_to_json(NULL, "h100", none, &out));
  REFUSED_HANDLE(shw_blob, shw_hardware_to_json(context, NULL, broken, &out));
  REFUSED(shw_hardware_to_json(context, "h100", none, NULL));
  shw_calibration_options_init(NULL, sizeof(shw_calibration_options));
  shw_calibration_collective_init(NULL, sizeof(shw_calibration_collective));
  shw_calibration_figure_init(NULL, sizeof(shw_calibration_figure));
  REFUSED_HANDLE(shw_calibration, shw_calibration_create(NULL, &file, 1, NULL, &out));
  REFUSED_HANDLE(shw_calibration, shw_calibration_create(context, NULL, 1, NULL, &out));
  REFUSED_HANDLE(shw_calibration, shw_calibration_create(context, &file, 1, NULL, &out));
  REFUSED_HANDLE(shw_calibration, shw_calibration_create(context, &broken_file, 1, NULL, &out));
  REFUSED(shw_calibration_create(context, &file, 1, NULL, NULL));
  EXPECT(shw_calibration_num_collectives(NULL) == 0 && shw_calibration_num_figures(NULL) == 0);
  REFUSED_STRUCT(shw_calibration_collective, shw_calibration_get_collective(NULL, 0, &out));
  REFUSED_STRUCT(shw_calibration_figure, shw_calibration_get_figure(NULL, 0, &out));
  REFUSED_HANDLE(shw_blob, shw_calibration_to_description(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_calibration_to_json(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_calibration_to_text(NULL, &out));
  shw_calibration_destroy(NULL);
}

static void verifications(const shw_plan* plan) {
  shw_verification_options options = SHW_VERIFICATION_OPTIONS_INIT;
  shw_verification_options_init(NULL, sizeof(shw_verification_options));
  shw_verification_summary_init(NULL, sizeof(shw_verification_summary));
  shw_verification_tensor_init(NULL, sizeof(shw_verification_tensor));
  REFUSED_HANDLE(shw_verification, shw_verification_create(NULL, &options, &out));
  REFUSED_HANDLE(shw_verification, shw_verification_create(plan, NULL, &out));
  REFUSED_HANDLE(shw_verification, shw_verification_create(plan, &options, &out));
  options.num_inputs = MLP_NUM_INPUTS;
  options.num_outputs = MLP_NUM_OUTPUTS;
  REFUSED_HANDLE(shw_verification, shw_verification_create(plan, &options, &out));
  REFUSED(shw_verification_create(plan, &options, NULL));
  EXPECT(shw_verification_num_tensors(NULL) == 0);
  REFUSED_STRUCT(shw_verification_summary, shw_verification_get_summary(NULL, &out));
  REFUSED_STRUCT(shw_verification_tensor, shw_verification_get_tensor(NULL, 0, &out));
  REFUSED_HANDLE(shw_blob, shw_verification_to_json(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_verification_to_text(NULL, &out));
  shw_verification_destroy(NULL);
}

static void recipes_of(shw_planner* planner) {
  static const char* const kUnknown[] = {"zero-5"};
  static const char kNoPlan[] = "{\"param.w9\": \"RR\"}";
  shw_recipes_options unknown = SHW_RECIPES_OPTIONS_INIT, foreign = SHW_RECIPES_OPTIONS_INIT;
  unknown.recipes = kUnknown;
  unknown.num_recipes = 1;
  foreign.foreign.data = kNoPlan;
  foreign.foreign.size = sizeof kNoPlan - 1;
  shw_recipes_options_init(NULL, sizeof(shw_recipes_options));
  shw_recipes_row_init(NULL, sizeof(shw_recipes_row));
  REFUSED_HANDLE(shw_recipes, shw_planner_compare(NULL, NULL, NULL, &out));
  REFUSED_HANDLE(shw_recipes, shw_planner_compare(planner, &unknown, NULL, &out));
  REFUSED_HANDLE(shw_recipes, shw_planner_compare(planner, &foreign, NULL, &out));
  REFUSED(shw_planner_compare(planner, NULL, NULL, NULL));
  EXPECT(shw_recipes_num_rows(NULL) == 0);
  REFUSED_STRUCT(shw_recipes_row, shw_recipes_get_row(NULL, 0, &out));
  REFUSED_HANDLE(shw_blob, shw_recipes_to_json(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_recipes_to_text(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_recipes_to_svg(NULL, &out));
  shw_recipes_destroy(NULL);
}

static void planners(shw_context* context, const shw_plan* plan) {
  const shw_bytes none = {NULL, 0};
  const shw_pin unnamed = {NULL, "RR"};
  const shw_search_options search = SHW_SEARCH_OPTIONS_INIT;
  shw_pareto_options one_point = SHW_PARETO_OPTIONS_INIT;
  shw_planner_changes no_pins = SHW_PLANNER_CHANGES_INIT, no_name = SHW_PLANNER_CHANGES_INIT;
  shw_mesh_axis axes[2];
  const shw_compile_options options = mlp_options(axes, 2, 2);
  shw_blob* graph = mlp_graph(context);
  shw_planner* planner = NULL;
  no_pins.num_pins = no_name.num_pins = 1;
  one_point.num_points = 1;
  no_name.pins = &unnamed;
  shw_planner_changes_init(NULL, sizeof(shw_planner_changes));
  REFUSED_HANDLE(shw_planner, shw_planner_create(NULL, bytes_of(graph), &options, &out));
  REFUSED_HANDLE(shw_planner, shw_planner_create(context, none, NULL, &out));
  REFUSED(shw_planner_create(context, bytes_of(graph), &options, NULL));
  EXPECT_OK(shw_planner_create(context, bytes_of(graph), &options, &planner));
  REFUSED_HANDLE(shw_plan, shw_planner_compile(NULL, NULL, &out));
  REFUSED_HANDLE(shw_plan, shw_planner_compile(planner, &no_pins, &out));
  REFUSED_HANDLE(shw_plan, shw_planner_compile(planner, &no_name, &out));
  REFUSED(shw_planner_compile(planner, NULL, NULL));
  REFUSED_HANDLE(shw_explanation, shw_planner_explain(NULL, "output", NULL, NULL, &out));
  REFUSED_HANDLE(shw_explanation, shw_planner_explain(planner, NULL, NULL, NULL, &out));
  REFUSED_HANDLE(shw_explanation, shw_planner_explain(planner, "output", NULL, &no_pins, &out));
  REFUSED(shw_planner_explain(planner, "output", NULL, NULL, NULL));
  REFUSED_HANDLE(shw_plan_explanation, shw_planner_explain_plan(NULL, NULL, &out));
  REFUSED_HANDLE(shw_plan_explanation, shw_planner_explain_plan(planner, &no_pins, &out));
  REFUSED(shw_planner_explain_plan(planner, NULL, NULL));
  plan_explanations();
  comparisons(plan);
  shw_search_options_init(NULL, 0);
  shw_search_candidate_init(NULL, sizeof(shw_search_candidate));
  REFUSED_HANDLE(shw_search, shw_search_create(NULL, none, NULL, &search, &out));
  REFUSED_HANDLE(shw_search, shw_search_create(context, none, NULL, NULL, &out));
  REFUSED_HANDLE(shw_search, shw_search_create(context, none, NULL, &search, &out));
  REFUSED(shw_search_create(context, none, NULL, &search, NULL));
  EXPECT(shw_search_num_candidates(NULL) == 0);
  REFUSED_STRUCT(shw_search_candidate, shw_search_get_candidate(NULL, 0, &out));
  REFUSED_HANDLE(shw_blob, shw_search_to_json(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_search_to_text(NULL, &out));
  shw_search_destroy(NULL);
  shw_pareto_point_init(NULL, sizeof(shw_pareto_point));
  REFUSED_HANDLE(shw_pareto, shw_planner_pareto(NULL, NULL, NULL, &out));
  REFUSED_HANDLE(shw_pareto, shw_planner_pareto(planner, &one_point, NULL, &out));
  REFUSED(shw_planner_pareto(planner, NULL, NULL, NULL));
  shw_pareto_options_init(NULL, sizeof(shw_pareto_options));
  REFUSED_HANDLE(shw_blob, shw_pareto_to_text(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_pareto_to_svg(NULL, &out));
  EXPECT(shw_pareto_num_points(NULL) == 0);
  REFUSED_STRUCT(shw_pareto_point, shw_pareto_get_point(NULL, 0, &out));
  REFUSED_HANDLE(shw_blob, shw_pareto_to_json(NULL, &out));
  shw_pareto_destroy(NULL);
  recipes_of(planner);
  shw_explanation_summary_init(NULL, sizeof(shw_explanation_summary));
  shw_explanation_alternative_init(NULL, sizeof(shw_explanation_alternative));
  shw_explanation_edge_init(NULL, sizeof(shw_explanation_edge));
  shw_explanation_options_init(NULL, sizeof(shw_explanation_options));
  shw_explanation_strategy_init(NULL, sizeof(shw_explanation_strategy));
  EXPECT(shw_explanation_num_strategies(NULL) == 0);
  REFUSED_STRUCT(shw_explanation_strategy, shw_explanation_get_strategy(NULL, 0, &out));
  REFUSED_STRUCT(shw_explanation_summary, shw_explanation_get_summary(NULL, &out));
  EXPECT(shw_explanation_num_alternatives(NULL) == 0 && shw_explanation_num_edges(NULL) == 0);
  REFUSED_STRUCT(shw_explanation_alternative, shw_explanation_get_alternative(NULL, 0, &out));
  REFUSED_STRUCT(shw_explanation_edge, shw_explanation_get_edge(NULL, 0, &out));
  REFUSED_HANDLE(shw_blob, shw_explanation_to_json(NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_explanation_to_text(NULL, &out));
  shw_explanation_destroy(NULL);
  REFUSED_HANDLE(shw_blob, shw_planner_export(NULL, NULL, &out));
  REFUSED(shw_planner_export(planner, NULL, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_to_module_tree(NULL, &out));
  REFUSED(shw_plan_to_module_tree(plan, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_to_module_tree_text(NULL, &out));
  REFUSED(shw_plan_to_module_tree_text(plan, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_to_program_text(NULL, &out));
  REFUSED(shw_plan_to_program_text(plan, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_to_steps(NULL, &out));
  REFUSED(shw_plan_to_steps(plan, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_to_steps_text(NULL, &out));
  REFUSED(shw_plan_to_steps_text(plan, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_to_trace(NULL, "step", &out));
  REFUSED(shw_plan_to_trace(plan, NULL, NULL));
  shw_bench_options_init(NULL, sizeof(shw_bench_options));
  REFUSED_HANDLE(shw_blob, shw_plan_bench(NULL, NULL, &out));
  REFUSED(shw_plan_bench(plan, NULL, NULL));
  shw_collective_bench_options_init(NULL, sizeof(shw_collective_bench_options));
  REFUSED_HANDLE(shw_blob, shw_bench_collectives(NULL, NULL, &out));
  REFUSED(shw_bench_collectives(context, NULL, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_to_report(NULL, NULL, NULL, &out));
  REFUSED(shw_plan_to_report(plan, NULL, NULL, NULL));
  REFUSED_HANDLE(shw_blob, shw_planner_to_report(NULL, NULL, plan, NULL, NULL, &out));
  REFUSED_HANDLE(shw_blob, shw_planner_to_report(planner, NULL, NULL, NULL, NULL, &out));
  REFUSED(shw_planner_to_report(planner, NULL, plan, NULL, NULL, NULL));
  REFUSED_HANDLE(shw_blob, shw_plan_to_placements(NULL, &out));
  REFUSED(shw_plan_to_placements(plan, NULL));
  no_pins.num_pins = 0;
  no_pins.placements.size = 8;
  REFUSED_HANDLE(shw_plan, shw_planner_compile(planner, &no_pins, &out));
  shw_planner_destroy(planner);
  shw_planner_destroy(NULL);
  shw_blob_destroy(graph);
}

int main(void) {
  shw_context* context = new_context();
  shw_plan* plan = mlp_plan(context, 2, 4);
  status_context_cancel_blob(context);
  plan_making(context, plan);
  plan_queries(plan);
  buffers(context);
  running(context, plan);
  builders(context);
  planners(context, plan);
  graphs(context);
  solutions(context);
  hardware(context);
  verifications(plan);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
  return test_result();
}
