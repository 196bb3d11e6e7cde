/* CUDA devices through the interface of C: the library opens the plug-in, and the plug-in the fakes
 * of NVIDIA's libraries, which LD_LIBRARY_PATH names. */
#include <string.h>

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

static void a_plan_runs_on_four_devices(shw_context* context) {
  shw_plan* plan = mlp_plan(context, 2, 2);
  mlp_job job;
  int repeat;
  if (plan == NULL) return;
  if (mlp_job_create_on(context, plan, SHW_DEVICE_CUDA, &job))
    for (repeat = 0; repeat < 3; ++repeat) mlp_job_run_and_check(plan, &job);
  mlp_job_destroy(&job);
  shw_plan_destroy(plan);
}

int main(void) {
  shw_context* context = new_context();
  a_device_says_what_it_is(context);
  a_buffer_is_written_and_read(context);
  a_plan_runs_on_four_devices(context);
  shw_context_destroy(context);
  return test_result();
}
