/* The whole path: build, compile, save, load, run on virtual ranks, and compare with plain loops.
 */
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

static void run_on(shw_context* context, const shw_plan* plan) {
  mlp_job job;
  if (mlp_job_create(context, plan, &job)) {
    mlp_job_run_and_check(plan, &job);
    mlp_job_run_and_check(plan, &job); /* the executors are reused */
  }
  mlp_job_destroy(&job);
}

static void saves_loads_and_runs(shw_context* context, int64_t dp, int64_t tp) {
  shw_plan* plan = mlp_plan(context, dp, tp);
  shw_plan* again = mlp_plan(context, dp, tp);
  shw_plan* loaded = NULL;
  shw_blob *first = NULL, *second = NULL, *third = NULL;
  EXPECT_OK(shw_plan_save(plan, &first));
  EXPECT_OK(shw_plan_save(again, &second));
  EXPECT_OK(shw_plan_load(context, bytes_of(first), &loaded));
  EXPECT_OK(shw_plan_save(loaded, &third));
  EXPECT(shw_blob_size(first) == shw_blob_size(second) &&
         memcmp(shw_blob_data(first), shw_blob_data(second), shw_blob_size(first)) == 0);
  EXPECT(shw_blob_size(first) == shw_blob_size(third) &&
         memcmp(shw_blob_data(first), shw_blob_data(third), shw_blob_size(first)) == 0);
  EXPECT(shw_plan_num_ranks(loaded) == (dp == 0 ? 1 : dp * tp));
  run_on(context, plan);
  run_on(context, loaded);
  shw_blob_destroy(first);
  shw_blob_destroy(second);
  shw_blob_destroy(third);
  shw_plan_destroy(plan);
  shw_plan_destroy(again);
  shw_plan_destroy(loaded);
}

int main(void) {
  shw_context* context = new_context();
  saves_loads_and_runs(context, 0, 0);
  saves_loads_and_runs(context, 2, 4);
  saves_loads_and_runs(context, 4, 2);
  saves_loads_and_runs(context, 1, 8);
  shw_context_destroy(context);
  return test_result();
}
