/* Sizes that are known only at run time, through the C API: symbols in the builder and buckets in
 * the plan. At run time the smallest bucket that fits is used.
 *
 * The model is attention with a cache of keys that are also its values. Entry "decode" writes the
 * row of a new token at a run-time position and attends to the first `cache` rows. Entry "full"
 * computes a whole sequence at once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "testing.h"

enum { LENGTH = 64, WIDTH = 8, COUNT = LENGTH * WIDTH, MAX_RANKS = 4, MAX_PORTS = 4 };

/* ---- Graphs ---------------------------------------------------------------------------------- */

static size_t symbol(shw_builder* b, const char* name, int64_t minimum, int64_t maximum,
                     int64_t divisor, int64_t hint) {
  shw_symbol s = SHW_SYMBOL_INIT;
  size_t number = SHW_NONE;
  s.name = name;
  s.minimum = minimum;
  s.maximum = maximum;
  s.divisor = divisor;
  s.hint = hint;
  EXPECT_OK(shw_builder_add_symbol(b, &s, &number));
  return number;
}

/* An input whose sizes are expressions of symbols. */
static size_t symbolic_input(shw_builder* b, const char* name, const char* dims) {
  shw_builder_input input = SHW_BUILDER_INPUT_INIT;
  size_t node = SHW_NONE;
  input.role = SHW_ROLE_INPUT;
  input.name = name;
  input.dtype = SHW_DTYPE_F32;
  input.symbolic_dims = dims;
  EXPECT_OK(shw_builder_add_input(b, &input, NULL, &node));
  return node;
}

static size_t fixed_input(shw_builder* b, const char* name, shw_dtype dtype, int64_t rows,
                          int64_t columns) {
  const int64_t dims[2] = {rows, columns};
  size_t node = SHW_NONE;
  EXPECT_OK(add_input(b, SHW_ROLE_INPUT, name, 0, dtype, dims, columns == 0 ? 1 : 2, NULL, &node));
  return node;
}

static size_t cache_input(shw_builder* b) {
  const int64_t dims[2] = {LENGTH, WIDTH};
  size_t node = SHW_NONE;
  EXPECT_OK(add_state(b, SHW_ROLE_BUFFER, "cache", dims, 2, &node));
  return node;
}

static size_t node(shw_builder* b, const char* op, size_t x, size_t y, const shw_attr* attrs,
                   size_t num_attrs) {
  const size_t operands[2] = {x, y};
  size_t made = SHW_NONE;
  EXPECT_OK(
      shw_builder_add_node(b, op, operands, y == SHW_NONE ? 1 : 2, attrs, num_attrs, NULL, &made));
  return made;
}

/* softmax(x kᵀ + mask) k */
static size_t attention(shw_builder* b, size_t x, size_t keys, size_t mask) {
  const shw_attr rows = SHW_ATTR_INT("dim", 1);
  const size_t transposed = node(b, "t", keys, SHW_NONE, NULL, 0);
  const size_t scores = node(b, "add", node(b, "mm", x, transposed, NULL, 0), mask, NULL, 0);
  return node(b, "mm", node(b, "softmax", scores, SHW_NONE, &rows, 1), keys, NULL, 0);
}

static void entry(shw_builder* b, const char* name, double weight, const size_t* outputs,
                  size_t num_outputs) {
  shw_builder_entry e = SHW_BUILDER_ENTRY_INIT;
  size_t number = 0;
  e.name = name;
  e.weight = weight;
  e.outputs = outputs;
  e.num_outputs = num_outputs;
  EXPECT_OK(shw_builder_add_entry(b, &e, &number));
}

