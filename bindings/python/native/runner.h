/*
 * The local ranks of a world as one: shardwise._clib.Runner. It starts runs on all of them, waits,
 * and makes them usable again after failures.
 */
#ifndef SHARDWISE_PYTHON_RUNNER_H_
#define SHARDWISE_PYTHON_RUNNER_H_

#include <Python.h>
#include <stdint.h>

/* Adds the type to the module. 0, or -1 with an exception. */
int runner_init(PyObject* module);

/* Call when a run of this epoch is known to have failed: the next run begins a new epoch. */
void runner_saw_failure(PyObject* runner, uint64_t epoch);

#endif /* SHARDWISE_PYTHON_RUNNER_H_ */
