/* Entries, sessions, state, in-place updates, constants and dry runs, through the C API.
 *
 * The model is y = relu(x w1) w2, with table t added to y. The backward entry updates w -= 0.5 dw
 * in place. Values are small multiples of powers of two, which are exact in f32, so results are
 * compared bit by bit. */
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

enum { RANKS = 4, ROWS = 8, WIDTH = 8, COUNT = ROWS * WIDTH, MAX_PORTS = 8 };

/* ---- The graph ------------------------------------------------------------------------------- */

typedef struct model {
  shw_builder* builder;
  size_t x, dy, w1, w2, table;
} model;

static const int64_t kDims[2] = {ROWS, WIDTH};

static size_t node(model* m, const char* op, size_t a, size_t b, const shw_attr* attr,
                   shw_phase phase) {
  shw_node_options options = SHW_NODE_OPTIONS_INIT;
  const size_t operands[2] = {a, b};
  size_t made = SHW_NONE;
  options.phase = phase;
  EXPECT_OK(shw_builder_add_node(m->builder, op, operands, b == SHW_NONE ? 1 : 2, attr,
                                 attr == NULL ? 0 : 1, &options, &made));
  return made;
}

static size_t parameter(model* m, const char* name, shw_storage storage) {
  shw_builder_input input = SHW_BUILDER_INPUT_INIT;
  size_t made = SHW_NONE;
  input.role = SHW_ROLE_PARAMETER;
  input.storage = storage;
  input.name = name;
  input.dtype = SHW_DTYPE_F32;
  input.dims = kDims;
  input.rank = 2;
  EXPECT_OK(shw_builder_add_input(m->builder, &input, NULL, &made));
  return made;
}

static void update(model* m, size_t input, size_t gradient) {
  const shw_attr half = SHW_ATTR_FLOAT("other", 0.5);
  shw_builder_output output = SHW_BUILDER_OUTPUT_INIT;
  size_t number = 0;
  const size_t scaled = node(m, "mul", gradient, SHW_NONE, &half, SHW_PHASE_BACKWARD);
  output.role = SHW_ROLE_UPDATE;
  output.in_place = 1;
  output.node = node(m, "sub", input, scaled, NULL, SHW_PHASE_BACKWARD);
  output.of_input = input;
  EXPECT_OK(shw_builder_add_output(m->builder, &output, &number));
}

static void entry(model* m, const char* name, size_t first, size_t last, const size_t* after) {
  shw_builder_entry e = SHW_BUILDER_ENTRY_INIT;
  size_t outputs[4], i, number = 0;
  for (i = first; i <= last; ++i) outputs[i - first] = i;
  e.name = name;
  e.outputs = outputs;
  e.num_outputs = last - first + 1;
  e.after = after;
  e.num_after = after != NULL;
  EXPECT_OK(shw_builder_add_entry(m->builder, &e, &number));
}

static float table_value(size_t i) { return (float)(i % 4); }

/* Entries "forward" and "backward", where "backward" runs after "forward", and entry "step", which
 * does both at once. */