static shw_blob* decoder(shw_context* context) {
  static const int64_t kFirst[1] = {0};
  const shw_attr rows = SHW_ATTR_INTS("dims", kFirst, 1), used[1] = {SHW_ATTR_EXPR("end", "cache")};
  const size_t decoded[2] = {0, 1}, full[1] = {2};
  shw_builder_output update = SHW_BUILDER_OUTPUT_INIT;
  shw_result_type type = SHW_RESULT_TYPE_INIT;
  shw_builder* b = NULL;
  shw_blob* bytes = NULL;
  size_t cache, x, position, mask, all, causal, written = SHW_NONE, keys, y, number = 0;
  size_t operands[3];
  EXPECT_OK(shw_builder_create(context, &b));
  EXPECT(symbol(b, "cache", 1, LENGTH, 0, 16) == 0);
  cache = cache_input(b);
  x = fixed_input(b, "x", SHW_DTYPE_F32, 1, WIDTH);
  position = fixed_input(b, "position", SHW_DTYPE_I64, 1, 0);
  mask = symbolic_input(b, "mask", "[1, cache]");
  all = fixed_input(b, "all", SHW_DTYPE_F32, LENGTH, WIDTH);
  causal = fixed_input(b, "causal", SHW_DTYPE_F32, LENGTH, LENGTH);
  operands[0] = cache;
  operands[1] = x;
  operands[2] = position;
  EXPECT_OK(shw_builder_add_node(b, "index_put", operands, 3, &rows, 1, NULL, &written));
  keys = node(b, "slice", written, SHW_NONE, used, 1);
  EXPECT_OK(shw_builder_get_type(b, keys, 0, &type));
  EXPECT(type.rank == 2 && type.dims[0] == 16 && type.dims[1] == WIDTH); /* at the hint */
  y = attention(b, x, keys, mask);
  EXPECT_OK(add_output(b, SHW_ROLE_RESULT, y, "decoded", SHW_NONE));
  update.role = SHW_ROLE_UPDATE;
  update.node = written;
  update.of_input = cache;
  EXPECT_OK(shw_builder_add_output(b, &update, &number));
  EXPECT_OK(add_output(b, SHW_ROLE_RESULT, attention(b, all, all, causal), "full", SHW_NONE));
  entry(b, "decode", 100, decoded, 2);
  entry(b, "full", 1, full, 1);
  EXPECT_OK(shw_builder_finish(b, &bytes));
  shw_builder_destroy(b);
  return bytes;
}

static const int64_t kSizes[2] = {64, 16}; /* the order does not matter */
static const shw_bucket_sizes kBuckets[1] = {{"decode", "cache", kSizes, 2}};

/* `columns` 0: a mesh with one dim, of `rows` ranks. */
typedef struct mesh_size {
  int64_t rows, columns;
} mesh_size;
static const mesh_size kMeshOf1 = {1, 0}, kMeshOf2 = {2, 0}, kMeshOf4 = {4, 0}, kMeshOf2x2 = {2, 2};

static shw_status* compile(shw_context* context, const shw_blob* graph, mesh_size mesh,
                           const shw_bucket_sizes* buckets, size_t num_buckets, shw_plan** plan) {
  shw_mesh_axis axes[2] = {{"tp", 0}, {"dp", 0}};
  const shw_bytes bytes = {shw_blob_data(graph), shw_blob_size(graph)};
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  axes[0].size = mesh.rows;
  axes[1].size = mesh.columns;
  options.mesh_axes = axes;
  options.num_mesh_axes = mesh.columns == 0 ? 1 : 2;
  options.buckets = buckets;
  options.num_buckets = num_buckets;
  return shw_plan_compile(context, bytes, &options, plan);
}

/* Saves the plan and loads it again, so that the buckets are read from the plan's bytes. */
static shw_plan* decoder_plan(shw_context* context, mesh_size mesh) {
  shw_blob *graph = decoder(context), *saved = NULL;
  shw_plan *plan = NULL, *loaded = NULL;
  shw_bytes bytes;
  EXPECT_OK(compile(context, graph, mesh, kBuckets, 1, &plan));
  EXPECT_OK(shw_plan_save(plan, &saved));
  bytes.data = shw_blob_data(saved);
  bytes.size = shw_blob_size(saved);
  EXPECT_OK(shw_plan_load(context, bytes, &loaded));
  shw_blob_destroy(saved);
  shw_plan_destroy(plan);
  shw_blob_destroy(graph);
  return loaded;
}

