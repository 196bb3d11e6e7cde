/* Cancels a compilation at each of its progress calls in turn, by return value and by a flag. */
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

typedef struct counter {
  int calls, cancel_at; /* 1: at the first call; 0: never */
  shw_cancel* flag;     /* if set, the callback raises it instead of returning non-zero */
  int in_order;
  double elapsed_s;
} counter;

static int32_t on_progress(void* user, const shw_progress* progress) {
  counter* c = (counter*)user;
  c->in_order &= progress->struct_size >= sizeof *progress && progress->phase[0] != '\0' &&
                 progress->elapsed_s >= c->elapsed_s && progress->bound_us <= progress->best_us;
  c->elapsed_s = progress->elapsed_s;
  if (++c->calls != c->cancel_at) return 0;
  if (c->flag == NULL) return 1;
  shw_cancel_raise(c->flag);
  return 0;
}

static shw_code compile(shw_context* context, const shw_blob* graph, counter* c) {
  shw_mesh_axis axes[2];
  shw_compile_options options = mlp_options(axes, 2, 4);
  shw_plan* plan = (shw_plan*)&axes;
  shw_status* status;
  shw_code code;
  options.progress = on_progress;
  options.progress_user = c;
  options.cancel = c->flag;
  status = shw_plan_compile(context, bytes_of(graph), &options, &plan);
  code = shw_status_code(status);
  EXPECT((plan != NULL) == (code == SHW_OK));
  EXPECT(c->in_order);
  shw_plan_destroy(plan);
  shw_status_destroy(status);
  return code;
}

int main(void) {
  shw_context* context = new_context();
  shw_blob* graph = mlp_graph(context);
  counter all = {0, 0, NULL, 1, 0};
  shw_cancel* raised = NULL;
  int k;
  EXPECT(compile(context, graph, &all) == SHW_OK);
  EXPECT(all.calls >= 6); /* at least one call for each phase */
  for (k = 1; k <= all.calls; ++k) {
    counter by_return = {0, 0, NULL, 1, 0}, by_flag = {0, 0, NULL, 1, 0};
    by_return.cancel_at = by_flag.cancel_at = k;
    EXPECT(compile(context, graph, &by_return) == SHW_CANCELLED);
    EXPECT(by_return.calls == k); /* no more calls after that one */
    EXPECT_OK(shw_cancel_create(&by_flag.flag));
    EXPECT(compile(context, graph, &by_flag) == SHW_CANCELLED);
    EXPECT(by_flag.calls == k);
    shw_cancel_destroy(by_flag.flag);
  }
  EXPECT_OK(shw_cancel_create(&raised));
  shw_cancel_raise(raised);
  all.flag = raised;
  all.calls = 0;
  all.elapsed_s = 0;
  EXPECT(compile(context, graph, &all) == SHW_CANCELLED && all.calls == 0);
  shw_cancel_destroy(raised);
  shw_blob_destroy(graph);
  shw_context_destroy(context);
  return test_result();
}
