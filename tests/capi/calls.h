/* Functions that make one call of the C API, for tests that do not fill in structs themselves. */
#ifndef SHARDWISE_TESTS_CAPI_CALLS_H_
#define SHARDWISE_TESTS_CAPI_CALLS_H_

#include "shardwise/shardwise.h"

/* shw_builder_add_input(). Roles without a position ignore `position`. */
shw_status* add_input(shw_builder* builder, shw_role role, const char* name, size_t position,
                      shw_dtype dtype, const int64_t* dims, int32_t rank,
                      const shw_node_options* options, size_t* out_node);
/* The same for f32 state that the executor keeps. */
shw_status* add_state(shw_builder* builder, shw_role role, const char* name, const int64_t* dims,
                      int32_t rank, size_t* out_node);
/* shw_builder_add_output(). Only updates of state are in place, which they always are. */
shw_status* add_output(shw_builder* builder, shw_role role, size_t node, const char* name,
                       size_t of_input);

/* shw_plan_get_port() for an input or an output of an entry. */
shw_status* get_input(const shw_plan* plan, size_t entry, size_t index, shw_plan_port* out_port);
shw_status* get_output(const shw_plan* plan, size_t entry, size_t index, shw_plan_port* out_port);
/* shw_plan_shard() for an input, into CPU memory or memory of `device`; shw_plan_gather() for an
 * output. */
shw_status* shard_input(const shw_plan* plan, size_t entry, size_t index, int32_t rank,
                        const shw_tensor* whole, shw_buffer** out_buffer);
shw_status* shard_input_on(const shw_plan* plan, size_t entry, size_t index, int32_t rank,
                           const shw_tensor* whole, shw_device* device, shw_buffer** out_buffer);
shw_status* gather_output(const shw_plan* plan, size_t entry, size_t index,
                          shw_buffer* const* pieces, size_t num_pieces, shw_buffer** out_buffer);

/* shw_executor_enqueue() with outputs that the library allocates. They are NULL on failure. */
shw_status* enqueue(shw_executor* executor, size_t entry, shw_buffer* const* inputs,
                    size_t num_inputs, shw_buffer** outputs, size_t num_outputs,
                    shw_event* const* wait_for, size_t num_wait_for, shw_event** out_done);
/* The same with the caller's outputs. The library allocates those that are NULL. */
shw_status* enqueue_into(shw_executor* executor, size_t entry, shw_buffer* const* inputs,
                         size_t num_inputs, shw_buffer** outputs, size_t num_outputs,
                         shw_event* const* wait_for, size_t num_wait_for, shw_event** out_done);

/* Returns the CPU device. The caller destroys it. */
shw_device* new_cpu(shw_context* context);

#endif