/* ---- Running --------------------------------------------------------------------------------- */

typedef struct job {
  const shw_plan* plan;
  int32_t num_ranks;
  shw_world* world;
  shw_executor* executors[MAX_RANKS];
} job;

static void start(shw_context* context, const shw_plan* plan, job* j) {
  int32_t rank;
  j->plan = plan;
  j->num_ranks = shw_plan_num_ranks(plan);
  EXPECT_OK(shw_world_create_virtual(context, j->num_ranks, NULL, &j->world));
  for (rank = 0; rank < j->num_ranks; ++rank)
    EXPECT_OK(shw_executor_create(plan, j->world, rank, NULL, &j->executors[rank]));
}

static void end(job* j) {
  int32_t rank;
  for (rank = 0; rank < j->num_ranks; ++rank) shw_executor_destroy(j->executors[rank]);
  shw_world_destroy(j->world);
}

typedef struct named {
  const char* name;
  const void* data;
} named;

/* Runs an entry with whole inputs, given by name, and returns its only output in `result`. */
static void run(job* j, size_t number, const named* inputs, const char* output, float* result,
                size_t count) {
  shw_plan_entry e = SHW_PLAN_ENTRY_INIT;
  shw_buffer *pieces[MAX_RANKS][MAX_PORTS], *outputs[MAX_RANKS] = {NULL}, *whole = NULL;
  shw_event* done[MAX_RANKS] = {NULL};
  shw_run r = SHW_RUN_INIT;
  size_t i, port = 0;
  int32_t rank;
  EXPECT_OK(shw_plan_get_entry(j->plan, number, &e));
  EXPECT(e.num_inputs <= MAX_PORTS && e.num_outputs == 1);
  for (rank = 0; rank < j->num_ranks; ++rank) {
    for (i = 0; i < e.num_inputs; ++i) {
      shw_plan_port info = SHW_PLAN_PORT_INIT;
      shw_tensor tensor = {NULL, NULL, NULL, 0, 0, SHW_DEVICE_CPU, 0};
      EXPECT_OK(shw_plan_find_port(j->plan, number, inputs[i].name, &port));
      EXPECT(port == e.inputs[i]);
      EXPECT_OK(shw_plan_get_port(j->plan, port, &info));
      tensor.data = (void*)inputs[i].data;
      tensor.dims = info.dims;
      tensor.rank = info.rank;
      tensor.dtype = info.dtype;
      EXPECT_OK(shw_plan_shard(j->plan, port, rank, &tensor, NULL, &pieces[rank][i]));
    }
    r.entry = number;
    r.inputs = pieces[rank];
    r.num_inputs = e.num_inputs;
    r.outputs = &outputs[rank];
    r.num_outputs = 1;
    EXPECT_OK(shw_executor_enqueue(j->executors[rank], &r, &done[rank]));
  }
  for (rank = 0; rank < j->num_ranks; ++rank) {
    if (done[rank] != NULL) EXPECT_OK(shw_event_wait(done[rank], -1));
    shw_event_destroy(done[rank]);
  }
  EXPECT_OK(shw_plan_find_port(j->plan, number, output, &port));
  EXPECT_OK(shw_plan_gather(j->plan, port, outputs, (size_t)j->num_ranks, &whole));
  EXPECT_OK(shw_buffer_read(whole, result, count * sizeof *result));
  shw_buffer_destroy(whole);
  for (rank = 0; rank < j->num_ranks; ++rank) {
    shw_buffer_destroy(outputs[rank]);
    for (i = 0; i < e.num_inputs; ++i) shw_buffer_destroy(pieces[rank][i]);
  }
}

/* Decodes every position in the smallest bucket that fits, and compares with the whole sequence at
 * once. */
