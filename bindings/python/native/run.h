/* A run that was started and is waited for later: shardwise._clib.Run. */
#ifndef SHARDWISE_PYTHON_RUN_H_
#define SHARDWISE_PYTHON_RUN_H_

#include <Python.h>

#include "one_run.h"

/* Adds the type to the module. 0, or -1 with an exception. */
int run_init(PyObject* module);

/* A new run that has not begun. It keeps `runner` alive. NULL with an exception. */
PyObject* run_new(PyObject* runner);

/* The one_run inside a Run object. */
one_run* run_in(PyObject* run);

#endif /* SHARDWISE_PYTHON_RUN_H_ */
