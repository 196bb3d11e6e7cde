#include "error.h"

static PyObject* factory = NULL;

PyObject* error_set_factory(PyObject* function) {
  Py_XDECREF(factory);
  factory = Py_NewRef(function);
  Py_RETURN_NONE;
}

static PyObject* conflicts_of(const shw_status* status) {
  const size_t count = shw_status_num_conflicts(status);
  PyObject* list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < count; ++i) {
    PyObject* name = PyUnicode_FromString(shw_status_conflict(status, i));
    if (name == NULL || PyList_Append(list, name) != 0) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  return list;
}

void error_set(shw_status* status) {
  const size_t node = shw_status_node_index(status);
  const Py_ssize_t index = node == SHW_NONE ? -1 : (Py_ssize_t)node;
  PyObject* conflicts = conflicts_of(status);
  PyObject* error = NULL;
  if (conflicts != NULL && factory != NULL) {
    error = PyObject_CallFunction(factory, "isnsOsi", (int)shw_status_code(status),
                                  shw_status_message(status), index, shw_status_node_name(status),
                                  conflicts, shw_status_source_file(status),
                                  (int)shw_status_source_line(status));
  } else if (conflicts != NULL) {
    PyErr_SetString(PyExc_RuntimeError, shw_status_message(status));
  }
  shw_status_destroy(status);
  if (error != NULL) PyErr_SetObject((PyObject*)Py_TYPE(error), error);
  Py_XDECREF(error);
  Py_XDECREF(conflicts);
}
