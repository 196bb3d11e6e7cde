#include "mlp.h"
#include "calls.h"

#include <string.h>

#include "testing.h"

static size_t matrix(shw_builder* builder, shw_role role, const char* name, int64_t rows,
                     int64_t columns) {
  int64_t dims[2];
  size_t node = SHW_NONE;
  dims[0] = rows;
  dims[1] = columns;
  EXPECT_OK(add_input(builder, role, name, 0, SHW_DTYPE_F32, dims, 2, NULL, &node));
  return node;
}

static size_t add_node(shw_builder* builder, const char* op, size_t a, size_t b,
                       const shw_attr* attr, shw_phase phase) {
  shw_node_options options = SHW_NODE_OPTIONS_INIT;
  size_t operands[2];
  size_t node = SHW_NONE;
  operands[0] = a;
  operands[1] = b;
  options.phase = phase;
  EXPECT_OK(shw_builder_add_node(builder, op, operands, b == SHW_NONE ? 1 : 2, attr,
                                 attr != NULL ? 1 : 0, &options, &node));
  return node;
}

shw_blob* mlp_graph(shw_context* context) {
  static const int64_t kSwap[2] = {1, 0};
  const shw_attr swap = SHW_ATTR_INTS("dims", kSwap, 2), zero = SHW_ATTR_INT("threshold", 0);
  const shw_phase forward = SHW_PHASE_FORWARD, backward = SHW_PHASE_BACKWARD;
  shw_builder* b = NULL;
  shw_blob* blob = NULL;
  size_t x, w1, w2, t, a, y, w2t, da, dh, xt, dw1, at, dw2;
  if (!EXPECT_OK(shw_builder_create(context, &b))) return NULL;
  w1 = matrix(b, SHW_ROLE_PARAMETER, "w1", MLP_IN, MLP_HIDDEN);
  w2 = matrix(b, SHW_ROLE_PARAMETER, "w2", MLP_HIDDEN, MLP_OUT);
  x = matrix(b, SHW_ROLE_INPUT, NULL, MLP_BATCH, MLP_IN);
  t = matrix(b, SHW_ROLE_TANGENT, NULL, MLP_BATCH, MLP_OUT);
  a = add_node(b, "relu", add_node(b, "mm", x, w1, NULL, forward), SHW_NONE, NULL, forward);
  y = add_node(b, "mm", a, w2, NULL, forward);
  at = add_node(b, "permute", a, SHW_NONE, &swap, backward);
  dw2 = add_node(b, "mm", at, t, NULL, backward);
  w2t = add_node(b, "permute", w2, SHW_NONE, &swap, backward);
  da = add_node(b, "mm", t, w2t, NULL, backward);
  dh = add_node(b, "threshold_backward", da, a, &zero, backward);
  xt = add_node(b, "permute", x, SHW_NONE, &swap, backward);
  dw1 = add_node(b, "mm", xt, dh, NULL, backward);
  EXPECT_OK(add_output(b, SHW_ROLE_RESULT, y, NULL, SHW_NONE));
  EXPECT_OK(add_output(b, SHW_ROLE_GRADIENT, dw1, NULL, w1));
  EXPECT_OK(add_output(b, SHW_ROLE_GRADIENT, dw2, NULL, w2));
  EXPECT_OK(shw_builder_finish(b, &blob));
  shw_builder_destroy(b);
  return blob;
}

shw_bytes bytes_of(const shw_blob* blob) {
  shw_bytes bytes;
  bytes.data = shw_blob_data(blob);
  bytes.size = shw_blob_size(blob);
  return bytes;
}

shw_compile_options mlp_options(shw_mesh_axis axes[2], int64_t dp, int64_t tp) {
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  axes[0].name = "dp";
  axes[0].size = dp;
  axes[1].name = "tp";
  axes[1].size = tp;
  if (dp == 0) return options;
  options.mesh_axes = axes;
  options.num_mesh_axes = 2;
  options.input_layout = "S(0)R";
  return options;
}

shw_plan* mlp_plan(shw_context* context, int64_t dp, int64_t tp) {
  shw_mesh_axis axes[2];
  const shw_compile_options options = mlp_options(axes, dp, tp);
  shw_blob* graph = mlp_graph(context);
  shw_plan* plan = NULL;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &plan));
  shw_blob_destroy(graph);
  return plan;
}

