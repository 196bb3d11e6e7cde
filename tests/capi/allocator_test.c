/* The caller's allocator must get back all memory that it gave, with the same size and alignment.
 * The library must use it for tensors, for the executors' memory and for blobs. If it fails, the
 * result must be RESOURCE_EXHAUSTED. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

/* The header before each piece of memory. The address of a piece is a multiple of 256. */
typedef struct piece {
  void* raw;
  size_t size, alignment;
} piece;

typedef struct heap {
  size_t in_use, largest, count;
  int sound;
  size_t fail_above; /* pieces larger than this are refused; 0: none */
} heap;

static void* heap_alloc(void* user, size_t size, size_t alignment) {
  heap* h = (heap*)user;
  char *raw, *memory;
  piece p;
  h->sound &= size > 0 && alignment > 0 && (alignment & (alignment - 1)) == 0 && alignment <= 256;
  if (h->fail_above != 0 && size > h->fail_above) return NULL;
  raw = (char*)malloc(size + 512 + sizeof p);
  memory = raw + sizeof p + 256 - ((uintptr_t)(raw + sizeof p) % 256);
  p.raw = raw;
  p.size = size;
  p.alignment = alignment;
  memcpy(memory - sizeof p, &p, sizeof p);
  memset(memory, 0xa5, size); /* the library must not expect zeros */
  h->in_use += size;
  if (size > h->largest) h->largest = size;
  ++h->count;
  return memory;
}

static void heap_free(void* user, void* memory, size_t size, size_t alignment) {
  heap* h = (heap*)user;
  piece p;
  memcpy(&p, (char*)memory - sizeof p, sizeof p);
  h->sound &= p.size == size && p.alignment == alignment;
  h->in_use -= size;
  free(p.raw);
}

static shw_context* heap_context(heap* h) {
  shw_context_options options = SHW_CONTEXT_OPTIONS_INIT;
  shw_context* context = NULL;
  options.alloc = heap_alloc;
  options.free = heap_free;
  options.alloc_user = h;
  EXPECT_OK(shw_context_create(SHW_API_VERSION, &options, &context));
  return context;
}

static void gets_back_what_it_gave(void) {
  heap h = {0, 0, 0, 1, 0};
  shw_context* context = heap_context(&h);
  shw_plan_summary summary = SHW_PLAN_SUMMARY_INIT;
  shw_plan* plan;
  shw_blob* blob = NULL;
  mlp_job job;
  size_t before;
  plan = mlp_plan(context, 1, 2);
  EXPECT_OK(shw_plan_get_summary(plan, &summary));
  before = h.in_use;
  EXPECT_OK(shw_plan_save(plan, &blob));
  EXPECT(h.in_use >= before + shw_blob_size(blob));
  before = h.in_use;
  if (mlp_job_create(context, plan, &job)) {
    EXPECT(h.in_use >= before + 2 * (size_t)summary.arena_bytes);
    mlp_job_run_and_check(plan, &job);
  }
  mlp_job_destroy(&job);
  EXPECT(h.in_use == before);
  shw_blob_destroy(blob);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
  EXPECT(h.in_use == 0 && h.count > 0 && h.sound);
}

static void refusal_is_told(void) {
  heap h = {0, 0, 0, 1, 0};
  shw_context* context = heap_context(&h);
  shw_plan* plan = mlp_plan(context, 1, 2);
  shw_world* world = NULL;
  shw_blob* blob = (shw_blob*)&h;
  shw_buffer* buffer = (shw_buffer*)&h;
  shw_executor* executor = (shw_executor*)&h;
  const int64_t dims[1] = {64};
  size_t before;
  shw_device* cpu = new_cpu(context);
  EXPECT_OK(shw_world_create_virtual(context, 2, NULL, &world));
  before = h.in_use;
  h.fail_above = 100;
  EXPECT_CODE(shw_plan_save(plan, &blob), SHW_RESOURCE_EXHAUSTED);
  EXPECT_CODE(shw_buffer_create(cpu, SHW_DTYPE_F32, dims, 1, &buffer), SHW_RESOURCE_EXHAUSTED);
  EXPECT_CODE(shw_executor_create(plan, world, 0, NULL, &executor), SHW_RESOURCE_EXHAUSTED);
  EXPECT(blob == NULL && buffer == NULL && executor == NULL);
  EXPECT(h.in_use == before);
  shw_device_destroy(cpu);
  shw_world_destroy(world);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
  EXPECT(h.in_use == 0 && h.sound);
}

static void comes_with_its_counterpart(void) {
  shw_context_options options = SHW_CONTEXT_OPTIONS_INIT;
  shw_context* context = (shw_context*)&options;
  options.alloc = heap_alloc;
  EXPECT_REFUSED(shw_context_create(SHW_API_VERSION, &options, &context), SHW_INVALID_ARGUMENT,
                 "alloc and free");
  EXPECT(context == NULL);
}

int main(void) {
  gets_back_what_it_gave();
  refusal_is_told();
  comes_with_its_counterpart();
  return test_result();
}
