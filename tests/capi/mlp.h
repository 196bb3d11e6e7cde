/* Two matrix products with a relu between them, forward and backward. The model is small, and its
 * values are exact in f32 for any order of sums, so results can be compared bit by bit. */
#ifndef SHARDWISE_TESTS_CAPI_MLP_H_
#define SHARDWISE_TESTS_CAPI_MLP_H_

#include "shardwise/shardwise.h"

enum { MLP_BATCH = 8, MLP_IN = 16, MLP_HIDDEN = 32, MLP_OUT = 16 };
enum { MLP_NUM_INPUTS = 4, MLP_NUM_OUTPUTS = 3 };

/* Makes the graph with the builder. The caller destroys the blob. */
shw_blob* mlp_graph(shw_context* context);
shw_bytes bytes_of(const shw_blob* blob);

/* Compiles a plan for dp × tp ranks, or for one rank if both are 0. A failure is reported, and the
 * result is NULL. */
shw_plan* mlp_plan(shw_context* context, int64_t dp, int64_t tp);
/* Returns the options with which mlp_plan() compiles. `axes` receives the mesh. */
shw_compile_options mlp_options(shw_mesh_axis axes[2], int64_t dp, int64_t tp);

/* Everything that is needed to run a plan on virtual ranks of this process. */
typedef struct mlp_job {
  int32_t num_ranks;
  size_t entry;
  shw_world* world;
  shw_device* devices[8]; /* NULL: the CPU */
  shw_executor* executors[8];
  shw_buffer* inputs[8][MLP_NUM_INPUTS];
} mlp_job;
/* Returns whether it worked. Failures are reported. */
int mlp_job_create(shw_context* context, const shw_plan* plan, mlp_job* job);
/* The same on devices of one kind; each rank has its own device. `flags`: the executors' flags. */
int mlp_job_create_on(shw_context* context, const shw_plan* plan, shw_device_kind kind,
                      uint64_t flags, mlp_job* job);
void mlp_job_destroy(mlp_job* job);

/* Runs one step on every rank, and compares outputs with what mlp_expected() computes. */
int mlp_job_run_and_check(const shw_plan* plan, mlp_job* job);

/* The values of an input port: "input.0", "param.w1", "param.w2" or "tangent.0". */
const float* mlp_input(const char* port);
/* The expected values of "output", "grad.w1" or "grad.w2", computed by loops over plain arrays. */
const float* mlp_expected(const char* port);

#endif
