/* Statuses of the library as exceptions. */
#ifndef SHARDWISE_PYTHON_ERROR_H_
#define SHARDWISE_PYTHON_ERROR_H_

#include <Python.h>

#include "shardwise/shardwise.h"

/* Sets the exception for `status`, and destroys the status. Calls the factory that shardwise.errors
 * registered. */
void error_set(shw_status* status);

/* The function that makes an exception of (code, message, node_index, node_name, conflicts,
 * source). */
PyObject* error_set_factory(PyObject* factory);

#endif /* SHARDWISE_PYTHON_ERROR_H_ */
