/*
 * Training through the C interface alone, on 4 virtual ranks in this process: a network of two
 * layers with its loss, gradients and SGD updates is built by calls, planned for the mesh
 * dp=2,tp=2, saved, loaded and run ten times. The executors keep the parameters, and steps update
 * them in place.
 *
 *   train [PLAN.swplan]     where to save the plan; without: train.swplan
 *
 * Prints the loss of each step. Ends with exit status 0 if it falls in every step.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shardwise/shardwise.h"

enum { STEPS = 10, BATCH = 32, INPUTS = 16, HIDDEN = 64, OUTPUTS = 8 };

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Every function below that calls the library returns its status: NULL, or an error that its caller
 * owns. Errors go up to main(), which tells them and frees everything in one place. */
#define TRY(call)                        \
  do {                                   \
    shw_status* status_ = (call);        \
    if (status_ != NULL) return status_; \
  } while (0)

static void tell(const shw_status* status) {
  size_t i;
  /* The message has the cause and the node at fault. */
  fprintf(stderr, "train: %s: %s\n", shw_status_code_name(shw_status_code(status)),
          shw_status_message(status));
  for (i = 0; i < shw_status_num_conflicts(status); ++i)
    fprintf(stderr, "  in conflict: %s\n", shw_status_conflict(status, i));
  /* For a bug report: where in the library it arose. */
  fprintf(stderr, "  at %s:%d of Shardwise %s\n", shw_status_source_file(status),
          (int)shw_status_source_line(status), shw_version_string());
}

/* What this program holds of the library. Whatever was not made yet is NULL, which every destroy
 * function takes. */
typedef struct training {
  shw_context* context;
  shw_builder* builder;
  shw_blob* blob; /* the graph, then the plan's bytes */
  shw_plan* plan;
  shw_runner* runner; /* all ranks */
} training;

static void destroy(training* t) {
  shw_runner_destroy(t->runner);
  shw_plan_destroy(t->plan);
  shw_blob_destroy(t->blob);
  shw_builder_destroy(t->builder);
  shw_context_destroy(t->context);
}

/* ---- The graph ------------------------------------------------------------------------------- */

static shw_status* add_matrix(training* t, shw_role role, const char* name, int64_t rows,
                              int64_t columns, size_t* node) {
  const int64_t dims[2] = {rows, columns};
  shw_builder_input input = SHW_BUILDER_INPUT_INIT;
  input.role = role;
  if (role == SHW_ROLE_PARAMETER) input.storage = SHW_STORAGE_STATE; /* the executors keep it */
  input.name = name;
  input.dtype = SHW_DTYPE_F32;
  input.dims = dims;
  input.rank = 2;
  return shw_builder_add_input(t->builder, &input, NULL, node);
}

/* An operation of one or two operands, and at most one attribute. */
static shw_status* add(training* t, shw_phase phase, const char* op, size_t a, size_t b,
                       const shw_attr* attr, size_t* node) {
  const size_t operands[2] = {a, b};
  shw_node_options options = SHW_NODE_OPTIONS_INIT;
  options.phase = phase;
  return shw_builder_add_node(t->builder, op, operands, b == SHW_NONE ? 1 : 2, attr,
                              attr == NULL ? 0 : 1, &options, node);
}

/* w -= rate · gradient, in the memory of w. */
static shw_status* add_update(training* t, size_t w, size_t gradient) {
  const shw_attr rate = SHW_ATTR_FLOAT("other", 0.5);
  shw_builder_output update = SHW_BUILDER_OUTPUT_INIT;
  size_t scaled, number;
  TRY(add(t, SHW_PHASE_BACKWARD, "mul", gradient, SHW_NONE, &rate, &scaled));
  TRY(add(t, SHW_PHASE_BACKWARD, "sub", w, scaled, NULL, &update.node));
  update.role = SHW_ROLE_UPDATE;
  update.of_input = w;
  update.in_place = 1;
  return shw_builder_add_output(t->builder, &update, &number);
}