static shw_blob* graph(shw_context* context, shw_storage storage) {
  static const int64_t kSwap[2] = {1, 0};
  const shw_attr swap = SHW_ATTR_INTS("dims", kSwap, 2), zero = SHW_ATTR_INT("threshold", 0);
  const shw_phase forward = SHW_PHASE_FORWARD, backward = SHW_PHASE_BACKWARD;
  const size_t first = 0;
  float table[COUNT];
  shw_tensor whole;
  shw_blob* bytes = NULL;
  model m;
  size_t h, a, product, da, dh, dw1, dw2, i;
  for (i = 0; i < COUNT; ++i) table[i] = table_value(i);
  memset(&whole, 0, sizeof whole);
  whole.data = table;
  whole.dims = kDims;
  whole.rank = 2;
  whole.dtype = SHW_DTYPE_F32;
  EXPECT_OK(shw_builder_create(context, &m.builder));
  m.w1 = parameter(&m, "w1", storage);
  m.w2 = parameter(&m, "w2", storage);
  EXPECT_OK(add_input(m.builder, SHW_ROLE_INPUT, "x", 0, SHW_DTYPE_F32, kDims, 2, NULL, &m.x));
  EXPECT_OK(add_input(m.builder, SHW_ROLE_TANGENT, NULL, 0, SHW_DTYPE_F32, kDims, 2, NULL, &m.dy));
  EXPECT_OK(shw_builder_add_constant(m.builder, "table", &whole, NULL, &m.table));
  h = node(&m, "mm", m.x, m.w1, NULL, forward);
  a = node(&m, "relu", h, SHW_NONE, NULL, forward);
  product = node(&m, "mm", a, m.w2, NULL, forward);
  EXPECT_OK(add_output(m.builder, SHW_ROLE_RESULT, node(&m, "add", product, m.table, NULL, forward),
                       NULL, SHW_NONE));
  dw2 = node(&m, "mm", node(&m, "permute", a, SHW_NONE, &swap, backward), m.dy, NULL, backward);
  da = node(&m, "mm", m.dy, node(&m, "permute", m.w2, SHW_NONE, &swap, backward), NULL, backward);
  dh = node(&m, "threshold_backward", da, a, &zero, backward);
  dw1 = node(&m, "mm", node(&m, "permute", m.x, SHW_NONE, &swap, backward), dh, NULL, backward);
  update(&m, m.w1, dw1);
  update(&m, m.w2, dw2);
  entry(&m, "forward", 0, 0, NULL);
  entry(&m, "backward", 1, 2, &first);
  entry(&m, "step", 0, 2, NULL);
  EXPECT_OK(shw_builder_finish(m.builder, &bytes));
  shw_builder_destroy(m.builder);
  return bytes;
}

static shw_plan* make_plan(shw_context* context, shw_storage storage) {
  const shw_mesh_axis axes[2] = {{"dp", 2}, {"tp", 2}};
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  shw_blob* bytes = graph(context, storage);
  shw_plan* plan = NULL;
  options.mesh_axes = axes;
  options.num_mesh_axes = 2;
  EXPECT_OK(shw_plan_compile(context, bytes_of(bytes), &options, &plan));
  shw_blob_destroy(bytes);
  return plan;
}

/* ---- The values, by plain loops -------------------------------------------------------------- */

typedef struct values {
  float x[COUNT], dy[COUNT], w1[COUNT], w2[COUNT], y[COUNT];
} values;

static void start_values(values* v, size_t salt) {
  size_t i;
  for (i = 0; i < COUNT; ++i) {
    v->x[i] = (float)((int)((i * 7 + salt) % 5) - 2);
    v->dy[i] = (float)((int)((i * 3 + salt) % 3) - 1);
    v->w1[i] = (float)((int)((i * 5 + 1) % 5) - 2);
    v->w2[i] = (float)((int)((i * 11 + 2) % 5) - 2);
  }
}

static float at(const float* a, size_t row, size_t column) { return a[row * WIDTH + column]; }

