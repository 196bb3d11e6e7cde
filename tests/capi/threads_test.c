/* Eight threads share a context and a plan, and compile, load, save and query at the same time.
 * TSan detects races. In every build, equal input must give equal bytes on all threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <string.h>

#include "calls.h"
#include "mlp.h"
#include "testing.h"

enum { NUM_THREADS = 8, ROUNDS = 3 };

typedef struct shared {
  shw_context* context;
  const shw_plan* plan;
  shw_blob *graph, *bytes;
} shared;

/* Counts errors instead of reporting them, since testing.h supports only one thread. */
static int g_wrong[NUM_THREADS];
typedef struct work {
  const shared* s;
  int* wrong;
} work;

static int failed(shw_status* status) {
  const int is_error = status != NULL;
  shw_status_destroy(status);
  return is_error;
}

static int saves_equal(const shw_plan* plan, const shw_blob* bytes) {
  shw_blob* blob = NULL;
  int equal;
  if (failed(shw_plan_save(plan, &blob))) return 0;
  equal = shw_blob_size(blob) == shw_blob_size(bytes) &&
          memcmp(shw_blob_data(blob), shw_blob_data(bytes), shw_blob_size(bytes)) == 0;
  shw_blob_destroy(blob);
  return equal;
}

static void* use(void* argument) {
  const work* w = (const work*)argument;
  const shared* s = w->s;
  int round;
  for (round = 0; round < ROUNDS; ++round) {
    shw_mesh_axis axes[2];
    const shw_compile_options options = mlp_options(axes, 2, 4);
    shw_plan *compiled = NULL, *loaded = NULL;
    shw_plan_summary mine = SHW_PLAN_SUMMARY_INIT, theirs = SHW_PLAN_SUMMARY_INIT;
    *w->wrong += failed(shw_plan_compile(s->context, bytes_of(s->graph), &options, &compiled));
    *w->wrong += failed(shw_plan_load(s->context, bytes_of(s->bytes), &loaded));
    *w->wrong += !saves_equal(compiled, s->bytes) + !saves_equal(s->plan, s->bytes);
    *w->wrong += failed(shw_plan_get_summary(compiled, &mine));
    *w->wrong += failed(shw_plan_get_summary(s->plan, &theirs));
    *w->wrong += mine.objective_us != theirs.objective_us;
    *w->wrong += shw_plan_num_nodes(loaded) != shw_plan_num_nodes(s->plan);
    shw_plan_destroy(compiled);
    shw_plan_destroy(loaded);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[NUM_THREADS];
  work works[NUM_THREADS];
  shared s;
  int i;
  s.context = new_context();
  s.graph = mlp_graph(s.context);
  s.plan = mlp_plan(s.context, 2, 4);
  s.bytes = NULL;
  EXPECT_OK(shw_plan_save(s.plan, &s.bytes));
  for (i = 0; i < NUM_THREADS; ++i) {
    works[i].s = &s;
    works[i].wrong = &g_wrong[i];
    EXPECT(pthread_create(&threads[i], NULL, use, &works[i]) == 0);
  }
  for (i = 0; i < NUM_THREADS; ++i) {
    EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(g_wrong[i] == 0);
  }
  shw_blob_destroy(s.graph);
  shw_blob_destroy(s.bytes);
  shw_plan_destroy((shw_plan*)s.plan);
  shw_context_destroy(s.context);
  return test_result();
}