static void decoding_is_the_full_pass(shw_context* context, mesh_size mesh) {
  static float x[COUNT], causal[LENGTH * LENGTH], expected[COUNT], mask[LENGTH];
  shw_plan* plan = decoder_plan(context, mesh);
  size_t full = 0, i, k, in_small = 0;
  int64_t position;
  named inputs[3];
  job j;
  for (i = 0; i < COUNT; ++i) x[i] = (float)(sin((double)i) * 0.7);
  for (i = 0; i < LENGTH; ++i)
    for (k = 0; k < LENGTH; ++k) causal[i * LENGTH + k] = k > i ? -1e30f : 0;
  start(context, plan, &j);
  EXPECT_OK(shw_plan_find_entry(plan, "full", &full));
  inputs[0].name = "input.all";
  inputs[0].data = x;
  inputs[1].name = "input.causal";
  inputs[1].data = causal;
  run(&j, full, inputs, "output.full", expected, COUNT);
  for (position = 0; position < LENGTH; ++position) {
    shw_symbol_size size = {"cache", 0};
    shw_plan_entry e = SHW_PLAN_ENTRY_INIT;
    float row[WIDTH];
    size_t bucket = 0;
    size.size = position + 1;
    EXPECT_OK(shw_plan_choose_bucket(plan, "decode", &size, 1, &bucket));
    EXPECT_OK(shw_plan_get_entry(plan, bucket, &e));
    EXPECT(e.symbol_sizes[0] == (position < 16 ? 16 : 64));
    in_small += e.symbol_sizes[0] == 16;
    for (i = 0; i < LENGTH; ++i) mask[i] = (int64_t)i > position ? -1e30f : 0;
    inputs[0].name = "input.x";
    inputs[0].data = x + position * WIDTH;
    inputs[1].name = "input.position";
    inputs[1].data = &position;
    inputs[2].name = "input.mask";
    inputs[2].data = mask;
    run(&j, bucket, inputs, "output.decoded", row, WIDTH);
    for (i = 0; i < WIDTH; ++i) EXPECT(fabsf(row[i] - expected[position * WIDTH + i]) <= 2e-6f);
  }
  EXPECT(in_small == 16);
  end(&j);
  shw_plan_destroy(plan);
}

/* ---- What a plan tells ----------------------------------------------------------------------- */

/* The plan's JSON must contain `text`. White space in the JSON is ignored. */
static void expect_json(const shw_plan* plan, const char* text) {
  shw_blob* json = NULL;
  char* dense = NULL;
  const char* c;
  size_t size = 0;
  EXPECT_OK(shw_plan_to_json(plan, &json));
  dense = malloc(shw_blob_size(json) + 1);
  for (c = shw_blob_data(json); *c != 0; ++c)
    if (*c != ' ' && *c != '\n') dense[size++] = *c;
  dense[size] = 0;
  if (!EXPECT(strstr(dense, text) != NULL)) printf("  no %s\n", text);
  free(dense);
  shw_blob_destroy(json);
}

