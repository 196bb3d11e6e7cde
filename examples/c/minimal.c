/*
 * The whole path through the C interface alone: a graph, a plan for 8 devices, the plan as bytes,
 * one step on 8 virtual ranks in this process, and the same step on one rank to compare with.
 *
 *   minimal [GRAPH.swgraph]     without a file: a small network, built by calls
 *
 *   cc minimal.c -o minimal $(pkg-config --cflags --libs shardwise) -lm
 *
 * pkg-config finds a library outside of the system's folders with PKG_CONFIG_PATH, and the program
 * finds it with LD_LIBRARY_PATH, both in the prefix's lib.
 *
 * Ends with exit status 0 if both runs agree.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "shardwise/shardwise.h"

/* Errors end this program, at once: executors may be alive, and exit() would take away libraries
 * that their ranks use. A server would hand errors on instead. */
static void check(shw_status* status) {
  if (status == NULL) return;
  fprintf(stderr, "%s: %s\n", shw_status_code_name(shw_status_code(status)),
          shw_status_message(status));
  shw_status_destroy(status);
  _Exit(1);
}

static void* allocate(size_t count, size_t size) {
  void* memory = calloc(count, size);
  if (memory != NULL || count == 0) return memory;
  fprintf(stderr, "out of memory\n");
  exit(1);
}

/* ---- The graph: y = relu(x w1) w2, and the gradients of w1 and w2 ---------------------------- */

static size_t add_input(shw_builder* builder, shw_role role, const char* name, int64_t rows,
                        int64_t columns) {
  const int64_t dims[2] = {rows, columns};
  shw_builder_input input = SHW_BUILDER_INPUT_INIT;
  size_t node;
  input.role = role;
  input.name = name;
  input.dtype = SHW_DTYPE_F32;
  input.dims = dims;
  input.rank = 2;
  check(shw_builder_add_input(builder, &input, NULL, &node));
  return node;
}

static size_t add_node(shw_builder* builder, shw_phase phase, const char* op, size_t a, size_t b,
                       const shw_attr* attr) {
  shw_node_options options = SHW_NODE_OPTIONS_INIT;
  const size_t operands[2] = {a, b};
  size_t node;
  options.phase = phase;
  check(shw_builder_add_node(builder, op, operands, b == SHW_NONE ? 1 : 2, attr,
                             attr == NULL ? 0 : 1, &options, &node));
  return node;
}

static void add_output(shw_builder* builder, shw_role role, size_t node, size_t of_input) {
  shw_builder_output output = SHW_BUILDER_OUTPUT_INIT;
  size_t index;
  output.role = role;
  output.node = node;
  output.of_input = of_input;
  check(shw_builder_add_output(builder, &output, &index));
}

static shw_blob* build_graph(shw_context* context) {
  const int64_t batch = 64, width = 128, hidden = 512, swap[2] = {1, 0};
  const shw_attr transpose = SHW_ATTR_INTS("dims", swap, 2), zero = SHW_ATTR_INT("threshold", 0);
  const shw_phase forward = SHW_PHASE_FORWARD, backward = SHW_PHASE_BACKWARD;
  shw_builder* b;
  shw_blob* graph;
  check(shw_builder_create(context, &b));
  const size_t w1 = add_input(b, SHW_ROLE_PARAMETER, "w1", width, hidden);
  const size_t w2 = add_input(b, SHW_ROLE_PARAMETER, "w2", hidden, width);
  const size_t x = add_input(b, SHW_ROLE_INPUT, "x", batch, width);
  const size_t dy = add_input(b, SHW_ROLE_TANGENT, NULL, batch, width);

  const size_t h = add_node(b, forward, "mm", x, w1, NULL);
  const size_t a = add_node(b, forward, "relu", h, SHW_NONE, NULL);
  const size_t y = add_node(b, forward, "mm", a, w2, NULL);

  const size_t a_t = add_node(b, backward, "permute", a, SHW_NONE, &transpose);
  const size_t dw2 = add_node(b, backward, "mm", a_t, dy, NULL);
  const size_t w2_t = add_node(b, backward, "permute", w2, SHW_NONE, &transpose);
  const size_t da = add_node(b, backward, "mm", dy, w2_t, NULL);
  const size_t dh = add_node(b, backward, "threshold_backward", da, a, &zero);
  const size_t x_t = add_node(b, backward, "permute", x, SHW_NONE, &transpose);
  const size_t dw1 = add_node(b, backward, "mm", x_t, dh, NULL);

  add_output(b, SHW_ROLE_RESULT, y, SHW_NONE);
  add_output(b, SHW_ROLE_GRADIENT, dw1, w1);
  add_output(b, SHW_ROLE_GRADIENT, dw2, w2);
  check(shw_builder_finish(b, &graph));
  shw_builder_destroy(b);
  return graph;
}

