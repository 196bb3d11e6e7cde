/*
 * The end of a run on the local ranks. Runs and the runner share it: it is counted. All of it is
 * used with the GIL held, which waits release.
 */
#ifndef SHARDWISE_PYTHON_END_OF_RUN_H_
#define SHARDWISE_PYTHON_END_OF_RUN_H_

#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#include "shardwise/shardwise.h"

typedef struct end_of_run {
  int references;
  uint64_t epoch; /* of the runner: runs that share their failures */
  size_t num_ranks;
  shw_event* events[]; /* NULL: the run did not begin there */
} end_of_run;

/* Without events yet; NULL where there is no memory. */
end_of_run* end_of_run_new(size_t num_ranks, uint64_t epoch);
end_of_run* end_of_run_keep(end_of_run* end);
void end_of_run_drop(end_of_run* end); /* NULL is allowed */

/* Whether it has come on all ranks. */
int end_of_run_has_come(const end_of_run* end);

/* Waits for it; `timeout_ns` negative: no limit. Lets Python handle signals meanwhile. 1: it has
 * come, and `failed` says whether a rank failed. 0: not in this time. -1: a signal's exception. */
int end_of_run_wait(const end_of_run* end, int64_t timeout_ns, int* failed);

/* Once it has come: NULL for success; otherwise the status that tells the cause. */
shw_status* end_of_run_cause(const end_of_run* end);

/* Puts `callable` into the queue of ends when the end has come. 0, or -1 with an exception. */
int end_of_run_notify(const end_of_run* end, PyObject* callable);

/* Waits for the queue of ends, and takes what was put there first; None once it is closed and
 * empty. One thread calls it. */
PyObject* end_of_run_next(void);
void end_of_run_close_queue(void);

#endif /* SHARDWISE_PYTHON_END_OF_RUN_H_ */
