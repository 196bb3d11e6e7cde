/* CUDA devices through the C API. The library opens the plug-in, and the plug-in opens the fakes of
 * NVIDIA's libraries, which LD_LIBRARY_PATH names. */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mlp.h"
#include "testing.h"

static void a_device_says_what_it_is(shw_context* context) {
  shw_device_info info = SHW_DEVICE_INFO_INIT;
  shw_device *device = NULL, *beyond = NULL;
  if (!EXPECT_OK(shw_device_create(context, SHW_DEVICE_CUDA, 1, &device))) return;
  EXPECT_OK(shw_device_get_info(device, &info));
  EXPECT(strcmp(info.name, "cuda") == 0 && info.kind == SHW_DEVICE_CUDA);
  EXPECT(info.computes && !info.host_access && info.native_streams);
  EXPECT_REFUSED(shw_device_create(context, SHW_DEVICE_CUDA, 8, &beyond), SHW_INVALID_ARGUMENT,
                 "CUDA device 8 does not exist: there are 8");
  shw_device_destroy(device);
}

static void a_buffer_is_written_and_read(shw_context* context) {
  const float values[4] = {1, 2, 3, 4};
  float read[4] = {0, 0, 0, 0};
  const int64_t dims[1] = {4};
  shw_device* device = NULL;
  shw_buffer* buffer = NULL;
  if (!EXPECT_OK(shw_device_create(context, SHW_DEVICE_CUDA, 0, &device))) return;
  EXPECT_OK(shw_buffer_create(device, SHW_DTYPE_F32, dims, 1, &buffer));
  EXPECT_OK(shw_buffer_read(buffer, read, sizeof read));
  EXPECT(read[0] == 0 && read[3] == 0);
  EXPECT_OK(shw_buffer_write(buffer, values, sizeof values));
  EXPECT_OK(shw_buffer_read(buffer, read, sizeof read));
  EXPECT(memcmp(values, read, sizeof read) == 0);
  shw_buffer_destroy(buffer);
  shw_device_destroy(device);
}

static void a_plan_runs_on_four_devices(shw_context* context, uint64_t flags) {
  shw_plan* plan = mlp_plan(context, 2, 2);
  mlp_job job;
  int repeat;
  if (plan == NULL) return;
  if (mlp_job_create_on(context, plan, SHW_DEVICE_CUDA, flags, &job))
    for (repeat = 0; repeat < 3; ++repeat) mlp_job_run_and_check(plan, &job);
  mlp_job_destroy(&job);
  shw_plan_destroy(plan);
}

static void graphs_are_an_option(shw_context* context) {
  shw_executor_options options = SHW_EXECUTOR_OPTIONS_INIT;
  shw_plan* plan = mlp_plan(context, 0, 0);
  shw_world* world = NULL;
  shw_executor* executor = NULL;
  if (!EXPECT_OK(shw_world_create_virtual(context, 1, NULL, &world))) return;
  options.flags = SHW_EXECUTOR_GRAPHS;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_UNIMPLEMENTED,
                 "a cpu device captures no graphs");
  options.flags = 2;
  EXPECT_REFUSED(shw_executor_create(plan, world, 0, &options, &executor), SHW_INVALID_ARGUMENT,
                 "flags");
  shw_world_destroy(world);
  shw_plan_destroy(plan);
}

static int num_files(const char* folder) {
  struct dirent* entry;
  int num = 0;
  DIR* all = opendir(folder);
  if (all == NULL) return -1;
  while ((entry = readdir(all)) != NULL) num += entry->d_name[0] != '.';
  closedir(all);
  return num;
}
static void remove_files(const char* folder) {
  struct dirent* entry;
  DIR* all = opendir(folder);
  if (all == NULL) return;
  while ((entry = readdir(all)) != NULL) unlinkat(dirfd(all), entry->d_name, 0);
  closedir(all);
  rmdir(folder);
}

static shw_context* context_with_cache(const char* folder) {
  char lent[64];
  shw_context_options options = SHW_CONTEXT_OPTIONS_INIT;
  shw_context* context = NULL;
  strcpy(lent, folder);
  options.kernel_cache = lent;
  EXPECT_OK(shw_context_create(SHW_API_VERSION, &options, &context));
  memset(lent, 'x', sizeof lent - 1); /* the library has copied it */
  return context;
}

static void compiled_kernels_are_kept(void) {
  char folder[] = "/tmp/shw_capi_cache_XXXXXX";
  shw_device* device = NULL;
  shw_context* context;
  int kept = 0, repeat;
  if (!EXPECT(mkdtemp(folder) != NULL)) return;
  for (repeat = 0; repeat < 2; ++repeat) {
    context = context_with_cache(folder);
    a_plan_runs_on_four_devices(context, 0);
    shw_context_destroy(context);
    EXPECT(num_files(folder) > 0 && (repeat == 0 || num_files(folder) == kept));
    kept = num_files(folder);
  }
  remove_files(folder);
  context = context_with_cache("/dev/null");
  EXPECT_REFUSED(shw_device_create(context, SHW_DEVICE_CUDA, 0, &device), SHW_INVALID_ARGUMENT,
                 "the cache of kernels '/dev/null' is not a folder");
  shw_context_destroy(context);
}

static void results_may_be_made_to_repeat(void) {
  shw_context_options options = SHW_CONTEXT_OPTIONS_INIT;
  shw_context* context = NULL;
  options.flags = SHW_CONTEXT_DETERMINISTIC;
  if (!EXPECT_OK(shw_context_create(SHW_API_VERSION, &options, &context))) return;
  a_plan_runs_on_four_devices(context, 0);
  shw_context_destroy(context);
}

int main(void) {
  shw_context* context = new_context();
  a_device_says_what_it_is(context);
  a_buffer_is_written_and_read(context);
  a_plan_runs_on_four_devices(context, 0);
  a_plan_runs_on_four_devices(context, SHW_EXECUTOR_GRAPHS);
  graphs_are_an_option(context);
  shw_context_destroy(context);
  compiled_kernels_are_kept();
  results_may_be_made_to_repeat();
  return test_result();
}