static void the_plan_tells_of_buckets(shw_context* context) {
  shw_plan* plan = decoder_plan(context, kMeshOf4);
  shw_symbol s = SHW_SYMBOL_INIT;
  shw_plan_entry e = SHW_PLAN_ENTRY_INIT;
  shw_plan_port port = SHW_PLAN_PORT_INIT;
  size_t small = 0, large = 0, in_small = 0, in_large = 0, state = 0, index = 0;
  EXPECT(shw_plan_num_symbols(plan) == 1 && shw_plan_num_entries(plan) == 3);
  EXPECT_OK(shw_plan_get_symbol(plan, 0, &s));
  EXPECT(strcmp(s.name, "cache") == 0 && s.minimum == 1 && s.maximum == LENGTH);
  EXPECT(s.divisor == 1 && s.hint == 16);
  EXPECT_CODE(shw_plan_get_symbol(plan, 1, &s), SHW_OUT_OF_RANGE);
  EXPECT(s.name == NULL && s.maximum == 0);
  EXPECT_OK(shw_plan_find_entry(plan, "decode@cache=16", &small));
  EXPECT_OK(shw_plan_find_entry(plan, "decode@cache=64", &large));
  EXPECT_OK(shw_plan_get_entry(plan, large, &e));
  EXPECT(strcmp(e.bucket_of, "decode") == 0 && e.symbol_sizes[0] == 64 && e.weight == 50);
  EXPECT_OK(shw_plan_find_entry(plan, "full", &index));
  EXPECT_OK(shw_plan_get_entry(plan, index, &e));
  EXPECT(strcmp(e.bucket_of, "") == 0 && e.symbol_sizes == NULL);
  /* Each bucket has its own mask port, and all buckets share the cache. */
  EXPECT_OK(shw_plan_find_port(plan, small, "input.mask", &in_small));
  EXPECT_OK(shw_plan_find_port(plan, large, "input.mask", &in_large));
  EXPECT(in_small != in_large);
  EXPECT_OK(shw_plan_get_port(plan, in_small, &port));
  EXPECT(port.rank == 2 && port.dims[1] == 16 && strcmp(port.symbolic_dims, "[1,cache]") == 0);
  EXPECT_OK(shw_plan_get_port(plan, in_large, &port));
  EXPECT(port.dims[1] == 64 && strcmp(port.symbolic_dims, "[1,cache]") == 0);
  EXPECT_REFUSED(shw_plan_find_port(plan, SHW_NONE, "input.mask", &index), SHW_FAILED_PRECONDITION,
                 "2 ports 'input.mask'");
  EXPECT(index == SHW_NONE);
  EXPECT_OK(shw_plan_find_port(plan, small, "buffer.cache", &state));
  EXPECT_OK(shw_plan_find_port(plan, SHW_NONE, "buffer.cache", &index));
  EXPECT(index == state);
  EXPECT_OK(shw_plan_get_port(plan, state, &port));
  EXPECT(port.storage == SHW_STORAGE_STATE && port.symbolic_dims == NULL);
  EXPECT_REFUSED(shw_plan_find_port(plan, small, "input.all", &index), SHW_NOT_FOUND, "input.mask");
  EXPECT_CODE(shw_plan_find_port(plan, 3, "input.mask", &index), SHW_OUT_OF_RANGE);
  /* The form of the JSON that the header documents. */
  expect_json(plan, "\"symbols\":{\"cache\":{\"min\":1,\"max\":64,\"divisor\":1,\"hint\":16}}");
  expect_json(plan, "\"bucket_of\":\"decode\",\"bucket\":{\"cache\":64}");
  expect_json(plan, "\"sizes\":\"[1,cache]\"");
  shw_plan_destroy(plan);
}

static void expect_no_bucket(const shw_plan* plan, const char* name, const shw_symbol_size* sizes,
                             size_t num_sizes, shw_code code, const char* text) {
  size_t index = 0;
  EXPECT_REFUSED(shw_plan_choose_bucket(plan, name, sizes, num_sizes, &index), code, text);
  EXPECT(index == SHW_NONE);
}

/* Rows given by two symbols, one of them a multiple of 4. The result is [2·batch + prefix + 8, 8].
 */
static shw_blob* two_symbols(shw_context* context) {
  shw_builder* b = NULL;
  shw_blob* bytes = NULL;
  size_t operands[4], made = SHW_NONE;
  EXPECT_OK(shw_builder_create(context, &b));
  EXPECT(symbol(b, "batch", 4, 64, 4, 8) == 0);
  EXPECT(symbol(b, "prefix", 0, 16, 0, 0) == 1);
  operands[0] = operands[2] = symbolic_input(b, "x", "[batch,8]");
  operands[1] = symbolic_input(b, "e", "[prefix+8,8]");
  EXPECT_OK(shw_builder_add_node(b, "cat", operands, 3, NULL, 0, NULL, &made));
  EXPECT_OK(
      add_output(b, SHW_ROLE_RESULT, node(b, "relu", made, SHW_NONE, NULL, 0), NULL, SHW_NONE));
  EXPECT_OK(shw_builder_finish(b, &bytes));
  shw_builder_destroy(b);
  return bytes;
}

