/* Two matrix products with a relu between, forward and backward: small, and with values that are
 * exact in f32 whatever the order of sums, so that results are compared by their bits. */
#ifndef SHARDWISE_TESTS_CAPI_MLP_H_
#define SHARDWISE_TESTS_CAPI_MLP_H_

#include "shardwise/shardwise.h"

enum { MLP_BATCH = 8, MLP_IN = 16, MLP_HIDDEN = 32, MLP_OUT = 16 };
enum { MLP_NUM_INPUTS = 4, MLP_NUM_OUTPUTS = 3 };

/* The graph, by the builder. The caller destroys the blob. */
shw_blob* mlp_graph(shw_context* context);
shw_bytes bytes_of(const shw_blob* blob);

/* For dp × tp ranks; 0, 0: one rank. NULL on failure, which is reported. */
shw_plan* mlp_plan(shw_context* context, int64_t dp, int64_t tp);
/* The options that mlp_plan() compiles with; `axes` holds the mesh. */
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
/* Whether it worked; failures are reported. */
int mlp_job_create(shw_context* context, const shw_plan* plan, mlp_job* job);
/* The same on devices of a kind, each rank on one of its own; `flags`: of the executors. */
int mlp_job_create_on(shw_context* context, const shw_plan* plan, shw_device_kind kind,
                      uint64_t flags, mlp_job* job);
void mlp_job_destroy(mlp_job* job);

/* Runs one step on every rank, and compares outputs with what mlp_expected() computes. */
int mlp_job_run_and_check(const shw_plan* plan, mlp_job* job);

/* Values by name of the port: "input.0", "param.w1", "param.w2", "tangent.0". */
const float* mlp_input(const char* port);
/* "output", "grad.w1", "grad.w2", by loops over plain arrays. */
const float* mlp_expected(const char* port);

#endif
