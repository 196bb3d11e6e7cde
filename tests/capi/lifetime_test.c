/* Destroys handles in every order, each time with a run in progress. Memory lent to the library
 * must be released exactly once. ASan detects a use after the release. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

enum { CONTEXT, PLAN, WORLD, INPUTS, EXECUTORS, EVENTS, NUM_KINDS };

typedef struct everything {
  shw_context* context;
  shw_plan* plan;
  mlp_job job;
  shw_event* done[8];
  shw_buffer* outputs[8][MLP_NUM_OUTPUTS];
} everything;

static int create(everything* all) {
  int32_t rank;
  int worked;
  memset(all, 0, sizeof *all);
  all->context = new_context();
  all->plan = mlp_plan(all->context, 2, 2);
  worked = mlp_job_create(all->context, all->plan, &all->job);
  for (rank = 0; rank < all->job.num_ranks && worked; ++rank)
    worked &= EXPECT_OK(enqueue(all->job.executors[rank], 0, all->job.inputs[rank], MLP_NUM_INPUTS,
                                all->outputs[rank], MLP_NUM_OUTPUTS, NULL, 0, &all->done[rank]));
  return worked;
}

static void destroy(everything* all, int kind) {
  int32_t rank;
  size_t i;
  if (kind == CONTEXT) shw_context_destroy(all->context);
  if (kind == PLAN) shw_plan_destroy(all->plan);
  if (kind == WORLD) shw_world_destroy(all->job.world);
  for (rank = 0; rank < all->job.num_ranks; ++rank) {
    if (kind == EXECUTORS) shw_executor_destroy(all->job.executors[rank]);
    if (kind == EVENTS) shw_event_destroy(all->done[rank]);
    for (i = 0; i < MLP_NUM_INPUTS && kind == INPUTS; ++i)
      shw_buffer_destroy(all->job.inputs[rank][i]);
  }
}

static void destroy_outputs(everything* all) {
  int32_t rank;
  size_t i;
  for (rank = 0; rank < all->job.num_ranks; ++rank)
    for (i = 0; i < MLP_NUM_OUTPUTS; ++i) {
      shw_tensor tensor;
      EXPECT_OK(shw_buffer_get_tensor(all->outputs[rank][i], &tensor));
      /* Outputs stay valid when all other handles are destroyed. */
      memset(tensor.data, 0, (size_t)(tensor.dims[0] * tensor.dims[1]) * sizeof(float));
      shw_buffer_destroy(all->outputs[rank][i]);
    }
}

/* Makes the next permutation of the digits in `order`. Returns 0 after the last one. */
static int next_order(int order[NUM_KINDS]) {
  int i = NUM_KINDS - 2, j = NUM_KINDS - 1, swap;
  while (i >= 0 && order[i] > order[i + 1]) --i;
  if (i < 0) return 0;
  while (order[j] < order[i]) --j;
  swap = order[i], order[i] = order[j], order[j] = swap;
  for (++i, j = NUM_KINDS - 1; i < j; ++i, --j)
    swap = order[i], order[i] = order[j], order[j] = swap;
  return 1;
}

static void handles_go_in_every_order(void) {
  int order[NUM_KINDS] = {CONTEXT, PLAN, WORLD, INPUTS, EXECUTORS, EVENTS};
  everything all;
  int i, count = 0;
  do {
    if (!create(&all)) return;
    for (i = 0; i < NUM_KINDS; ++i) destroy(&all, order[i]);
    destroy_outputs(&all);
    ++count;
  } while (next_order(order));
  EXPECT(count == 720);
}

static void count_release(void* user, void* data) {
  (void)data;
  ++*(int*)user;
}

static void lent_memory_is_released_once(void) {
  shw_context* context = new_context();
  const int64_t dims[2] = {2, 3}, strides[2] = {4, 1};
  float memory[8] = {1, 2, 3, -1, 4, 5, 6, -1}, packed[6];
  int released = 0;
  shw_device* cpu = new_cpu(context);
  shw_buffer* buffer = NULL;
  shw_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = memory;
  tensor.dims = dims;
  tensor.strides = strides;
  tensor.rank = 2;
  tensor.dtype = SHW_DTYPE_F32;
  EXPECT_OK(
      shw_buffer_import(cpu, &tensor, SHW_BORROW_UNTIL_RELEASE, count_release, &released, &buffer));
  EXPECT_OK(shw_buffer_read(buffer, packed, sizeof packed));
  EXPECT(packed[2] == 3 && packed[3] == 4 && packed[5] == 6);
  packed[4] = 50;
  EXPECT_OK(shw_buffer_write(buffer, packed, sizeof packed));
  EXPECT(memory[5] == 50 && memory[3] == -1); /* written in place, and nothing between the rows */
  EXPECT(released == 0);
  shw_buffer_destroy(buffer);
  EXPECT(released == 1);
  /* A refused import releases the memory. */
  tensor.dtype = 0;
  EXPECT_CODE(
      shw_buffer_import(cpu, &tensor, SHW_BORROW_UNTIL_RELEASE, count_release, &released, &buffer),
      SHW_INVALID_ARGUMENT);
  EXPECT(released == 1);
  shw_device_destroy(cpu);
  shw_context_destroy(context);
}

static void copied_memory_may_go_at_once(void) {
  shw_context* context = new_context();
  const int64_t dims[1] = {4};
  double* memory = (double*)malloc(4 * sizeof(double));
  double back[4];
  shw_device* cpu = new_cpu(context);
  shw_buffer* buffer = NULL;
  shw_tensor tensor;
  memset(&tensor, 0, sizeof tensor);
  tensor.data = memory;
  tensor.dims = dims;
  tensor.rank = 1;
  tensor.dtype = SHW_DTYPE_F64;
  memory[0] = 1, memory[1] = 2, memory[2] = 3, memory[3] = 4;
  EXPECT_OK(shw_buffer_import(cpu, &tensor, SHW_BORROW_COPY, NULL, NULL, &buffer));
  memset(memory, 0x7f, 4 * sizeof(double));
  free(memory);
  shw_device_destroy(cpu); /* the buffer keeps it alive */
  shw_context_destroy(context);
  EXPECT_OK(shw_buffer_read(buffer, back, sizeof back));
  EXPECT(back[0] == 1 && back[3] == 4);
  EXPECT_REFUSED(shw_buffer_read(buffer, back, 8), SHW_INVALID_ARGUMENT, "size is 8 bytes");
  shw_buffer_destroy(buffer);
}

int main(void) {
  lent_memory_is_released_once();
  copied_memory_may_go_at_once();
  handles_go_in_every_order();
  return test_result();
}