static shw_bytes read_file(const char* path) {
  shw_bytes bytes = {NULL, 0};
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    fprintf(stderr, "cannot read %s\n", path);
    exit(1);
  }
  bytes.size = (size_t)ftell(file);
  void* data = allocate(bytes.size, 1);
  rewind(file);
  if (fread(data, 1, bytes.size, file) != bytes.size) exit(1);
  fclose(file);
  bytes.data = data;
  return bytes;
}

/* ---- A plan, by way of its bytes ------------------------------------------------------------- */

static shw_plan* make_plan(shw_context* context, shw_bytes graph, int64_t dp, int64_t tp) {
  const shw_mesh_axis mesh[2] = {{"dp", dp}, {"tp", tp}};
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  shw_plan *compiled, *loaded;
  shw_blob *text, *saved;
  options.mesh_axes = mesh;
  options.num_mesh_axes = 2;
  check(shw_plan_compile(context, graph, &options, &compiled));
  if (dp * tp > 1) {
    check(shw_plan_to_text(compiled, &text));
    fputs(shw_blob_data(text), stdout);
    shw_blob_destroy(text);
  }
  check(shw_plan_save(compiled, &saved)); /* to a file, or to the other hosts */
  shw_plan_destroy(compiled);
  const shw_bytes bytes = {shw_blob_data(saved), shw_blob_size(saved)};
  check(shw_plan_load(context, bytes, &loaded));
  printf("plan for %d rank(s): %zu bytes\n", (int)shw_plan_num_ranks(loaded), bytes.size);
  shw_blob_destroy(saved);
  return loaded;
}

/* ---- One step on all ranks of a plan --------------------------------------------------------- */

static size_t count_elements(const shw_plan_port* port) {
  size_t count = 1;
  for (int32_t d = 0; d < port->rank; ++d) count *= (size_t)port->dims[d];
  return count;
}

static size_t size_of_element(shw_dtype dtype) {
  switch (dtype) {
    case SHW_DTYPE_F64:
    case SHW_DTYPE_I64:
    case SHW_DTYPE_C64:
      return 8;
    case SHW_DTYPE_F32:
    case SHW_DTYPE_I32:
      return 4;
    case SHW_DTYPE_F16:
    case SHW_DTYPE_BF16:
    case SHW_DTYPE_I16:
      return 2;
    default:
      return 1;
  }
}

/* Some values: floats from -1 to 1, small integers. Half precision is left at 0. */
static void fill(void* data, const shw_plan_port* port, uint32_t seed) {
  const size_t parts = port->dtype == SHW_DTYPE_C64 ? 2 : 1, count = parts * count_elements(port);
  uint32_t random = seed * 2654435761u + 1;
  for (size_t i = 0; i < count; ++i) {
    random = random * 1664525u + 1013904223u;
    const double value = (double)(random >> 8) / (1 << 23) - 1;
    if (port->dtype == SHW_DTYPE_F32 || port->dtype == SHW_DTYPE_C64)
      ((float*)data)[i] = (float)value;
    if (port->dtype == SHW_DTYPE_F64) ((double*)data)[i] = value;
    if (port->dtype == SHW_DTYPE_I64) ((int64_t*)data)[i] = random >> 29;
    if (port->dtype == SHW_DTYPE_I32) ((int32_t*)data)[i] = (int32_t)(random >> 29);
  }
}

