#include "end_of_run.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "error.h"

end_of_run* end_of_run_new(size_t num_ranks, uint64_t epoch) {
  end_of_run* end = calloc(1, sizeof *end + num_ranks * sizeof *end->events);
  if (end == NULL) return NULL;
  end->references = 1;
  end->epoch = epoch;
  end->num_ranks = num_ranks;
  return end;
}

end_of_run* end_of_run_keep(end_of_run* end) {
  ++end->references;
  return end;
}

void end_of_run_drop(end_of_run* end) {
  if (end == NULL || --end->references > 0) return;
  for (size_t r = 0; r < end->num_ranks; ++r) shw_event_destroy(end->events[r]);
  free(end);
}

/* ---- Waiting --------------------------------------------------------------------------------- */

int end_of_run_has_come(const end_of_run* end) {
  for (size_t r = 0; r < end->num_ranks; ++r)
    if (!shw_event_query(end->events[r])) return 0;
  return 1;
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Waits for ranks from number `rank` on, up to `limit_ns` for the first that has not ended: its
 * number is the answer. Without the GIL. */
static size_t wait_for_ranks(const end_of_run* end, size_t rank, int64_t limit_ns, int* failed) {
  for (; rank < end->num_ranks; ++rank) {
    if (end->events[rank] == NULL) continue;
    shw_status* status = shw_event_wait(end->events[rank], limit_ns);
    if (status == NULL) continue;
    shw_status_destroy(status);
    if (!shw_event_query(end->events[rank])) return rank;
    /* It may have ended after the wait, and well. */
    status = shw_event_wait(end->events[rank], -1);
    *failed = *failed || status != NULL;
    shw_status_destroy(status);
  }
  return rank;
}

int end_of_run_wait(const end_of_run* end, int64_t timeout_ns, int* failed) {
  const int64_t slice_ns = 50 * 1000 * 1000;
  const int64_t began = timeout_ns > 0 ? now_ns() : 0;
  size_t rank = 0;
  *failed = 0;
  while (1) {
    int64_t left = slice_ns;
    if (timeout_ns >= 0) {
      left = timeout_ns == 0 ? 0 : timeout_ns - (now_ns() - began);
      if (left < 0) left = 0;
      if (left > slice_ns) left = slice_ns;
    }
    Py_BEGIN_ALLOW_THREADS;
    rank = wait_for_ranks(end, rank, left, failed);
    Py_END_ALLOW_THREADS;
    if (rank == end->num_ranks) return 1;
    if (PyErr_CheckSignals() != 0) return -1;
    if (left == 0) return 0;
  }
}

/* The error of a rank that failed on its own names the cause; other ranks failed because of it. */
static int says_more(const shw_status* status) {
  const shw_code code = shw_status_code(status);
  return code != SHW_ABORTED && code != SHW_CANCELLED;
}

shw_status* end_of_run_cause(const end_of_run* end) {
  shw_status* cause = NULL;
  for (size_t r = 0; r < end->num_ranks; ++r) {
    if (end->events[r] == NULL) continue;
    shw_status* status = shw_event_wait(end->events[r], -1);
    if (status != NULL && (cause == NULL || (says_more(status) && !says_more(cause)))) {
      shw_status_destroy(cause);
      cause = status;
    } else {
      shw_status_destroy(status);
    }
  }
  return cause;
}

/* ---- The queue of ends -----------------------------------------------------------------------
 *
 * Threads of the library must not wait for the GIL, so they call no Python: they put what is to be
 * called into a queue, and a thread of Python calls it. */

typedef struct ending {
  struct ending* next;
  PyObject* callable; /* NULL: not to be called */
  atomic_size_t left; /* ranks that have not ended, and one while they are asked to tell */
} ending;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static ending *first = NULL, *last = NULL;
static int closed = 0;

/* In a forked process, which has neither the threads that fill the queue nor the one that empties
 * it. */
static void begin_anew(void) {
  const pthread_mutex_t new_mutex = PTHREAD_MUTEX_INITIALIZER;
  const pthread_cond_t new_changed = PTHREAD_COND_INITIALIZER;
  mutex = new_mutex;
  changed = new_changed;
  first = last = NULL;
  closed = 0;
}

static void register_fork(void) { pthread_atfork(NULL, NULL, begin_anew); }

static void count_down(ending* item, size_t count) {
  if (atomic_fetch_sub(&item->left, count) != count) return;
  if (item->callable == NULL) {
    free(item);
    return;
  }
  pthread_mutex_lock(&mutex);
  if (last == NULL)
    first = item;
  else
    last->next = item;
  last = item;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
}

static void rank_ended(void* user, shw_code code) {
  (void)code;
  count_down(user, 1);
}

int end_of_run_notify(const end_of_run* end, PyObject* callable) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, register_fork);
  ending* item = calloc(1, sizeof *item);
  if (item == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  item->callable = Py_NewRef(callable);
  atomic_init(&item->left, end->num_ranks + 1);
  shw_status* status = NULL;
  size_t asked = 0;
  while (asked < end->num_ranks &&
         (status = shw_event_notify(end->events[asked], rank_ended, item)) == NULL)
    ++asked;
  if (status != NULL) Py_CLEAR(item->callable);
  count_down(item, end->num_ranks - asked + 1);
  if (status == NULL) return 0;
  error_set(status);
  return -1;
}

PyObject* end_of_run_next(void) {
  ending* item;
  Py_BEGIN_ALLOW_THREADS;
  pthread_mutex_lock(&mutex);
  while (first == NULL && !closed) pthread_cond_wait(&changed, &mutex);
  item = first;
  if (item != NULL) first = item->next;
  if (first == NULL) last = NULL;
  pthread_mutex_unlock(&mutex);
  Py_END_ALLOW_THREADS;
  if (item == NULL) Py_RETURN_NONE;
  PyObject* callable = item->callable;
  free(item);
  return callable;
}

void end_of_run_close_queue(void) {
  pthread_mutex_lock(&mutex);
  closed = 1;
  pthread_cond_signal(&changed);
  pthread_mutex_unlock(&mutex);
}
