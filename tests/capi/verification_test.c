/* Verifies right and wrong results of a run. */
#include <string.h>

#include "data.h"
#include "mlp.h"
#include "testing.h"

enum { MOST_PORTS = 8 };

/* The tensors of the entry's ports, as mlp.h computes them. A run gives the same bits. */
typedef struct tensors {
  shw_tensor inputs[MOST_PORTS], outputs[MOST_PORTS];
  size_t num_inputs, num_outputs;
} tensors;

static shw_tensor tensor_of(const shw_plan* plan, size_t index, int is_input) {
  shw_plan_port port = SHW_PLAN_PORT_INIT;
  shw_tensor t;
  memset(&t, 0, sizeof t);
  EXPECT_OK(shw_plan_get_port(plan, index, &port));
  t.data = (void*)(is_input ? mlp_input(port.name) : mlp_expected(port.name));
  t.dims = port.dims;
  t.rank = port.rank;
  t.dtype = port.dtype;
  return t;
}

static tensors tensors_of(const shw_plan* plan) {
  shw_plan_entry entry = SHW_PLAN_ENTRY_INIT;
  tensors all;
  size_t i;
  EXPECT_OK(shw_plan_get_entry(plan, 0, &entry));
  all.num_inputs = entry.num_inputs;
  all.num_outputs = entry.num_outputs;
  for (i = 0; i < entry.num_inputs; ++i) all.inputs[i] = tensor_of(plan, entry.inputs[i], 1);
  for (i = 0; i < entry.num_outputs; ++i) all.outputs[i] = tensor_of(plan, entry.outputs[i], 0);
  return all;
}

static shw_verification_options options_of(const tensors* all) {
  shw_verification_options options = SHW_VERIFICATION_OPTIONS_INIT;
  options.inputs = all->inputs;
  options.num_inputs = all->num_inputs;
  options.outputs = all->outputs;
  options.num_outputs = all->num_outputs;
  return options;
}

static void finds_right_what_is_right(const shw_plan* plan) {
  const tensors all = tensors_of(plan);
  shw_verification_options options = options_of(&all);
  shw_verification_summary summary = SHW_VERIFICATION_SUMMARY_INIT;
  shw_verification_tensor tensor = SHW_VERIFICATION_TENSOR_INIT;
  shw_verification* verification = NULL;
  shw_blob* blob = NULL;
  size_t i;
  options.expected = all.outputs;
  options.num_expected = all.num_outputs;
  EXPECT_OK(shw_verification_create(plan, &options, &verification));
  EXPECT_OK(shw_verification_get_summary(verification, &summary));
  EXPECT(summary.num_wrong == 0 && summary.num_expected_wrong == 0 && summary.num_samples >= 5);
  EXPECT(shw_verification_num_tensors(verification) == MLP_NUM_OUTPUTS);
  for (i = 0; i < MLP_NUM_OUTPUTS; ++i) {
    EXPECT_OK(shw_verification_get_tensor(verification, i, &tensor));
    EXPECT(tensor.verdict == SHW_VERDICT_RIGHT && tensor.expected_verdict == SHW_VERDICT_RIGHT);
    EXPECT(tensor.scale > 0 && tensor.error <= tensor.limit);
  }
  EXPECT_CODE(shw_verification_get_tensor(verification, i, &tensor), SHW_OUT_OF_RANGE);
  EXPECT_OK(shw_verification_to_json(verification, &blob));
  EXPECT(blob_says(blob, "\"noise\""));
  EXPECT_OK(shw_verification_to_text(verification, &blob));
  EXPECT(blob_says(blob, "3 tensors, 0 wrong"));
  shw_verification_destroy(verification);
}