/* loss = mean((relu(x w1) w2 - target)²), and its gradients by hand. */
static shw_status* build_graph(training* t) {
  const shw_phase forward = SHW_PHASE_FORWARD, backward = SHW_PHASE_BACKWARD;
  const shw_attr zero = SHW_ATTR_INT("threshold", 0),
                 slope = SHW_ATTR_FLOAT("other", 2.0 / (BATCH * OUTPUTS));
  shw_builder_output loss = SHW_BUILDER_OUTPUT_INIT;
  size_t w1, w2, x, target, h, a, y, error, square, number;
  size_t a_t, x_t, w2_t, dy, da, dh, dw1, dw2;
  TRY(shw_builder_create(t->context, &t->builder));
  TRY(add_matrix(t, SHW_ROLE_PARAMETER, "w1", INPUTS, HIDDEN, &w1));
  TRY(add_matrix(t, SHW_ROLE_PARAMETER, "w2", HIDDEN, OUTPUTS, &w2));
  TRY(add_matrix(t, SHW_ROLE_INPUT, "x", BATCH, INPUTS, &x));
  TRY(add_matrix(t, SHW_ROLE_INPUT, "target", BATCH, OUTPUTS, &target));

  TRY(add(t, forward, "mm", x, w1, NULL, &h));
  TRY(add(t, forward, "relu", h, SHW_NONE, NULL, &a));
  TRY(add(t, forward, "mm", a, w2, NULL, &y));
  TRY(add(t, forward, "sub", y, target, NULL, &error));
  TRY(add(t, forward, "mul", error, error, NULL, &square));
  TRY(add(t, forward, "mean", square, SHW_NONE, NULL, &loss.node));
  loss.role = SHW_ROLE_RESULT;
  loss.name = "loss";
  TRY(shw_builder_add_output(t->builder, &loss, &number));

  TRY(add(t, backward, "mul", error, SHW_NONE, &slope, &dy));
  TRY(add(t, backward, "t", a, SHW_NONE, NULL, &a_t));
  TRY(add(t, backward, "mm", a_t, dy, NULL, &dw2));
  TRY(add(t, backward, "t", w2, SHW_NONE, NULL, &w2_t));
  TRY(add(t, backward, "mm", dy, w2_t, NULL, &da));
  TRY(add(t, backward, "threshold_backward", da, a, &zero, &dh));
  TRY(add(t, backward, "t", x, SHW_NONE, NULL, &x_t));
  TRY(add(t, backward, "mm", x_t, dh, NULL, &dw1));
  TRY(add_update(t, w1, dw1));
  TRY(add_update(t, w2, dw2));
  return shw_builder_finish(t->builder, &t->blob);
}

/* ---- The plan, by way of a file -------------------------------------------------------------- */

static int write_file(const char* path, const void* data, size_t size) {
  FILE* file = fopen(path, "wb");
  int good = file != NULL && fwrite(data, 1, size, file) == size;
  if (file != NULL && fclose(file) != 0) good = 0;
  return good;
}

/* The caller frees `data`; NULL: the file cannot be read. */
static shw_bytes read_file(const char* path) {
  shw_bytes bytes = {NULL, 0};
  FILE* file = fopen(path, "rb");
  long size = -1;
  void* data = NULL;
  if (file != NULL && fseek(file, 0, SEEK_END) == 0) size = ftell(file);
  if (size > 0) data = malloc((size_t)size);
  if (data != NULL) {
    rewind(file);
    if (fread(data, 1, (size_t)size, file) == (size_t)size) {
      bytes.data = data;
      bytes.size = (size_t)size;
    } else {
      free(data);
    }
  }
  if (file != NULL) fclose(file);
  return bytes;
}

static shw_status* save_plan(training* t) {
  const shw_mesh_axis mesh[2] = {{"dp", 2}, {"tp", 2}};
  const shw_bytes graph = {shw_blob_data(t->blob), shw_blob_size(t->blob)};
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  options.mesh_axes = mesh;
  options.num_mesh_axes = 2;
  TRY(shw_plan_compile(t->context, graph, &options, &t->plan));
  shw_blob_destroy(t->blob);
  t->blob = NULL;
  TRY(shw_plan_save(t->plan, &t->blob));
  shw_plan_destroy(t->plan);
  t->plan = NULL;
  return NULL;
}