/* Computes y and the new weights of one step. */
static void step(values* v) {
  static float a[COUNT], dh[COUNT], dw1[COUNT], dw2[COUNT];
  size_t i, j, k;
  for (i = 0; i < ROWS; ++i)
    for (j = 0; j < WIDTH; ++j) {
      float h = 0;
      for (k = 0; k < WIDTH; ++k) h += at(v->x, i, k) * at(v->w1, k, j);
      a[i * WIDTH + j] = h > 0 ? h : 0;
    }
  for (i = 0; i < ROWS; ++i)
    for (j = 0; j < WIDTH; ++j) {
      float sum = 0, da = 0;
      for (k = 0; k < WIDTH; ++k) sum += at(a, i, k) * at(v->w2, k, j);
      for (k = 0; k < WIDTH; ++k) da += at(v->dy, i, k) * at(v->w2, j, k);
      v->y[i * WIDTH + j] = sum + table_value(i * WIDTH + j);
      dh[i * WIDTH + j] = at(a, i, j) > 0 ? da : 0;
    }
  for (i = 0; i < WIDTH; ++i)
    for (j = 0; j < WIDTH; ++j) {
      dw1[i * WIDTH + j] = dw2[i * WIDTH + j] = 0;
      for (k = 0; k < ROWS; ++k) dw1[i * WIDTH + j] += at(v->x, k, i) * at(dh, k, j);
      for (k = 0; k < ROWS; ++k) dw2[i * WIDTH + j] += at(a, k, i) * at(v->dy, k, j);
    }
  for (i = 0; i < COUNT; ++i) {
    v->w1[i] -= 0.5f * dw1[i];
    v->w2[i] -= 0.5f * dw2[i];
  }
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct job {
  const shw_plan* plan;
  shw_world* world;
  shw_executor* executors[RANKS];
  shw_buffer* pieces[RANKS][2 * MAX_PORTS]; /* by port; NULL: not made yet */
} job;

static void start(shw_context* context, const shw_plan* plan, job* j) {
  int32_t rank;
  memset(j, 0, sizeof *j);
  j->plan = plan;
  EXPECT(shw_plan_num_ports(plan) <= 2 * MAX_PORTS);
  EXPECT_OK(shw_world_create_virtual(context, RANKS, NULL, &j->world));
  for (rank = 0; rank < RANKS; ++rank)
    EXPECT_OK(shw_executor_create(plan, j->world, rank, NULL, &j->executors[rank]));
}

static void end(job* j) {
  size_t port;
  int32_t rank;
  for (rank = 0; rank < RANKS; ++rank) {
    for (port = 0; port < 2 * MAX_PORTS; ++port) shw_buffer_destroy(j->pieces[rank][port]);
    shw_executor_destroy(j->executors[rank]);
  }
  shw_world_destroy(j->world);
}

static size_t port_named(const shw_plan* plan, const char* name) {
  size_t port = 0;
  EXPECT_OK(shw_plan_find_port(plan, SHW_NONE, name, &port));
  return port;
}

/* Gives whole values to all ranks. They are written into existing pieces or into state; otherwise
 * new pieces are made. */
static void set(job* j, const char* name, const float* data) {
  const size_t port = port_named(j->plan, name);
  shw_plan_port info = SHW_PLAN_PORT_INIT;
  shw_tensor whole;
  int32_t rank;
  EXPECT_OK(shw_plan_get_port(j->plan, port, &info));
  memset(&whole, 0, sizeof whole);
  whole.data = (void*)data;
  whole.dims = kDims;
  whole.rank = 2;
  whole.dtype = SHW_DTYPE_F32;
  for (rank = 0; rank < RANKS; ++rank) {
    shw_buffer** piece = &j->pieces[rank][port];
    if (*piece == NULL && info.storage == SHW_STORAGE_STATE)
      EXPECT_OK(shw_executor_get_state(j->executors[rank], port, piece));
    if (*piece != NULL)
      EXPECT_OK(shw_plan_shard_into(j->plan, port, rank, &whole, *piece));
    else
      EXPECT_OK(shw_plan_shard(j->plan, port, rank, &whole, NULL, piece));
  }
}

static void expect_values(job* j, const char* name, const float* expected) {
  const size_t port = port_named(j->plan, name);
  shw_buffer* pieces[RANKS];
  shw_buffer* whole = NULL;
  float data[COUNT];
  int32_t rank;
  for (rank = 0; rank < RANKS; ++rank) pieces[rank] = j->pieces[rank][port];
  if (!EXPECT_OK(shw_plan_gather(j->plan, port, pieces, RANKS, &whole))) return;
  EXPECT_OK(shw_buffer_read(whole, data, sizeof data));
  EXPECT(memcmp(data, expected, sizeof data) == 0);
  shw_buffer_destroy(whole);
}

/* Runs an entry on all ranks. Outputs are written into the pieces of their ports, which are made
 * once. */
static void run(job* j, const char* name, shw_session* const* sessions) {
  shw_plan_entry info = SHW_PLAN_ENTRY_INIT;
  shw_event* done[RANKS];
  int32_t rank;
  size_t i;
  shw_run r = SHW_RUN_INIT;
  EXPECT_OK(shw_plan_find_entry(j->plan, name, &r.entry));
  EXPECT_OK(shw_plan_get_entry(j->plan, r.entry, &info));
  r.num_inputs = info.num_inputs;
  r.num_outputs = info.num_outputs;
  for (rank = 0; rank < RANKS; ++rank) {
    shw_buffer* inputs[MAX_PORTS];
    shw_buffer* outputs[MAX_PORTS];
    for (i = 0; i < info.num_inputs; ++i) inputs[i] = j->pieces[rank][info.inputs[i]];
    for (i = 0; i < info.num_outputs; ++i) outputs[i] = j->pieces[rank][info.outputs[i]];
    r.inputs = inputs;
    r.outputs = outputs;
    r.session = sessions == NULL ? NULL : sessions[rank];
    EXPECT_OK(shw_executor_enqueue(j->executors[rank], &r, &done[rank]));
    for (i = 0; i < info.num_outputs; ++i) j->pieces[rank][info.outputs[i]] = outputs[i];
  }
  for (rank = 0; rank < RANKS; ++rank) {
    if (done[rank] != NULL) EXPECT_OK(shw_event_wait(done[rank], -1));
    shw_event_destroy(done[rank]);
  }
}

/* ---- What holds ------------------------------------------------------------------------------ */

static void the_plan_tells_of_it(const shw_plan* plan, shw_storage storage) {
  shw_plan_port port = SHW_PLAN_PORT_INIT;
  shw_plan_entry e = SHW_PLAN_ENTRY_INIT;
  shw_plan_summary summary = SHW_PLAN_SUMMARY_INIT;
  const size_t w1 = port_named(plan, "param.w1");
  size_t i, updates = 0;
  EXPECT(shw_plan_num_entries(plan) == 3);
  EXPECT_OK(shw_plan_get_entry(plan, 1, &e));
  EXPECT(strcmp(e.name, "backward") == 0 && e.num_after == 1 && e.after[0] == 0);
  EXPECT_OK(shw_plan_get_summary(plan, &summary));
  EXPECT(summary.session_bytes > 0); /* the activations */
  EXPECT_OK(shw_plan_get_port(plan, w1, &port));
  EXPECT(port.storage == storage);
  EXPECT_OK(shw_plan_get_port(plan, port_named(plan, "constant.table"), &port));
  EXPECT(port.storage == SHW_STORAGE_CONSTANT && port.role == SHW_ROLE_CONSTANT);
  for (i = 0; i < shw_plan_num_ports(plan); ++i) {
    EXPECT_OK(shw_plan_get_port(plan, i, &port));
    if (port.role == SHW_ROLE_UPDATE) updates += port.updates == w1;
  }
  EXPECT(updates == (storage == SHW_STORAGE_PORT ? 1u : updates));
}

/* Ten steps of SGD, each by "step" or by "forward" and "backward". */
static void trains(shw_context* context, const shw_plan* plan, int in_two) {
  values v;
  job j;
  int i;
  start_values(&v, 0);
  start(context, plan, &j);
  set(&j, "param.w1", v.w1);
  set(&j, "param.w2", v.w2);
  for (i = 0; i < 3; ++i) {
    values next = v;
    start_values(&next, (size_t)i);
    memcpy(v.x, next.x, sizeof v.x);
    memcpy(v.dy, next.dy, sizeof v.dy);
    set(&j, "input.x", v.x);
    set(&j, "tangent.0", v.dy);
    step(&v);
    if (in_two) {
      run(&j, "forward", NULL);
      run(&j, "backward", NULL);
    } else {
      run(&j, "step", NULL);
    }
    expect_values(&j, "output", v.y);
    expect_values(&j, "param.w1", v.w1); /* in place */
    expect_values(&j, "param.w2", v.w2);
  }
  end(&j);
}

/* Runs two forward passes before their backward passes, each in its own session. */
static void sessions_run_side_by_side(shw_context* context, const shw_plan* plan) {
  shw_session *first[RANKS], *second[RANKS];
  shw_event* done = (shw_event*)&first;
  shw_run foreign = SHW_RUN_INIT;
  shw_plan_entry info = SHW_PLAN_ENTRY_INIT;
  shw_buffer* inputs[MAX_PORTS];
  shw_buffer* outputs[MAX_PORTS] = {NULL};
  values a, b, both;
  job j;
  int32_t rank;
  size_t i;
  start_values(&a, 0);
  start_values(&b, 1);
  start(context, plan, &j);
  for (rank = 0; rank < RANKS; ++rank) {
    EXPECT_OK(shw_session_create(j.executors[rank], &first[rank]));
    EXPECT_OK(shw_session_create(j.executors[rank], &second[rank]));
  }
  set(&j, "param.w1", a.w1);
  set(&j, "param.w2", a.w2);
  set(&j, "input.x", a.x);
  set(&j, "tangent.0", b.dy);
  /* Refused: a backward run in a session in which no forward has run, and a run in a session of
   * another executor. */
  EXPECT_OK(shw_plan_find_entry(plan, "backward", &foreign.entry));
  EXPECT_OK(shw_plan_get_entry(plan, foreign.entry, &info));
  for (i = 0; i < info.num_inputs; ++i) inputs[i] = j.pieces[0][info.inputs[i]];
  foreign.inputs = inputs;
  foreign.num_inputs = info.num_inputs;
  foreign.outputs = outputs;
  foreign.num_outputs = info.num_outputs;
  foreign.session = first[0];
  EXPECT_REFUSED(shw_executor_enqueue(j.executors[0], &foreign, &done), SHW_FAILED_PRECONDITION,
                 "runs after 'forward'");
  EXPECT(done == NULL);
  foreign.session = first[1];
  EXPECT_REFUSED(shw_executor_enqueue(j.executors[0], &foreign, &done), SHW_INVALID_ARGUMENT,
                 "another executor");
  run(&j, "forward", first);
  set(&j, "input.x", b.x);
  run(&j, "forward", second);
  run(&j, "backward", second); /* on b */
  step(&b);
  expect_values(&j, "param.w1", b.w1);
  expect_values(&j, "param.w2", b.w2);
  both = a; /* a's activations are of the old weights; only w2's gradient is of them alone */
  set(&j, "param.w1", a.w1);
  set(&j, "param.w2", a.w2);
  set(&j, "input.x", a.x);
  set(&j, "tangent.0", a.dy);
  run(&j, "backward", first);
  step(&both);
  expect_values(&j, "param.w1", both.w1);
  expect_values(&j, "param.w2", both.w2);
  for (rank = 0; rank < RANKS; ++rank) {
    shw_session_destroy(first[rank]);
    shw_session_destroy(second[rank]);
  }
  end(&j);
}

/* Runs the program on a device that computes nothing, and checks the counts of launches and memory.
 */
static void runs_dry(shw_context* context, const shw_plan* plan) {
  shw_executor_options options = SHW_EXECUTOR_OPTIONS_INIT;
  shw_device_info info = SHW_DEVICE_INFO_INIT;
  shw_plan_entry e = SHW_PLAN_ENTRY_INIT;
  shw_plan_summary summary = SHW_PLAN_SUMMARY_INIT;
  shw_plan_step s = SHW_PLAN_STEP_INIT;
  shw_run r = SHW_RUN_INIT;
  shw_device *null = NULL, *cpu = NULL;
  shw_status* cuda;
  shw_world* world = NULL;
  shw_executor* executor = NULL;
  shw_event* done = NULL;
  shw_buffer *buffers[2 * MAX_PORTS] = {NULL}, *outputs[MAX_PORTS] = {NULL}, *on_cpu = NULL;
  shw_buffer* inputs[MAX_PORTS];
  int64_t collectives = 0;
  size_t i;
  EXPECT_OK(shw_device_create(context, SHW_DEVICE_NULL, 0, &null));
  cuda = shw_device_create(context, SHW_DEVICE_CUDA, 0, &cpu); /* may be missing here */
  EXPECT(cuda == NULL || shw_status_code(cuda) == SHW_UNAVAILABLE);
  shw_status_destroy(cuda);
  shw_device_destroy(cpu);
  cpu = new_cpu(context);
  EXPECT_OK(shw_device_get_info(cpu, &info));
  EXPECT(strcmp(info.name, "cpu") == 0 && info.computes && info.host_access);
  EXPECT_OK(shw_world_create_virtual(context, RANKS, NULL, &world));
  options.device = cpu;
  options.native_stream = &options;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_UNIMPLEMENTED,
                 "stream of the caller");
  options.native_stream = NULL;
  options.device = null;
  EXPECT_OK(shw_executor_create(plan, world, 0, &options, &executor));
  EXPECT_OK(shw_plan_find_entry(plan, "step", &r.entry));
  EXPECT_OK(shw_plan_get_entry(plan, r.entry, &e));
  EXPECT_OK(shw_plan_get_summary(plan, &summary));
  for (i = 0; i < shw_plan_num_steps(plan); ++i) {
    EXPECT_OK(shw_plan_get_step(plan, i, &s));
    collectives += s.entry == r.entry && s.num_axes > 0;
  }
  for (i = 0; i < e.num_inputs; ++i) {
    shw_plan_port port = SHW_PLAN_PORT_INIT;
    EXPECT_OK(shw_plan_get_port(plan, e.inputs[i], &port));
    EXPECT_OK(shw_buffer_create(null, port.dtype, port.local_dims, port.rank, &buffers[i]));
    inputs[i] = buffers[i];
  }
  r.inputs = inputs;
  r.num_inputs = e.num_inputs;
  r.outputs = outputs;
  r.num_outputs = e.num_outputs;
  EXPECT_OK(shw_executor_enqueue(executor, &r, &done)); /* alone: no other rank runs */
  if (done != NULL) EXPECT_OK(shw_event_wait(done, -1));
  EXPECT_OK(shw_device_get_info(null, &info));
  EXPECT(info.kind == SHW_DEVICE_NULL && !info.computes && info.num_collectives == collectives);
  EXPECT(info.num_launches >= (int64_t)(e.num_steps) - collectives);
  EXPECT(info.peak_memory_bytes >= summary.arena_bytes + e.input_bytes + e.output_bytes);
  /* A buffer of another device is refused as an input. */
  EXPECT_OK(shw_buffer_create(cpu, SHW_DTYPE_F32, kDims, 2, &on_cpu));
  inputs[0] = on_cpu;
  shw_event_destroy(done);
  EXPECT_REFUSED(shw_executor_enqueue(executor, &r, &done), SHW_INVALID_ARGUMENT,
                 "in memory of device 'cpu'");
  shw_buffer_destroy(on_cpu);
  for (i = 0; i < 2 * MAX_PORTS; ++i) shw_buffer_destroy(buffers[i]);
  for (i = 0; i < MAX_PORTS; ++i) shw_buffer_destroy(outputs[i]);
  shw_executor_destroy(executor);
  shw_world_destroy(world);
  shw_device_destroy(cpu);
  shw_device_destroy(null);
}