static void finds_wrong_what_is_wrong(const shw_plan* plan) {
  static float wrong[MLP_IN * MLP_HIDDEN];
  tensors all = tensors_of(plan);
  const shw_verification_options options = options_of(&all);
  shw_verification_summary summary = SHW_VERIFICATION_SUMMARY_INIT;
  shw_verification_tensor tensor = SHW_VERIFICATION_TENSOR_INIT;
  shw_verification* verification = NULL;
  size_t i, count = 1;
  for (i = 0; i < (size_t)all.outputs[0].rank; ++i) count *= (size_t)all.outputs[0].dims[i];
  memcpy(wrong, all.outputs[0].data, count * sizeof wrong[0]);
  for (i = 0; i < count; ++i) wrong[i] *= 1.01f;
  all.outputs[0].data = wrong;
  EXPECT_OK(shw_verification_create(plan, &options, &verification));
  EXPECT_OK(shw_verification_get_summary(verification, &summary));
  EXPECT(summary.num_wrong == 1 && summary.worst == 0 && summary.worst_expected == SHW_NONE);
  EXPECT_OK(shw_verification_get_tensor(verification, 0, &tensor));
  EXPECT(tensor.verdict == SHW_VERDICT_TOO_FAR && tensor.error > tensor.limit);
  EXPECT(tensor.error > 0.0099 && tensor.error < 0.0101 && tensor.expected_verdict == 0);
  shw_verification_destroy(verification);
}

static void refuses_other_tensors(shw_context* context, const shw_plan* plan) {
  const int64_t other[2] = {1, 1};
  tensors all = tensors_of(plan);
  shw_verification_options options = options_of(&all);
  shw_verification* verification = NULL;
  shw_mesh_axis axes[2];
  shw_compile_options compile = mlp_options(axes, 2, 2);
  shw_blob* graph = mlp_graph(context);
  shw_plan* stripped = NULL;
  shw_cancel* cancel = NULL;
  compile.flags |= SHW_COMPILE_NO_GRAPH;
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &compile, &stripped));
  EXPECT_REFUSED(shw_verification_create(stripped, &options, &verification),
                 SHW_FAILED_PRECONDITION, "without its graph");
  options.num_inputs = 1;
  EXPECT_REFUSED(shw_verification_create(plan, &options, &verification), SHW_INVALID_ARGUMENT,
                 "4 inputs, not 1");
  options.num_inputs = all.num_inputs;
  options.num_expected = 1;
  EXPECT_CODE(shw_verification_create(plan, &options, &verification), SHW_INVALID_ARGUMENT);
  options.num_expected = 0;
  options.entry = 5;
  EXPECT_CODE(shw_verification_create(plan, &options, &verification), SHW_OUT_OF_RANGE);
  options.entry = 0;
  EXPECT_OK(shw_cancel_create(&cancel));
  shw_cancel_raise(cancel);
  options.cancel = cancel;
  EXPECT_CODE(shw_verification_create(plan, &options, &verification), SHW_CANCELLED);
  options.cancel = NULL;
  all.outputs[0].dims = other;
  EXPECT_REFUSED(shw_verification_create(plan, &options, &verification), SHW_INVALID_ARGUMENT,
                 "output");
  all.outputs[0].data = NULL;
  EXPECT_CODE(shw_verification_create(plan, &options, &verification), SHW_INVALID_ARGUMENT);
  EXPECT(verification == NULL);
  shw_cancel_destroy(cancel);
  shw_plan_destroy(stripped);
  shw_blob_destroy(graph);
}

enum { ROWS = 4, SIZE = 8 };

/* y = x w, and w becomes w + w, which is state that the executor keeps. */
static shw_plan* plan_with_state(shw_context* context) {
  static const char kText[] =
      "input param.w: %w : f32[8,8] {storage=state}\n"
      "input input.0: %x : f32[4,8] {position=0}\n"
      "%y = mm(%x, %w) : f32[4,8]\n"
      "%n = add(%w, %w) : f32[8,8]\n"
      "return output.0 = %y, update.w = %n in_place\n";
  const shw_bytes text = {kText, sizeof kText - 1};
  const shw_mesh_axis mesh[1] = {{"dp", 2}};
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  shw_blob* graph = NULL;
  shw_plan* plan = NULL;
  options.mesh_axes = mesh;
  options.num_mesh_axes = 1;
  EXPECT_OK(shw_graph_import(context, SHW_GRAPH_FORMAT_TEXT, text, &graph));
  EXPECT_OK(shw_plan_compile(context, bytes_of(graph), &options, &plan));
  shw_blob_destroy(graph);
  return plan;
}