/* ---- The run --------------------------------------------------------------------------------- */

/* Numbers from -scale to scale, always the same. */
static void fill(float* values, size_t count, uint32_t seed, float scale) {
  uint32_t random = seed * 2654435761u + 1;
  size_t i;
  for (i = 0; i < count; ++i) {
    random = random * 1664525u + 1013904223u;
    values[i] = ((float)(random >> 8) / (1 << 23) - 1) * scale;
  }
}

static shw_tensor tensor(float* values, const int64_t* dims, int32_t rank) {
  shw_tensor whole = {NULL, NULL, NULL, 0, SHW_DTYPE_F32, SHW_DEVICE_CPU, 0};
  whole.data = values;
  whole.dims = dims;
  whole.rank = rank;
  return whole;
}

/* All ranks of this process, with the parameters that they keep. */
static shw_status* prepare(training* t) {
  static const int64_t kW1[2] = {INPUTS, HIDDEN}, kW2[2] = {HIDDEN, OUTPUTS};
  static float w1[INPUTS * HIDDEN], w2[HIDDEN * OUTPUTS];
  const shw_tensor whole1 = tensor(w1, kW1, 2), whole2 = tensor(w2, kW2, 2);
  fill(w1, INPUTS * HIDDEN, 1, 0.4f);
  fill(w2, HIDDEN * OUTPUTS, 2, 0.2f);
  TRY(shw_runner_create(t->plan, NULL, NULL, &t->runner));
  TRY(shw_runner_set_state(t->runner, "param.w1", &whole1));
  return shw_runner_set_state(t->runner, "param.w2", &whole2);
}

static shw_status* train(training* t, int* falls) {
  static const int64_t kX[2] = {BATCH, INPUTS}, kTarget[2] = {BATCH, OUTPUTS};
  static float x[BATCH * INPUTS], target[BATCH * OUTPUTS];
  float before = 0, loss = 0;
  shw_named_tensor inputs[2], outputs[1];
  int i;
  fill(x, BATCH * INPUTS, 3, 1);
  fill(target, BATCH * OUTPUTS, 4, 1);
  inputs[0].name = "input.x";
  inputs[0].tensor = tensor(x, kX, 2);
  inputs[1].name = "input.target";
  inputs[1].tensor = tensor(target, kTarget, 2);
  outputs[0].name = "output.loss"; /* which each step writes into `loss` */
  outputs[0].tensor = tensor(&loss, NULL, 0);
  TRY(prepare(t));
  *falls = 1;
  for (i = 0; i < STEPS; ++i) {
    TRY(shw_runner_run(t->runner, "step", inputs, 2, outputs, 1));
    printf("step %2d  loss %.6f\n", i, (double)loss);
    if (i > 0 && !(loss < before)) *falls = 0;
    before = loss;
  }
  return NULL;
}

/* ---- All of it ------------------------------------------------------------------------------- */

static shw_status* run(training* t, const char* path, int* falls) {
  shw_status* status;
  shw_bytes bytes;
  TRY(shw_context_create(SHW_API_VERSION, NULL, &t->context));
  TRY(build_graph(t));
  TRY(save_plan(t));
  if (!write_file(path, shw_blob_data(t->blob), shw_blob_size(t->blob))) {
    fprintf(stderr, "train: cannot write %s\n", path);
    return NULL;
  }
  bytes = read_file(path);
  if (bytes.data == NULL) {
    fprintf(stderr, "train: cannot read %s\n", path);
    return NULL;
  }
  status = shw_plan_load(t->context, bytes, &t->plan);
  free((void*)bytes.data);
  if (status != NULL) return status;
  printf("plan for %d ranks: %s, %lu bytes\n", (int)shw_plan_num_ranks(t->plan), path,
         (unsigned long)bytes.size);
  return train(t, falls);
}

int main(int argc, char** argv) {
  training t;
  shw_status* status;
  int falls = 0;
  memset(&t, 0, sizeof t); /* all NULL */
  status = run(&t, argc > 1 ? argv[1] : "train.swplan", &falls);
  if (status != NULL) tell(status);
  shw_status_destroy(status);
  destroy(&t);
  return falls ? 0 : 1;
}