static void the_smallest_bucket_that_fits(shw_context* context) {
  static const int64_t kBatch[3] = {8, 16, 64}, kPrefix[2] = {4, 16};
  const shw_bucket_sizes buckets[2] = {{NULL, "batch", kBatch, 3}, {NULL, "prefix", kPrefix, 2}};
  shw_symbol_size sizes[3] = {{"prefix", 5}, {"batch", 8}, {"batch", 8}};
  shw_blob* graph = two_symbols(context);
  shw_plan_entry e = SHW_PLAN_ENTRY_INIT;
  shw_plan_port port = SHW_PLAN_PORT_INIT;
  shw_plan* plan = NULL;
  size_t index = 0, output = 0;
  EXPECT_OK(compile(context, graph, kMeshOf2, buckets, 2, &plan));
  EXPECT(shw_plan_num_entries(plan) == 6);
  EXPECT_OK(shw_plan_choose_bucket(plan, "step", sizes, 2, &index));
  EXPECT_OK(shw_plan_get_entry(plan, index, &e));
  EXPECT(strcmp(e.name, "step@batch=8,prefix=16") == 0);
  EXPECT(e.symbol_sizes[0] == 8 && e.symbol_sizes[1] == 16);
  EXPECT_OK(shw_plan_find_port(plan, index, "output", &output));
  EXPECT_OK(shw_plan_get_port(plan, output, &port));
  EXPECT(port.dims[0] == 40 && strcmp(port.symbolic_dims, "[2*batch+prefix+8,8]") == 0);
  sizes[1].size = 68;
  expect_no_bucket(plan, "step", sizes, 2, SHW_OUT_OF_RANGE, "batch=68; the largest has batch=64");
  sizes[1].size = 0;
  expect_no_bucket(plan, "step", sizes, 2, SHW_OUT_OF_RANGE, "'batch': 0 is not from 4 to 64");
  sizes[1].size = 6;
  expect_no_bucket(plan, "step", sizes, 2, SHW_INVALID_ARGUMENT, "6 is not a multiple of 4");
  sizes[1].size = 8;
  expect_no_bucket(plan, "step", sizes, 1, SHW_INVALID_ARGUMENT, "'batch', whose size is not");
  expect_no_bucket(plan, "step", sizes, 3, SHW_INVALID_ARGUMENT, "'batch' is given twice");
  expect_no_bucket(plan, "stride", sizes, 2, SHW_NOT_FOUND, "'stride'");
  sizes[1].symbol = "width";
  expect_no_bucket(plan, "step", sizes, 2, SHW_INVALID_ARGUMENT, "does not depend on 'width'");
  sizes[1].symbol = NULL;
  expect_no_bucket(plan, "step", sizes, 2, SHW_INVALID_ARGUMENT, "sizes[1].symbol is NULL");
  shw_plan_destroy(plan);
  /* Without requested buckets there is one, at the hints, with the entry's name. */
  EXPECT_OK(compile(context, graph, kMeshOf2, NULL, 0, &plan));
  EXPECT(shw_plan_num_entries(plan) == 1);
  EXPECT_OK(shw_plan_get_entry(plan, 0, &e));
  EXPECT(strcmp(e.name, "step") == 0 && strcmp(e.bucket_of, "step") == 0);
  EXPECT(e.symbol_sizes[0] == 8 && e.symbol_sizes[1] == 16);
  shw_plan_destroy(plan);
  shw_blob_destroy(graph);
}

/* ---- What is refused ------------------------------------------------------------------------- */

