#include "run.h"

#include "error.h"
#include "handle.h"
#include "runner.h"

typedef struct pending {
  PyObject head;
  PyObject* runner;
  unsigned generation; /* of the process: its threads are not in a child */
  one_run run;
  int taken; /* the outputs */
} pending;

static PyTypeObject* run_type = NULL;

PyObject* run_new(PyObject* runner) {
  pending* self = (pending*)PyType_GenericAlloc(run_type, 0);
  if (self == NULL) return NULL;
  self->runner = Py_NewRef(runner);
  self->generation = handle_generation();
  return (PyObject*)self;
}

one_run* run_in(PyObject* run) { return &((pending*)run)->run; }

/* Does not stop the run: the library keeps references to all that the run uses. */
static void dealloc(PyObject* object) {
  pending* self = (pending*)object;
  PyTypeObject* type = Py_TYPE(object);
  one_run_free(&self->run);
  Py_XDECREF(self->runner);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

static int check_process(const pending* self) {
  if (self->generation == handle_generation()) return 0;
  PyErr_SetString(PyExc_RuntimeError,
                  "this run was started before the process forked, and its threads are not in the "
                  "child");
  return -1;
}

/* wait(timeout_ns: int) -> bool: whether the run has ended; negative: no limit. */
static PyObject* wait(PyObject* object, PyObject* argument) {
  pending* self = (pending*)object;
  const long long timeout_ns = PyLong_AsLongLong(argument);
  if ((timeout_ns == -1 && PyErr_Occurred()) || check_process(self) != 0) return NULL;
  int failed;
  const int come = end_of_run_wait(self->run.end, timeout_ns, &failed);
  if (come < 0) return NULL;
  if (come && failed) runner_saw_failure(self->runner, self->run.end->epoch);
  return PyBool_FromLong(come);
}

/* take(gather: bool) -> list: the outputs of a run that has ended, once; or raises its error. */
static PyObject* take(PyObject* object, PyObject* gather) {
  pending* self = (pending*)object;
  if (check_process(self) != 0) return NULL;
  if (self->taken || !end_of_run_has_come(self->run.end)) {
    PyErr_SetString(PyExc_RuntimeError,
                    self->taken ? "the outputs were taken" : "the run has not ended");
    return NULL;
  }
  shw_status* status = end_of_run_cause(self->run.end);
  if (status != NULL) {
    error_set(status);
    return NULL;
  }
  self->taken = 1;
  return one_run_take_outputs(&self->run, PyObject_IsTrue(gather));
}

static PyObject* done(PyObject* object, PyObject* unused) {
  pending* self = (pending*)object;
  (void)unused;
  if (check_process(self) != 0) return NULL;
  return PyBool_FromLong(end_of_run_has_come(self->run.end));
}

/* notify(callable): puts it into the queue of ends when the run has ended. */
static PyObject* notify(PyObject* object, PyObject* callable) {
  pending* self = (pending*)object;
  if (check_process(self) != 0 || end_of_run_notify(self->run.end, callable) != 0) return NULL;
  Py_RETURN_NONE;
}

/* next_end() -> callable | None: end_of_run_next(). */
static PyObject* next_end(PyObject* unused, PyObject* unused_too) {
  (void)unused;
  (void)unused_too;
  return end_of_run_next();
}

static PyObject* close_queue(PyObject* unused, PyObject* unused_too) {
  (void)unused;
  (void)unused_too;
  end_of_run_close_queue();
  Py_RETURN_NONE;
}

static PyObject* get_epoch(PyObject* object, void* unused) {
  (void)unused;
  return PyLong_FromUnsignedLongLong(((pending*)object)->run.end->epoch);
}

static PyMethodDef methods[] = {
    {"wait", wait, METH_O, NULL},
    {"take", take, METH_O, NULL},
    {"done", done, METH_NOARGS, NULL},
    {"notify", notify, METH_O, NULL},
    {"next_end", next_end, METH_NOARGS | METH_STATIC, NULL},
    {"close_queue", close_queue, METH_NOARGS | METH_STATIC, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef getters[] = {
    {"epoch", get_epoch, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void*)dealloc},
    {Py_tp_methods, (void*)methods},
    {Py_tp_getset, (void*)getters},
    {Py_tp_doc, (void*)"A run of a plan that was started."},
    {0, NULL},
};
static PyType_Spec spec = {"shardwise._clib.Run", sizeof(pending), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int run_init(PyObject* module) {
  if (run_type == NULL) {
    run_type = (PyTypeObject*)PyType_FromSpec(&spec);
    if (run_type == NULL) return -1;
  }
  return PyModule_AddObjectRef(module, "Run", (PyObject*)run_type);
}