/* Fills a tensor with small integers; `salt` makes the tensors differ. */
static const float* fill(float* values, size_t count, size_t salt) {
  size_t i;
  for (i = 0; i < count; ++i) values[i] = (float)((int)((i * 7 + i / 5 + salt * 3) % 5) - 2);
  return values;
}

const float* mlp_input(const char* port) {
  static float x[MLP_BATCH * MLP_IN], w1[MLP_IN * MLP_HIDDEN], w2[MLP_HIDDEN * MLP_OUT],
      t[MLP_BATCH * MLP_OUT];
  if (strcmp(port, "input.0") == 0) return fill(x, MLP_BATCH * MLP_IN, 0);
  if (strcmp(port, "param.w1") == 0) return fill(w1, MLP_IN * MLP_HIDDEN, 1);
  if (strcmp(port, "param.w2") == 0) return fill(w2, MLP_HIDDEN * MLP_OUT, 2);
  if (strcmp(port, "tangent.0") == 0) return fill(t, MLP_BATCH * MLP_OUT, 3);
  EXPECT(!"an input that the graph does not have");
  return NULL;
}

/* out[m][n] = Σ_k a[m][k] b[k][n], with row and column strides of a and b. */
static void multiply(float* out, const float* a, size_t a_row, size_t a_column, const float* b,
                     size_t b_row, size_t b_column, size_t m, size_t k, size_t n) {
  size_t i, j, l;
  for (i = 0; i < m; ++i)
    for (j = 0; j < n; ++j) {
      out[i * n + j] = 0;
      for (l = 0; l < k; ++l)
        out[i * n + j] += a[i * a_row + l * a_column] * b[l * b_row + j * b_column];
    }
}

const float* mlp_expected(const char* port) {
  static float a[MLP_BATCH * MLP_HIDDEN], y[MLP_BATCH * MLP_OUT], da[MLP_BATCH * MLP_HIDDEN],
      dw1[MLP_IN * MLP_HIDDEN], dw2[MLP_HIDDEN * MLP_OUT];
  const float *x = mlp_input("input.0"), *t = mlp_input("tangent.0");
  const float *w1 = mlp_input("param.w1"), *w2 = mlp_input("param.w2");
  size_t i;
  multiply(a, x, MLP_IN, 1, w1, MLP_HIDDEN, 1, MLP_BATCH, MLP_IN, MLP_HIDDEN);
  for (i = 0; i < MLP_BATCH * MLP_HIDDEN; ++i) a[i] = a[i] > 0 ? a[i] : 0;
  multiply(y, a, MLP_HIDDEN, 1, w2, MLP_OUT, 1, MLP_BATCH, MLP_HIDDEN, MLP_OUT);
  multiply(da, t, MLP_OUT, 1, w2, 1, MLP_OUT, MLP_BATCH, MLP_OUT, MLP_HIDDEN);
  for (i = 0; i < MLP_BATCH * MLP_HIDDEN; ++i) da[i] = a[i] > 0 ? da[i] : 0;
  multiply(dw1, x, 1, MLP_IN, da, MLP_HIDDEN, 1, MLP_IN, MLP_BATCH, MLP_HIDDEN);
  multiply(dw2, a, 1, MLP_HIDDEN, t, MLP_OUT, 1, MLP_HIDDEN, MLP_BATCH, MLP_OUT);
  if (strcmp(port, "output") == 0) return y;
  if (strcmp(port, "grad.w1") == 0) return dw1;
  if (strcmp(port, "grad.w2") == 0) return dw2;
  EXPECT(!"an output that the graph does not have");
  return NULL;
}

static int shard_all(const shw_plan* plan, mlp_job* job, int32_t rank) {
  int worked = 1;
  size_t i;
  for (i = 0; i < MLP_NUM_INPUTS; ++i) {
    shw_plan_port port = SHW_PLAN_PORT_INIT;
    shw_tensor whole;
    if (!EXPECT_OK(get_input(plan, job->entry, i, &port))) return 0;
    memset(&whole, 0, sizeof whole);
    whole.data = (void*)mlp_input(port.name);
    whole.dims = port.dims;
    whole.rank = port.rank;
    whole.dtype = port.dtype;
    worked &= EXPECT_OK(shard_input_on(plan, job->entry, i, rank, &whole, job->devices[rank],
                                       &job->inputs[rank][i]));
  }
  return worked;
}