static shw_tensor matrix(float* data, const int64_t* dims) {
  shw_tensor t;
  memset(&t, 0, sizeof t);
  t.data = data;
  t.dims = dims;
  t.rank = 2;
  t.dtype = SHW_DTYPE_F32;
  return t;
}

static size_t count_wrong(const shw_plan* plan, const shw_verification_options* options,
                          size_t* worst) {
  shw_verification_summary summary = SHW_VERIFICATION_SUMMARY_INIT;
  shw_verification* verification = NULL;
  EXPECT_OK(shw_verification_create(plan, options, &verification));
  EXPECT_OK(shw_verification_get_summary(verification, &summary));
  EXPECT(shw_verification_num_tensors(verification) == 2);
  shw_verification_destroy(verification);
  *worst = summary.worst;
  return summary.num_wrong;
}

static void judges_state(shw_context* context) {
  static const int64_t kX[2] = {ROWS, SIZE}, kW[2] = {SIZE, SIZE};
  float x[ROWS * SIZE], w[SIZE * SIZE], twice[SIZE * SIZE], y[ROWS * SIZE];
  shw_plan* plan = plan_with_state(context);
  shw_verification_options options = SHW_VERIFICATION_OPTIONS_INIT;
  shw_verification_state state;
  shw_verification* verification = NULL;
  shw_tensor input, output;
  size_t i, j, k, worst = 0;
  for (i = 0; i < ROWS * SIZE; ++i) x[i] = (float)(int)(i % 7) - 3;
  for (i = 0; i < SIZE * SIZE; ++i) twice[i] = 2 * (w[i] = (float)(int)(i % 5) - 1);
  for (i = 0; i < ROWS; ++i)
    for (j = 0; j < SIZE; ++j)
      for (y[i * SIZE + j] = 0, k = 0; k < SIZE; ++k)
        y[i * SIZE + j] += x[i * SIZE + k] * w[k * SIZE + j];
  input = matrix(x, kX);
  output = matrix(y, kX);
  options.inputs = &input;
  options.outputs = &output;
  options.num_inputs = options.num_outputs = 1;
  EXPECT_REFUSED(shw_verification_create(plan, &options, &verification), SHW_INVALID_ARGUMENT,
                 "needs the state 'param.w'");
  state.before = matrix(w, kW);
  state.after = matrix(twice, kW);
  EXPECT_OK(shw_plan_find_port(plan, SHW_NONE, "param.w", &state.port));
  options.state = &state;
  options.num_state = 1;
  EXPECT(count_wrong(plan, &options, &worst) == 0);
  for (i = 0; i < SIZE * SIZE; ++i) twice[i] *= 1.01f;
  EXPECT(count_wrong(plan, &options, &worst) == 1 && worst == 1);
  state.before = state.after; /* not the state before the run, so no result matches */
  EXPECT(count_wrong(plan, &options, &worst) == 2);
  options.num_state = 2;
  options.state = NULL;
  EXPECT_CODE(shw_verification_create(plan, &options, &verification), SHW_INVALID_ARGUMENT);
  shw_plan_destroy(plan);
}

int main(void) {
  shw_context* context = new_context();
  shw_plan* plan = mlp_plan(context, 2, 2);
  finds_right_what_is_right(plan);
  finds_wrong_what_is_wrong(plan);
  refuses_other_tensors(context, plan);
  judges_state(context);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
  return test_result();
}