/* The options make entries from a training graph that has none. */
static void options_make_entries(shw_context* context) {
  static const char* const kNames[] = {"forward", "backward", "infer"};
  static const char* const kUnknown[] = {"sideways"};
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 2);
  shw_plan_entry e = SHW_PLAN_ENTRY_INIT;
  shw_blob* bytes = mlp_graph(context);
  shw_plan* plan = NULL;
  options.entries = kNames;
  options.num_entries = 3;
  EXPECT_OK(shw_plan_compile(context, bytes_of(bytes), &options, &plan));
  EXPECT(shw_plan_num_entries(plan) == 3);
  EXPECT_OK(shw_plan_get_entry(plan, 2, &e));
  EXPECT(strcmp(e.name, "infer") == 0 && e.num_outputs == 1 && e.num_after == 0 && e.weight == 1);
  shw_plan_destroy(plan);
  options.entries = kUnknown;
  options.num_entries = 1;
  EXPECT_REFUSED(shw_plan_compile(context, bytes_of(bytes), &options, &plan), SHW_INVALID_ARGUMENT,
                 "'sideways'");
  shw_blob_destroy(bytes);
}

int main(void) {
  shw_context* context = new_context();
  shw_plan *ports = make_plan(context, SHW_STORAGE_PORT),
           *state = make_plan(context, SHW_STORAGE_STATE);
  the_plan_tells_of_it(ports, SHW_STORAGE_PORT);
  the_plan_tells_of_it(state, SHW_STORAGE_STATE);
  trains(context, ports, 0);
  trains(context, ports, 1);
  trains(context, state, 0);
  trains(context, state, 1);
  sessions_run_side_by_side(context, ports);
  sessions_run_side_by_side(context, state);
  runs_dry(context, ports);
  options_make_entries(context);
  shw_plan_destroy(ports);
  shw_plan_destroy(state);
  shw_context_destroy(context);
  return test_result();
}
