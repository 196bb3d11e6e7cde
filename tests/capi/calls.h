/* Calls of the interface in one line, for tests that fill no structs of their own. */
#ifndef SHARDWISE_TESTS_CAPI_CALLS_H_
#define SHARDWISE_TESTS_CAPI_CALLS_H_

#include "shardwise/shardwise.h"

/* shw_builder_add_input(); `position` is not used by roles that have none. */
shw_status* add_input(shw_builder* builder, shw_role role, const char* name, size_t position,
                      shw_dtype dtype, const int64_t* dims, int32_t rank,
                      const shw_node_options* options, size_t* out_node);
/* The same for f32 state of the executor. */
shw_status* add_state(shw_builder* builder, shw_role role, const char* name, const int64_t* dims,
                      int32_t rank, size_t* out_node);
/* shw_builder_add_output(), not in place but for state, which always is. */
shw_status* add_output(shw_builder* builder, shw_role role, size_t node, const char* name,
                       size_t of_input);

/* shw_plan_get_port() of an input or output of an entry. */
shw_status* get_input(const shw_plan* plan, size_t entry, size_t index, shw_plan_port* out_port);
shw_status* get_output(const shw_plan* plan, size_t entry, size_t index, shw_plan_port* out_port);
/* shw_plan_shard() of an input, in the CPU's memory or a device's; shw_plan_gather() of an output.
 */
shw_status* shard_input(const shw_plan* plan, size_t entry, size_t index, int32_t rank,
                        const shw_tensor* whole, shw_buffer** out_buffer);
shw_status* shard_input_on(const shw_plan* plan, size_t entry, size_t index, int32_t rank,
                           const shw_tensor* whole, shw_device* device, shw_buffer** out_buffer);
shw_status* gather_output(const shw_plan* plan, size_t entry, size_t index,
                          shw_buffer* const* pieces, size_t num_pieces, shw_buffer** out_buffer);

/* shw_executor_enqueue() with outputs that the library makes; NULL on failure. */
shw_status* enqueue(shw_executor* executor, size_t entry, shw_buffer* const* inputs,
                    size_t num_inputs, shw_buffer** outputs, size_t num_outputs,
                    shw_event* const* wait_for, size_t num_wait_for, shw_event** out_done);
/* The same with outputs of the caller; NULL: they are made. */
shw_status* enqueue_into(shw_executor* executor, size_t entry, shw_buffer* const* inputs,
                         size_t num_inputs, shw_buffer** outputs, size_t num_outputs,
                         shw_event* const* wait_for, size_t num_wait_for, shw_event** out_done);

/* The CPU; the caller destroys it. */
shw_device* new_cpu(shw_context* context);

#endif