static void refuses_senseless_buckets(shw_context* context) {
  static const int64_t kTooLarge[1] = {65}, kSmall[1] = {16};
  static const struct {
    shw_bucket_sizes sizes;
    const char* text;
    shw_code code; /* 0: SHW_INVALID_ARGUMENT */
  } kCases[] = {
      {{"decode", "cache", kTooLarge, 1}, "65 is not from 1 to 64", SHW_OUT_OF_RANGE},
      {{"decode", "cash", kSmall, 1}, "'cash', which the graph does not have; it has cache", 0},
      {{"full", "cache", kSmall, 1}, "'full' does not depend on", 0},
      {{"encode", "cache", kSmall, 1}, "'encode'", 0},
      {{NULL, "cache", kSmall, 0}, "no sizes", 0},
      {{NULL, "cache", NULL, 1}, "buckets[0].sizes is NULL", 0},
      {{NULL, NULL, kSmall, 1}, "buckets[0].symbol is NULL", 0}};
  shw_blob* graph = decoder(context);
  shw_plan* plan = NULL;
  size_t i;
  for (i = 0; i < sizeof kCases / sizeof kCases[0]; ++i) {
    EXPECT_REFUSED(compile(context, graph, kMeshOf1, &kCases[i].sizes, 1, &plan),
                   kCases[i].code != 0 ? kCases[i].code : SHW_INVALID_ARGUMENT, kCases[i].text);
    EXPECT(plan == NULL);
  }
  EXPECT_REFUSED(compile(context, graph, kMeshOf1, NULL, 1, &plan), SHW_INVALID_ARGUMENT,
                 "buckets is");
  shw_blob_destroy(graph);
}

static void expect_symbol_refused(shw_builder* b, const char* name, int64_t minimum,
                                  int64_t maximum, int64_t divisor, int64_t hint,
                                  const char* text) {
  shw_symbol s = SHW_SYMBOL_INIT;
  size_t number = 0;
  s.name = name;
  s.minimum = minimum;
  s.maximum = maximum;
  s.divisor = divisor;
  s.hint = hint;
  EXPECT_REFUSED(shw_builder_add_symbol(b, &s, &number), SHW_INVALID_ARGUMENT, text);
  EXPECT(number == SHW_NONE);
}

static void refuses_senseless_symbols(shw_context* context) {
  char name[8] = "s";
  shw_builder* b = NULL;
  int i;
  EXPECT_OK(shw_builder_create(context, &b));
  expect_symbol_refused(b, NULL, 1, 8, 1, 8, "a name is a letter");
  expect_symbol_refused(b, "2n", 1, 8, 1, 8, "a name is a letter");
  expect_symbol_refused(b, "f32", 1, 8, 1, 8, "no value's name");
  expect_symbol_refused(b, "n", -1, 8, 1, 8, "'n': no size is from -1 to 8");
  expect_symbol_refused(b, "n", 9, 8, 1, 8, "from 9 to 8");
  expect_symbol_refused(b, "n", 1, 8, -2, 8, "a multiple of -2");
  expect_symbol_refused(b, "n", 1, 8, 1, 9, "the hint of symbol 'n': 9 is not from 1 to 8");
  expect_symbol_refused(b, "n", 1, 8, 3, 0, "the hint of symbol 'n': 8 is not a multiple of 3");
  symbol(b, "n", 1, 8, 1, 0);
  expect_symbol_refused(b, "n", 1, 8, 1, 8, "stands twice");
  for (i = 1; i < 64; ++i) {
    sprintf(name, "s%d", i);
    symbol(b, name, 1, 8, 0, 0);
  }
  expect_symbol_refused(b, "last", 1, 8, 0, 0, "more than the limit of 64");
  shw_builder_destroy(b);
}

static void expect_input_refused(shw_builder* b, const shw_builder_input* input, const char* text) {
  size_t made = 0;
  EXPECT_REFUSED(shw_builder_add_input(b, input, NULL, &made), SHW_INVALID_ARGUMENT, text);
  EXPECT(made == SHW_NONE);
}

static void expect_node_refused(shw_builder* b, const char* op, size_t x, shw_attr attr,
                                const char* text) {
  size_t made = 0;
  EXPECT_REFUSED(shw_builder_add_node(b, op, &x, 1, &attr, 1, NULL, &made), SHW_INVALID_ARGUMENT,
                 text);
  EXPECT(made == SHW_NONE);
}