/* The whole tensors of an entry's outputs; NULL where there is none. Inputs are made up. */
static shw_buffer** run_step(const shw_plan* plan, size_t* out_num_outputs) {
  shw_plan_entry step = SHW_PLAN_ENTRY_INIT;
  shw_runner* runner;
  shw_pending* pending;
  size_t entry;
  check(shw_plan_find_entry(plan, "step", &entry));
  check(shw_plan_get_entry(plan, entry, &step));
  shw_named_tensor* inputs = allocate(step.num_inputs, sizeof *inputs);
  for (size_t i = 0; i < step.num_inputs; ++i) {
    shw_plan_port port = SHW_PLAN_PORT_INIT;
    check(shw_plan_get_port(plan, step.inputs[i], &port));
    void* data = allocate(count_elements(&port), size_of_element(port.dtype));
    fill(data, &port, (uint32_t)i);
    inputs[i].name = port.name;
    inputs[i].tensor.data = data;
    inputs[i].tensor.dims = port.dims;
    inputs[i].tensor.rank = port.rank;
    inputs[i].tensor.dtype = port.dtype;
  }

  check(shw_runner_create(plan, NULL, NULL, &runner)); /* all ranks, in this process */
  check(shw_runner_start(runner, "step", inputs, step.num_inputs, &pending));
  for (size_t i = 0; i < step.num_inputs; ++i) free(inputs[i].tensor.data); /* they were copied */
  free(inputs);

  shw_buffer** whole = allocate(step.num_outputs, sizeof(shw_buffer*));
  for (size_t i = 0; i < step.num_outputs; ++i) {
    shw_plan_port port = SHW_PLAN_PORT_INIT;
    check(shw_plan_get_port(plan, step.outputs[i], &port));
    if (port.present) check(shw_pending_gather(pending, port.name, &whole[i]));
  }
  shw_pending_destroy(pending);
  shw_runner_destroy(runner);
  *out_num_outputs = step.num_outputs;
  return whole;
}

/* ‖a − b‖ / ‖b‖ */
static double relative_error(const shw_buffer* a, const shw_buffer* b) {
  shw_tensor tensor;
  check(shw_buffer_get_tensor(b, &tensor));
  size_t count = 1;
  for (int32_t d = 0; d < tensor.rank; ++d) count *= (size_t)tensor.dims[d];
  if (tensor.dtype != SHW_DTYPE_F32) return 0;
  float *va = allocate(count, sizeof *va), *vb = allocate(count, sizeof *vb);
  check(shw_buffer_read(a, va, count * sizeof *va));
  check(shw_buffer_read(b, vb, count * sizeof *vb));
  double difference = 0, norm = 0;
  for (size_t i = 0; i < count; ++i) {
    difference += ((double)va[i] - vb[i]) * ((double)va[i] - vb[i]);
    norm += (double)vb[i] * vb[i];
  }
  free(va);
  free(vb);
  return norm > 0 ? sqrt(difference / norm) : sqrt(difference);
}

int main(int argc, char** argv) {
  shw_context* context;
  shw_blob* built = NULL;
  shw_bytes graph;
  check(shw_context_create(SHW_API_VERSION, NULL, &context));
  if (argc > 1) {
    graph = read_file(argv[1]);
  } else {
    built = build_graph(context);
    graph.data = shw_blob_data(built);
    graph.size = shw_blob_size(built);
  }
  shw_plan* sharded = make_plan(context, graph, 2, 4);
  shw_plan* single = make_plan(context, graph, 1, 1);

  size_t num_outputs;
  shw_buffer** on_eight = run_step(sharded, &num_outputs);
  shw_buffer** on_one = run_step(single, &num_outputs);
  shw_plan_entry step = SHW_PLAN_ENTRY_INIT;
  check(shw_plan_get_entry(sharded, 0, &step));
  double worst = 0;
  for (size_t i = 0; i < num_outputs; ++i) {
    shw_plan_port port = SHW_PLAN_PORT_INIT;
    check(shw_plan_get_port(sharded, step.outputs[i], &port));
    if (on_eight[i] == NULL) continue;
    const double error = relative_error(on_eight[i], on_one[i]);
    if (i < 8) printf("%-24s %-12s relative error %.2g\n", port.name, port.layout, error);
    if (error > worst) worst = error;
    shw_buffer_destroy(on_eight[i]);
    shw_buffer_destroy(on_one[i]);
  }
  printf("8 ranks against 1: largest relative error of %zu outputs %.2g\n", num_outputs, worst);

  free(on_eight);
  free(on_one);
  shw_plan_destroy(sharded);
  shw_plan_destroy(single);
  if (built != NULL)
    shw_blob_destroy(built);
  else
    free((void*)graph.data);
  shw_context_destroy(context);
  return worst <= 5e-6 ? 0 : 1; /* NaN is no agreement either */
}
