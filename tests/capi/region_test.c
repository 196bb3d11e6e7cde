/* Manual regions: a body that the caller gives runs between the steps of a plan, on each rank's
 * pieces; its failure is the run's. */
#include <string.h>

#include "shardwise/builder.h"
#include "shardwise/runtime.h"
#include "testing.h"

enum { RANKS = 4, ROWS = 8, COLUMNS = 4, MINE = ROWS / 2 * COLUMNS };

/* y = region(relu(x)), the rows of both cut by the first of two mesh dims; the second result, that
 * nobody wants, would be a saved activation. */
static shw_blob* graph_with_region(shw_context* context) {
  static const int64_t kDims[2] = {ROWS, COLUMNS};
  const shw_attr attrs[4] = {SHW_ATTR_STRING("region", "twice"),
                             SHW_ATTR_STRING("in_placements", "S(0)R"),
                             SHW_ATTR_STRING("out_placements", "S(0)R"),
                             SHW_ATTR_STRING("result_types", "f32[8,4]; i64[2]")};
  const shw_attr first = SHW_ATTR_INT("index", 0);
  shw_builder* b = NULL;
  shw_blob* blob = NULL;
  int32_t x, relu, region, y;
  if (!EXPECT_OK(shw_builder_create(context, &b))) return NULL;
  EXPECT_OK(shw_builder_add_input(b, SHW_ROLE_INPUT, NULL, 0, SHW_DTYPE_F32, kDims, 2, NULL, &x));
  EXPECT_OK(shw_builder_add_node(b, "relu", &x, 1, NULL, 0, NULL, &relu));
  EXPECT_OK(shw_builder_add_node(b, "local_map", &relu, 1, attrs, 4, NULL, &region));
  EXPECT_OK(shw_builder_add_node(b, "get_item", &region, 1, &first, 1, NULL, &y));
  EXPECT_OK(shw_builder_add_output(b, SHW_ROLE_RESULT, y, NULL, SHW_NO_NODE));
  EXPECT_OK(shw_builder_finish(b, &blob));
  shw_builder_destroy(b);
  return blob;
}

/* What the caller hands to the body. */
typedef struct calls {
  int count[RANKS];
  int32_t answer;
} calls;

static int32_t twice(void* user, int32_t rank, const shw_tensor* inputs, size_t num_inputs,
                     const shw_tensor* outputs, size_t num_outputs) {
  calls* mine = (calls*)user;
  const float* x = (const float*)inputs[0].data;
  float* y = (float*)outputs[0].data;
  size_t i;
  ++mine->count[rank];
  if (mine->answer != 0) return mine->answer;
  if (num_inputs != 1 || num_outputs != 2 || outputs[1].data != NULL) return -1;
  if (inputs[0].rank != 2 || inputs[0].dims[0] != ROWS / 2 || inputs[0].dims[1] != COLUMNS)
    return -2;
  if (outputs[0].dtype != SHW_DTYPE_F32 || outputs[0].strides[0] != COLUMNS) return -3;
  for (i = 0; i < MINE; ++i) y[i] = 2 * x[i];
  return 0;
}

/* One step on all ranks; the status of rank 0's run, which the caller destroys. */
static shw_status* run(const shw_plan* plan, shw_executor* const* executors, size_t entry) {
  float x[ROWS * COLUMNS], y[ROWS * COLUMNS];
  const int64_t dims[2] = {ROWS, COLUMNS};
  shw_buffer *input[RANKS], *output[RANKS], *whole = NULL;
  const shw_buffer* pieces[RANKS];
  shw_event* done[RANKS];
  shw_status* status = NULL;
  shw_tensor tensor;
  int32_t rank;
  size_t i;
  for (i = 0; i < ROWS * COLUMNS; ++i) x[i] = (float)i - 10;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = x;
  tensor.dims = dims;
  tensor.rank = 2;
  tensor.dtype = SHW_DTYPE_F32;
  for (rank = 0; rank < RANKS; ++rank) {
    const shw_buffer* in;
    EXPECT_OK(shw_plan_shard_input(plan, entry, 0, rank, &tensor, &input[rank]));
    in = input[rank];
    EXPECT_OK(shw_executor_enqueue(executors[rank], entry, &in, 1, &output[rank], 1, NULL, 0,
                                   &done[rank]));
    pieces[rank] = output[rank];
  }
  for (rank = 0; rank < RANKS; ++rank) {
    shw_status* ended = shw_event_wait(done[rank], -1);
    if (rank == 0)
      status = ended;
    else
      shw_status_destroy(ended);
    shw_event_destroy(done[rank]);
  }
  if (status == NULL) {
    EXPECT_OK(shw_plan_gather_output(plan, entry, 0, pieces, RANKS, &whole));
    EXPECT_OK(shw_buffer_read(whole, y, sizeof y));
    for (i = 0; i < ROWS * COLUMNS; ++i) EXPECT(y[i] == (x[i] > 0 ? 2 * x[i] : 0));
    shw_buffer_destroy(whole);
  }
  for (rank = 0; rank < RANKS; ++rank) {
    shw_buffer_destroy(input[rank]);
    shw_buffer_destroy(output[rank]);
  }
  return status;
}

