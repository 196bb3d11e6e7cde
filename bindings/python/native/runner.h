/*
 * Runs of a plan on the local ranks of a world: shardwise._clib.Runner. One call of Python is one
 * run: it views or cuts the inputs, enqueues on every local rank, waits, and puts the outputs
 * together.
 */
#ifndef SHARDWISE_PYTHON_RUNNER_H_
#define SHARDWISE_PYTHON_RUNNER_H_

#include <Python.h>

/* Adds the type to the module. 0, or -1 with an exception. */
int runner_init(PyObject* module);

#endif /* SHARDWISE_PYTHON_RUNNER_H_ */
