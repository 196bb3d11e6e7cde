/* Planning on the host's threads. In whatever order the host runs the tasks, the answers must be
 * those of one thread. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <string.h>

#include "data.h"
#include "mlp.h"
#include "testing.h"

enum { MOST_TASKS = 100000, MOST_WORKERS = 4 };

/* How the host runs tasks. */
typedef enum policy { REFUSE, INLINE, NEVER, REVERSE, POOL } policy;

typedef struct host {
  policy policy;
  int num_workers;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  shw_task_fn run[MOST_TASKS];
  void* task[MOST_TASKS];
  size_t first, end; /* queued tasks */
  size_t submitted, in_time;
  int stop;
  pthread_t workers[MOST_WORKERS];
} host;

static int32_t submit(void* user, shw_task_fn run, void* task) {
  host* h = (host*)user;
  int32_t refused;
  pthread_mutex_lock(&h->mutex);
  ++h->submitted;
  refused = h->policy == REFUSE || h->end == MOST_TASKS;
  if (!refused && h->policy != INLINE) {
    h->run[h->end] = run;
    h->task[h->end++] = task;
    pthread_cond_signal(&h->changed);
  }
  pthread_mutex_unlock(&h->mutex);
  if (!refused && h->policy == INLINE) run(task);
  return refused;
}

/* Takes the next task: the oldest, or with policy REVERSE the newest. */
static size_t take(host* h) { return h->policy == REVERSE ? --h->end : h->first++; }

static void* work(void* user) {
  host* h = (host*)user;
  pthread_mutex_lock(&h->mutex);
  while (!h->stop) {
    if (h->first == h->end) {
      pthread_cond_wait(&h->changed, &h->mutex);
    } else {
      const size_t i = take(h);
      const shw_task_fn run = h->run[i];
      void* task = h->task[i];
      ++h->in_time;
      pthread_mutex_unlock(&h->mutex);
      run(task);
      pthread_mutex_lock(&h->mutex);
    }
  }
  pthread_mutex_unlock(&h->mutex);
  return NULL;
}

static void start(host* h, policy p, int num_workers) {
  int i;
  memset(h, 0, sizeof *h);
  h->policy = p;
  h->num_workers = num_workers;
  pthread_mutex_init(&h->mutex, NULL);
  pthread_cond_init(&h->changed, NULL);
  for (i = 0; i < num_workers; ++i) EXPECT(pthread_create(&h->workers[i], NULL, work, h) == 0);
}

/* Runs the remaining tasks after all calls have returned. */
static void finish(host* h) {
  int i;
  pthread_mutex_lock(&h->mutex);
  h->stop = 1;
  pthread_cond_broadcast(&h->changed);
  pthread_mutex_unlock(&h->mutex);
  for (i = 0; i < h->num_workers; ++i) pthread_join(h->workers[i], NULL);
  while (h->first < h->end) {
    const size_t t = take(h);
    h->run[t](h->task[t]);
  }
  pthread_cond_destroy(&h->changed);
  pthread_mutex_destroy(&h->mutex);
}

static shw_context* context_of(host* h) {
  shw_context_options options = SHW_CONTEXT_OPTIONS_INIT;
  shw_context* context = NULL;
  options.submit = h ? submit : NULL;
  options.submit_user = h;
  EXPECT_OK(shw_context_create(SHW_API_VERSION, &options, &context));
  return context;
}

/* A plan under a memory limit, which needs branch and bound; that part is parallel. */
static shw_blob* plan_bytes(shw_context* context, shw_bytes graph, int32_t num_threads) {
  const shw_mesh_axis mesh[2] = {{"dp", 2}, {"tp", 4}};
  shw_compile_options options = SHW_COMPILE_OPTIONS_INIT;
  shw_plan* plan = NULL;
  shw_blob* bytes = NULL;
  options.mesh_axes = mesh;
  options.num_mesh_axes = 2;
  options.num_threads = num_threads;
  options.param_budget = SHW_PARAM_BUDGET_FACTOR;
  options.param_budget_factor = 0.3;
  options.flags = SHW_COMPILE_NO_GRAPH;
  EXPECT_OK(shw_plan_compile(context, graph, &options, &plan));
  EXPECT_OK(shw_plan_save(plan, &bytes));
  shw_plan_destroy(plan);
  return bytes;
}

static int equal(const shw_blob* a, const shw_blob* b) {
  return shw_blob_size(a) == shw_blob_size(b) &&
         memcmp(shw_blob_data(a), shw_blob_data(b), shw_blob_size(a)) == 0;
}

/* Writes the best meshes, in order, to `text`. */
static void meshes(shw_context* context, shw_bytes graph, char* text, size_t size) {
  shw_search_options options = SHW_SEARCH_OPTIONS_INIT;
  shw_search_candidate candidate = SHW_SEARCH_CANDIDATE_INIT;
  shw_search* search = NULL;
  size_t i;
  text[0] = 0;
  options.num_devices = 4;
  options.num_threads = 3;
  EXPECT_OK(shw_search_create(context, graph, NULL, &options, &search));
  for (i = 0; i < shw_search_num_candidates(search); ++i) {
    EXPECT_OK(shw_search_get_candidate(search, i, &candidate));
    if (EXPECT(strlen(text) + strlen(candidate.mesh) + 2 < size)) {
      strcat(text, candidate.mesh);
      strcat(text, ";");
    }
  }
  shw_search_destroy(search);
}

int main(void) {
  static const struct {
    policy policy;
    int workers;
  } kHosts[] = {{REFUSE, 0}, {INLINE, 0}, {NEVER, 0}, {POOL, 1}, {POOL, 4}, {REVERSE, 2}};
  static host h;
  const shw_bytes file = read_data("examples/data/llama_tiny_2x4.graph.pre.json.gz");
  shw_context* context = context_of(NULL);
  shw_blob *graph = NULL, *small = mlp_graph(context), *alone;
  char order[256], other[256];
  size_t i;
  EXPECT_OK(shw_graph_import(context, SHW_GRAPH_FORMAT_FX_JSON, file, &graph));
  alone = plan_bytes(context, bytes_of(graph), 1);
  meshes(context, bytes_of(small), order, sizeof order);
  shw_context_destroy(context);
  for (i = 0; i < sizeof kHosts / sizeof kHosts[0]; ++i) {
    shw_blob *one, *many;
    size_t before;
    start(&h, kHosts[i].policy, kHosts[i].workers);
    context = context_of(&h);
    one = plan_bytes(context, bytes_of(graph), 1);
    EXPECT(h.submitted == 0); /* one thread means the caller's thread */
    many = plan_bytes(context, bytes_of(graph), 4);
    EXPECT(h.submitted > 0);
    EXPECT(equal(one, alone) && equal(many, alone));
    before = h.submitted;
    meshes(context, bytes_of(small), other, sizeof other);
    EXPECT(h.submitted > before && strcmp(order, other) == 0);
    shw_blob_destroy(one);
    shw_blob_destroy(many);
    shw_context_destroy(context);
    finish(&h);
  }
  shw_blob_destroy(alone);
  shw_blob_destroy(small);
  shw_blob_destroy(graph);
  free_data(file);
  return test_result();
}