static void bodies_run_on_each_rank(const shw_plan* plan, shw_world* world, size_t entry) {
  calls mine;
  shw_region regions[2];
  shw_executor_options options = SHW_EXECUTOR_OPTIONS_INIT;
  shw_executor* executors[RANKS];
  int32_t rank;
  memset(&mine, 0, sizeof mine);
  memset(regions, 0, sizeof regions);
  regions[0].name = "another"; /* not used */
  regions[0].body = twice;
  regions[1].name = "twice";
  regions[1].body = twice;
  regions[1].user = &mine;
  options.regions = regions;
  options.num_regions = 2;
  for (rank = 0; rank < RANKS; ++rank)
    EXPECT_OK(shw_executor_create(plan, world, rank, &options, &executors[rank]));
  memset(regions, 0, sizeof regions); /* lent for the call only */
  EXPECT_OK(run(plan, executors, entry));
  EXPECT_OK(run(plan, executors, entry));
  for (rank = 0; rank < RANKS; ++rank) EXPECT(mine.count[rank] == 2);
  mine.answer = 7;
  EXPECT_REFUSED(run(plan, executors, entry), SHW_ABORTED, "the body of region 'twice' returned 7");
  for (rank = 0; rank < RANKS; ++rank) shw_executor_reset(executors[rank]);
  mine.answer = 0;
  EXPECT_OK(run(plan, executors, entry));
  for (rank = 0; rank < RANKS; ++rank) shw_executor_destroy(executors[rank]);
}

static void bodies_are_asked_for(const shw_plan* plan, shw_world* world) {
  shw_region region;
  shw_executor_options options = SHW_EXECUTOR_OPTIONS_INIT;
  shw_executor* executor = NULL;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, NULL, &executor), SHW_UNIMPLEMENTED,
                 "the manual region 'twice' has no body here");
  EXPECT(executor == NULL);
  options.num_regions = 1;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_INVALID_ARGUMENT,
                 "regions is NULL");
  memset(&region, 0, sizeof region);
  region.name = "twice";
  options.regions = &region;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_INVALID_ARGUMENT,
                 "regions[0] has no name or no body");
}

int main(void) {
  shw_context* context = new_context();
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  shw_mesh_axis axes[2];
  shw_plan* plan = NULL;
  shw_world* world = NULL;
  shw_blob* graph;
  shw_bytes bytes;
  size_t entry = 0;
  axes[0].name = "dp";
  axes[0].size = 2;
  axes[1].name = "tp";
  axes[1].size = 2;
  options.mesh_axes = axes;
  options.num_mesh_axes = 2;
  graph = graph_with_region(context);
  bytes.data = shw_blob_data(graph);
  bytes.size = shw_blob_size(graph);
  EXPECT_OK(shw_plan_compile(context, bytes, &options, &plan));
  EXPECT_OK(shw_plan_find_entry(plan, "step", &entry));
  EXPECT_OK(shw_world_create_virtual(context, RANKS, &world));
  bodies_are_asked_for(plan, world);
  bodies_run_on_each_rank(plan, world, entry);
  shw_world_destroy(world);
  shw_plan_destroy(plan);
  shw_blob_destroy(graph);
  shw_context_destroy(context);
  return test_result();
}