int mlp_job_create(shw_context* context, const shw_plan* plan, mlp_job* job) {
  return mlp_job_create_on(context, plan, 0, 0, job);
}

int mlp_job_create_on(shw_context* context, const shw_plan* plan, shw_device_kind kind,
                      uint64_t flags, mlp_job* job) {
  shw_executor_options options = SHW_EXECUTOR_OPTIONS_INIT;
  int worked = 1;
  int32_t rank;
  memset(job, 0, sizeof *job);
  job->num_ranks = shw_plan_num_ranks(plan);
  if (!EXPECT(job->num_ranks >= 1 && job->num_ranks <= 8)) return 0;
  worked &= EXPECT_OK(shw_plan_find_entry(plan, "step", &job->entry));
  worked &= EXPECT_OK(shw_world_create_virtual(context, job->num_ranks, NULL, &job->world));
  for (rank = 0; rank < job->num_ranks && worked; ++rank) {
    if (kind != 0) worked &= EXPECT_OK(shw_device_create(context, kind, rank, &job->devices[rank]));
    options.device = job->devices[rank];
    options.flags = flags;
    worked &=
        EXPECT_OK(shw_executor_create(plan, job->world, rank, &options, &job->executors[rank]));
    worked &= shard_all(plan, job, rank);
  }
  return worked;
}

void mlp_job_destroy(mlp_job* job) {
  int32_t rank;
  size_t i;
  for (rank = 0; rank < job->num_ranks; ++rank) shw_executor_destroy(job->executors[rank]);
  for (rank = 0; rank < job->num_ranks; ++rank)
    for (i = 0; i < MLP_NUM_INPUTS; ++i) shw_buffer_destroy(job->inputs[rank][i]);
  for (rank = 0; rank < job->num_ranks; ++rank) shw_device_destroy(job->devices[rank]);
  shw_world_destroy(job->world);
}

static int check_output(const shw_plan* plan, const mlp_job* job, size_t output,
                        shw_buffer* const* pieces) {
  static float values[MLP_IN * MLP_HIDDEN];
  shw_plan_port port = SHW_PLAN_PORT_INIT;
  shw_buffer* whole = NULL;
  size_t size;
  int holds = EXPECT_OK(get_output(plan, job->entry, output, &port));
  holds &=
      EXPECT_OK(gather_output(plan, job->entry, output, pieces, (size_t)job->num_ranks, &whole));
  if (!holds || !EXPECT(port.rank == 2)) return 0;
  size = (size_t)(port.dims[0] * port.dims[1]) * sizeof(float);
  holds &= EXPECT_OK(shw_buffer_read(whole, values, size));
  holds &= EXPECT(memcmp(values, mlp_expected(port.name), size) == 0);
  shw_buffer_destroy(whole);
  return holds;
}

int mlp_job_run_and_check(const shw_plan* plan, mlp_job* job) {
  shw_buffer* outputs[8][MLP_NUM_OUTPUTS];
  shw_event* done[8];
  shw_buffer* pieces[8];
  int holds = 1;
  int32_t rank;
  size_t i;
  for (rank = 0; rank < job->num_ranks; ++rank)
    holds &= EXPECT_OK(enqueue(job->executors[rank], job->entry, job->inputs[rank], MLP_NUM_INPUTS,
                               outputs[rank], MLP_NUM_OUTPUTS, NULL, 0, &done[rank]));
  for (rank = 0; rank < job->num_ranks; ++rank) {
    if (done[rank] != NULL) holds &= EXPECT_OK(shw_event_wait(done[rank], -1));
    shw_event_destroy(done[rank]);
  }
  for (i = 0; i < MLP_NUM_OUTPUTS && holds; ++i) {
    for (rank = 0; rank < job->num_ranks; ++rank) pieces[rank] = outputs[rank][i];
    holds &= check_output(plan, job, i, pieces);
  }
  for (rank = 0; rank < job->num_ranks; ++rank)
    for (i = 0; i < MLP_NUM_OUTPUTS; ++i) shw_buffer_destroy(outputs[rank][i]);
  return holds;
}
