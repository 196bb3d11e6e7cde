/*
 * The end of a run on the local ranks. Reference-counted, because runs and the runner share it. All
 * functions require the GIL; those that wait release it meanwhile.
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

/* A new object without events; NULL if memory ran out. */
end_of_run* end_of_run_new(size_t num_ranks, uint64_t epoch);
end_of_run* end_of_run_keep(end_of_run* end);
void end_of_run_drop(end_of_run* end); /* NULL is allowed */

/* Whether the run has ended on all ranks. */
int end_of_run_has_come(const end_of_run* end);

/* Waits for the end; `timeout_ns` negative: no limit. Lets Python handle signals meanwhile. Returns
 * 1: the run has ended, and `failed` says whether a rank failed; 0: time-out; -1: a signal handler
 * raised an exception. */
int end_of_run_wait(const end_of_run* end, int64_t timeout_ns, int* failed);

/* Call after the end. NULL for success; otherwise the status with the cause. */
shw_status* end_of_run_cause(const end_of_run* end);

/* Puts `callable` into the queue of ends when the run has ended. 0, or -1 with an exception. */
int end_of_run_notify(const end_of_run* end, PyObject* callable);

/* Waits until the queue of ends has an element, and removes the oldest one; None once the queue is
 * closed and empty. Only one thread may call it. */
PyObject* end_of_run_next(void);
void end_of_run_close_queue(void);

#endif /* SHARDWISE_PYTHON_END_OF_RUN_H_ */
