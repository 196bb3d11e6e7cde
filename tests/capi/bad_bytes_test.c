/* Graph and plan bytes that are damaged, truncated or of the wrong kind. Under the sanitizers this
 * test also shows that nothing is read out of bounds, at any alignment. */
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

/* Compiles a graph or loads a plan. The call must return a plan if and only if it succeeds. */
static shw_code take(shw_context* context, int is_plan, const void* data, size_t size) {
  const shw_bytes bytes = {data, size};
  shw_mesh_axis axes[2];
  const shw_compile_options options = mlp_options(axes, 2, 4);
  shw_plan* plan = (shw_plan*)&axes;
  shw_status* status = is_plan ? shw_plan_load(context, bytes, &plan)
                               : shw_plan_compile(context, bytes, &options, &plan);
  const shw_code code = shw_status_code(status);
  EXPECT((plan != NULL) == (code == SHW_OK));
  EXPECT(code == SHW_OK || shw_status_message(status)[0] != '\0');
  shw_plan_destroy(plan);
  shw_status_destroy(status);
  return code;
}

/* Puts the bytes at the end of an allocation of exactly their size, so that the sanitizer detects a
 * read of even one byte too many. */
static shw_code take_copy(shw_context* context, int is_plan, const char* data, size_t size) {
  char* copy = (char*)malloc(size == 0 ? 1 : size);
  shw_code code;
  memcpy(copy, data, size);
  code = take(context, is_plan, copy, size);
  free(copy);
  return code;
}

static void refuses_what_is_cut_short(shw_context* context, int is_plan, const char* data,
                                      size_t size) {
  const size_t step = size / 97 + 1;
  size_t n;
  for (n = 0; n < size; n += n < 64 ? 1 : step) {
    const shw_code code = take_copy(context, is_plan, data, n);
    EXPECT(code == (is_plan ? SHW_DATA_LOSS : SHW_INVALID_ARGUMENT));
  }
}

static void refuses_another_identifier(shw_context* context, int is_plan, const char* data,
                                       size_t size) {
  char* copy = (char*)malloc(size);
  memcpy(copy, data, size);
  memcpy(copy + 4, "ELF?", 4);
  EXPECT(take(context, is_plan, copy, size) == (is_plan ? SHW_DATA_LOSS : SHW_INVALID_ARGUMENT));
  free(copy);
}

/* A graph has no checksum, so a changed byte may still give a valid graph. A plan has one. */
static void survives_changed_bytes(shw_context* context, int is_plan, const char* data,
                                   size_t size) {
  char* copy = (char*)malloc(size);
  uint32_t random = 12345;
  int i;
  for (i = 0; i < 300; ++i) {
    size_t at;
    random = random * 1664525u + 1013904223u;
    at = (random >> 8) % size;
    memcpy(copy, data, size);
    copy[at] = (char)(copy[at] ^ (1 << (random >> 29)));
    if (is_plan)
      EXPECT(take(context, is_plan, copy, size) != SHW_OK);
    else
      take(context, is_plan, copy, size);
  }
  free(copy);
}

static void takes_any_alignment(shw_context* context, int is_plan, const char* data, size_t size) {
  char* room = (char*)malloc(size + 16);
  size_t offset;
  for (offset = 0; offset < 16; ++offset) {
    memcpy(room + offset, data, size);
    EXPECT(take(context, is_plan, room + offset, size) == SHW_OK);
  }
  free(room);
}

static void all_of_it(shw_context* context, int is_plan, const shw_blob* blob) {
  const char* data = (const char*)shw_blob_data(blob);
  const size_t size = shw_blob_size(blob);
  refuses_what_is_cut_short(context, is_plan, data, size);
  refuses_another_identifier(context, is_plan, data, size);
  survives_changed_bytes(context, is_plan, data, size);
  takes_any_alignment(context, is_plan, data, size);
}

int main(void) {
  shw_context* context = new_context();
  shw_blob *graph = mlp_graph(context), *bytes = NULL;
  shw_plan* plan = mlp_plan(context, 2, 4);
  EXPECT_OK(shw_plan_save(plan, &bytes));
  all_of_it(context, 0, graph);
  all_of_it(context, 1, bytes);
  EXPECT(take(context, 1, shw_blob_data(graph), shw_blob_size(graph)) != SHW_OK);
  EXPECT(take(context, 0, shw_blob_data(bytes), shw_blob_size(bytes)) == SHW_INVALID_ARGUMENT);
  shw_blob_destroy(graph);
  shw_blob_destroy(bytes);
  shw_plan_destroy(plan);
  shw_context_destroy(context);
  return test_result();
}