static void refuses_senseless_expressions(shw_context* context) {
  static const int64_t kDims[1] = {4}, kFlat[1] = {-1}, kHalves[2] = {2, -1};
  static const shw_attr kUnknown = SHW_ATTR_EXPR("end", "m"),
                        kProduct = SHW_ATTR_EXPR("end", "n*n"), kNone = SHW_ATTR_EXPR("end", NULL),
                        kList = SHW_ATTR_EXPR("end", "[n]"),
                        kSquare = SHW_ATTR_INTS("size", kFlat, 1),
                        kTwo = SHW_ATTR_INTS("size", kHalves, 2),
                        kClamped = SHW_ATTR_EXPR("end", "2*n"),
                        kSum = SHW_ATTR_EXPR("size", "[n, n]");
  shw_builder_input input = SHW_BUILDER_INPUT_INIT;
  shw_result_type type = SHW_RESULT_TYPE_INIT;
  shw_builder* b = NULL;
  size_t square, x;
  EXPECT_OK(shw_builder_create(context, &b));
  symbol(b, "n", 2, 64, 2, 16);
  input.role = SHW_ROLE_INPUT;
  input.dtype = SHW_DTYPE_F32;
  input.symbolic_dims = "[n,m]";
  expect_input_refused(b, &input, "'[n,m]' is not a list of expressions such as [1,2*n]");
  expect_input_refused(b, &input, "; it has: n");
  input.symbolic_dims = "n";
  expect_input_refused(b, &input, "'n' is not a list");
  input.symbolic_dims = "[n,]";
  expect_input_refused(b, &input, "'[n,]'");
  input.symbolic_dims = "[n+-100]";
  expect_input_refused(b, &input, "negative");
  input.symbolic_dims = "[n]";
  input.rank = 1;
  input.dims = kDims;
  expect_input_refused(b, &input, "set only one of the two");
  input.rank = 0;
  input.dims = NULL;
  input.role = SHW_ROLE_PARAMETER;
  input.name = "w";
  expect_input_refused(b, &input, "'w' is shared by all buckets");
  input.role = SHW_ROLE_INPUT;
  input.storage = SHW_STORAGE_STATE;
  expect_input_refused(b, &input, "'w' is shared by all buckets");
  square = symbolic_input(b, "square", "[n,n]");
  EXPECT(square == 0); /* refused inputs leave no trace */
  x = symbolic_input(b, "x", "[n]");
  expect_node_refused(b, "slice", x, kUnknown, "'m' is not an expression");
  expect_node_refused(b, "slice", x, kProduct, "'n*n' is not an expression");
  expect_node_refused(b, "slice", x, kNone, "NULL");
  expect_node_refused(b, "slice", x, kList, "wrong kind");
  expect_node_refused(b, "view", square, kSquare,
                      "the size of dim 0 of result 0 is no affine expression of the symbols");
  expect_node_refused(b, "view", x, kTwo, "no affine expression"); /* n/2 */
  /* The operation clamps here, and min(2n, 64) is no affine expression, either. */
  input.storage = 0;
  input.name = "row";
  input.symbolic_dims = "[64]";
  EXPECT_OK(shw_builder_add_input(b, &input, NULL, &x));
  expect_node_refused(b, "slice", x, kClamped, "at n=64: the size of dim 0");
  /* Sizes of new tensors in a list attribute. */
  input.symbolic_dims = "[1]";
  input.name = "one";
  EXPECT_OK(shw_builder_add_input(b, &input, NULL, &x));
  x = node(b, "expand", x, SHW_NONE, &kSum, 1);
  EXPECT_OK(shw_builder_get_type(b, x, 0, &type));
  EXPECT(type.rank == 2 && type.dims[0] == 16 && type.dims[1] == 16);
  shw_builder_destroy(b);
}

int main(void) {
  shw_context* context = new_context();
  decoding_is_the_full_pass(context, kMeshOf1);
  decoding_is_the_full_pass(context, kMeshOf4);
  decoding_is_the_full_pass(context, kMeshOf2x2);
  the_plan_tells_of_buckets(context);
  the_smallest_bucket_that_fits(context);
  refuses_senseless_buckets(context);
  refuses_senseless_symbols(context);
  refuses_senseless_expressions(context);
  shw_context_destroy(context);
  return test_result();
}
