#include "runner.h"

#include <pythread.h>
#include <stdlib.h>

#include "end_of_run.h"
#include "error.h"
#include "kinds.h"
#include "memory.h"
#include "one_run.h"
#include "run.h"
#include "tensor.h"

/*
 * The runner of C (shardwise/runner.h) has no sessions, no ranks in other processes, and copies all
 * inputs. This one has them, and lends memory in place; what both say of failures is the same.
 */
typedef struct runner {
  PyObject head;
  PyObject* plan_handle;
  PyObject* executor_handles; /* tuple */
  PyObject* device_handle;    /* NULL: closed */
  local_ranks local;
  int stopping;
  entry_info* entries; /* read when an entry is run for the first time */
  size_t num_entries;
  PyThread_type_lock lock; /* while something is put on the executors, which take one thread */
  size_t max_in_flight;
  end_of_run** ends; /* of the last max_in_flight runs; run number n has place n % max_in_flight */
  size_t num_runs;
  /* After a failure that somebody has seen, executors must be reset before anything else. All runs
   * between two resets are an epoch: failures of earlier ones say nothing about this one. */
  int failed;
  uint64_t epoch;
} runner;

/* ---- The lock -------------------------------------------------------------------------------- */

/* Whether the executors can be used: not closed, not of a parent process. 0, or -1. */
static int check_usable(runner* self) {
  if (self->executor_handles == NULL || self->stopping) {
    PyErr_SetString(PyExc_RuntimeError, "the executor was closed");
    return -1;
  }
  for (Py_ssize_t r = 0; r < (Py_ssize_t)self->local.count; ++r) {
    if (handle_get(PyTuple_GetItem(self->executor_handles, r), &kind_executor) != NULL) continue;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "None is no executor");
    return -1;
  }
  return 0;
}

/* Lets Python handle signals while it waits. 0, or -1 with an exception: then nothing is locked. */
static int lock(runner* self) {
  const long long slice_us = 50 * 1000;
  PyLockStatus got =
      PyThread_acquire_lock(self->lock, NOWAIT_LOCK) ? PY_LOCK_ACQUIRED : PY_LOCK_FAILURE;
  while (got != PY_LOCK_ACQUIRED) {
    Py_BEGIN_ALLOW_THREADS;
    got = PyThread_acquire_lock_timed(self->lock, slice_us, 1);
    Py_END_ALLOW_THREADS;
    if (got != PY_LOCK_ACQUIRED && PyErr_CheckSignals() != 0) return -1;
  }
  return 0;
}
static void unlock(runner* self) { PyThread_release_lock(self->lock); }

/* Locks executors that can be used. In a child process the lock may be held by a thread that is not
 * there, so this is asked first. 0, or -1 with an exception: then nothing is locked. */
static int enter(runner* self) {
  if (check_usable(self) != 0 || lock(self) != 0) return -1;
  if (check_usable(self) == 0) return 0;
  unlock(self); /* another thread closed it meanwhile */
  return -1;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static PyObject* new_runner(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  PyObject *plan, *executors, *ranks, *device;
  int in_place, max_in_flight;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "OO!O!Opi", &plan, &PyTuple_Type, &executors, &PyTuple_Type, &ranks,
                        &device, &in_place, &max_in_flight))
    return NULL;
  runner* self = (runner*)PyType_GenericAlloc(type, 0);
  if (self == NULL) return NULL;
  self->lock = PyThread_allocate_lock();
  self->local.plan = handle_get(plan, &kind_plan);
  self->local.count = (size_t)PyTuple_Size(executors);
  self->local.executors = calloc(self->local.count + 1, sizeof *self->local.executors);
  self->local.ranks = calloc(self->local.count + 1, sizeof *self->local.ranks);
  self->num_entries = shw_plan_num_entries(self->local.plan);
  self->entries = calloc(self->num_entries + 1, sizeof *self->entries);
  self->max_in_flight = max_in_flight > 0 ? (size_t)max_in_flight : 1;
  self->ends = calloc(self->max_in_flight, sizeof *self->ends);
  if (self->lock == NULL || self->ends == NULL || self->local.executors == NULL ||
      self->local.ranks == NULL || self->entries == NULL)
    PyErr_NoMemory();
  for (size_t r = 0; !PyErr_Occurred() && r < self->local.count; ++r) {
    self->local.executors[r] =
        handle_get(PyTuple_GetItem(executors, (Py_ssize_t)r), &kind_executor);
    self->local.ranks[r] = (int32_t)PyLong_AsLong(PyTuple_GetItem(ranks, (Py_ssize_t)r));
  }
  if (!PyErr_Occurred() && (self->local.plan == NULL || handle_get(device, &kind_device) == NULL) &&
      !PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "a plan and a device are needed");
  if (PyErr_Occurred()) {
    Py_DECREF(self);
    return NULL;
  }
  self->local.in_place = in_place;
  self->local.are_all = (int32_t)self->local.count == shw_plan_num_ranks(self->local.plan);
  self->plan_handle = Py_NewRef(plan);
  self->executor_handles = Py_NewRef(executors);
  self->device_handle = Py_NewRef(device);
  return (PyObject*)self;
}

static void dealloc(PyObject* object) {
  runner* self = (runner*)object;
  PyTypeObject* type = Py_TYPE(object);
  for (size_t e = 0; self->entries != NULL && e < self->num_entries; ++e)
    entry_free(&self->entries[e]);
  free(self->entries);
  for (size_t i = 0; self->ends != NULL && i < self->max_in_flight; ++i)
    end_of_run_drop(self->ends[i]);
  free(self->ends);
  free(self->local.executors);
  free(self->local.ranks);
  if (self->lock != NULL) PyThread_free_lock(self->lock);
  Py_XDECREF(self->executor_handles);
  Py_XDECREF(self->device_handle);
  Py_XDECREF(self->plan_handle);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/* ---- Failures, and runs in flight ------------------------------------------------------------ */

static void abort_all(runner* self) {
  for (size_t r = 0; self->executor_handles != NULL && r < self->local.count; ++r)
    shw_executor_abort(self->local.executors[r]);
  self->failed = 1;
}

static void reset_all(runner* self) {
  self->failed = 0; /* first: an abort meanwhile is noted for the next call */
  ++self->epoch;
  Py_BEGIN_ALLOW_THREADS;
  for (size_t r = 0; r < self->local.count; ++r) shw_executor_reset(self->local.executors[r]);
  Py_END_ALLOW_THREADS;
}

void runner_saw_failure(PyObject* object, uint64_t epoch) {
  runner* self = (runner*)object;
  if (epoch == self->epoch) self->failed = 1;
}

/* Waits until the run that was started `back` runs ago has ended. 0, or -1 with an exception. */
static int wait_for_earlier(runner* self, size_t back) {
  int failed;
  if (self->num_runs < back) return 0;
  end_of_run* end = self->ends[(self->num_runs - back) % self->max_in_flight];
  if (end == NULL) return 0;
  end_of_run_keep(end);
  const int come = end_of_run_wait(end, -1, &failed);
  end_of_run_drop(end);
  return come < 0 ? -1 : 0;
}

/* Waits to the end whatever happens: the run may use memory of the caller. A signal's exception
 * stops it and is left set. Whether a rank failed. */
static int wait_to_the_end(runner* self, const one_run* run) {
  PyObject *type = NULL, *value = NULL, *trace = NULL;
  int failed;
  while (end_of_run_wait(run->end, -1, &failed) < 0) {
    if (type != NULL) {
      PyErr_Clear(); /* the first says enough */
      continue;
    }
    PyErr_Fetch(&type, &value, &trace);
    abort_all(self);
  }
  if (type != NULL) PyErr_Restore(type, value, trace);
  return failed;
}

/* ---- Runs ------------------------------------------------------------------------------------ */

typedef struct request {
  Py_ssize_t entry;
  PyObject *inputs, *sessions;
  int may_lend;
} request;

static entry_info* find_entry(runner* self, Py_ssize_t number) {
  if (number < 0 || (size_t)number >= self->num_entries) {
    PyErr_Format(PyExc_IndexError, "there is no entry number %zd", number);
    return NULL;
  }
  entry_info* entry = &self->entries[number];
  if (entry->inputs != NULL) return entry;
  shw_status* status =
      entry_read(self->local.plan, (size_t)number, self->local.ranks, self->local.count, entry);
  if (status == NULL && entry->inputs != NULL && entry->outputs != NULL) return entry;
  if (status != NULL)
    error_set(status);
  else
    PyErr_NoMemory();
  entry_free(entry);
  return NULL;
}

/* Sessions of the local ranks: None, or a tuple of handles. 0, or -1 with an exception. */
static int find_sessions(runner* self, PyObject* handles, shw_session*** sessions) {
  *sessions = NULL;
  if (handles == Py_None) return 0;
  if (!PyTuple_Check(handles) || (size_t)PyTuple_Size(handles) != self->local.count) {
    PyErr_SetString(PyExc_TypeError, "expected a session of this executor");
    return -1;
  }
  *sessions = calloc(self->local.count, sizeof **sessions);
  for (size_t r = 0; *sessions != NULL && r < self->local.count; ++r) {
    (*sessions)[r] = handle_get(PyTuple_GetItem(handles, (Py_ssize_t)r), &kind_session);
    if ((*sessions)[r] == NULL) {
      free(*sessions);
      return -1;
    }
  }
  return 0;
}

/* The first arguments of run and start. 0, or -1 with an exception. */
static int read_request(PyObject* const* args, Py_ssize_t count, Py_ssize_t expected,
                        const char* what, request* asked) {
  if (count != expected || !PyList_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, what);
    return -1;
  }
  asked->entry = PyLong_AsSsize_t(args[0]);
  asked->inputs = args[1];
  asked->sessions = args[2];
  return asked->entry == -1 && PyErr_Occurred() ? -1 : 0;
}

/* Puts a run on all local ranks, with the lock held. 0; or -1 with an exception, and nothing of the
 * run is under way. */
static int begin_locked(runner* self, const request* asked, one_run* run) {
  shw_device* device = handle_get(self->device_handle, &kind_device);
  shw_session** sessions = NULL;
  shw_status* status;
  int enqueued = 0;
  const entry_info* entry = find_entry(self, asked->entry);
  if (entry == NULL || wait_for_earlier(self, self->max_in_flight) != 0) return -1;
  /* Other processes must do it, too: Executor.reset(). */
  if (self->failed && self->local.are_all) reset_all(self);
  if (one_run_begin(run, &self->local, entry, self->epoch) != 0 ||
      one_run_open_inputs(run, asked->inputs) != 0 ||
      find_sessions(self, asked->sessions, &sessions) != 0)
    return -1;
  Py_BEGIN_ALLOW_THREADS;
  status = one_run_make_pieces(run, device, asked->may_lend);
  enqueued = status == NULL;
  if (enqueued) status = one_run_enqueue(run, (size_t)asked->entry, sessions);
  Py_END_ALLOW_THREADS;
  free(sessions);
  if (status == NULL) {
    end_of_run** place = &self->ends[self->num_runs++ % self->max_in_flight];
    end_of_run_drop(*place);
    *place = end_of_run_keep(run->end);
    return 0;
  }
  if (enqueued) {
    self->failed = 1; /* it may be the error of an earlier run */
    wait_to_the_end(self, run);
  }
  if (PyErr_Occurred())
    shw_status_destroy(status);
  else
    error_set(status);
  return -1;
}

static int begin(runner* self, const request* asked, one_run* run) {
  if (enter(self) != 0) return -1;
  const int result = begin_locked(self, asked, run);
  unlock(self);
  return result;
}

/* run(entry: int, inputs: list, sessions: tuple | None, gather: bool) -> list */
static PyObject* run(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  runner* self = (runner*)object;
  request asked = {0, NULL, NULL, 1};
  one_run made = {0};
  PyObject* outputs = NULL;
  if (read_request(args, count, 4, "expected (entry, list of inputs, sessions, gather)", &asked))
    return NULL;
  if (begin(self, &asked, &made) == 0) {
    const int failed = wait_to_the_end(self, &made);
    if (failed) runner_saw_failure(object, made.end->epoch);
    if (!PyErr_Occurred()) {
      if (failed)
        error_set(end_of_run_cause(made.end));
      else
        outputs = one_run_take_outputs(&made, PyObject_IsTrue(args[3]));
    }
  }
  one_run_free(&made);
  return outputs;
}

/* start(entry: int, inputs: list, sessions: tuple | None) -> Run. Inputs are copied. */
static PyObject* start(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  request asked = {0, NULL, NULL, 0};
  if (read_request(args, count, 3, "expected (entry, list of inputs, sessions)", &asked))
    return NULL;
  PyObject* made = run_new(object);
  if (made == NULL) return NULL;
  if (begin((runner*)object, &asked, run_in(made)) != 0) {
    Py_DECREF(made);
    return NULL;
  }
  one_run_close_inputs(run_in(made));
  return made;
}

/* ---- Other methods --------------------------------------------------------------------------- */

/* gather(port: int, pieces: tuple) -> Tensor */
static PyObject* gather(PyObject* object, PyObject* args) {
  runner* self = (runner*)object;
  Py_ssize_t port;
  PyObject* tuple;
  if (!PyArg_ParseTuple(args, "nO!", &port, &PyTuple_Type, &tuple)) return NULL;
  const size_t count = (size_t)PyTuple_Size(tuple);
  shw_buffer** pieces = calloc(count + 1, sizeof *pieces);
  if (pieces == NULL) return PyErr_NoMemory();
  for (size_t r = 0; r < count && !PyErr_Occurred(); ++r)
    pieces[r] = handle_get(PyTuple_GetItem(tuple, (Py_ssize_t)r), &kind_buffer);
  shw_buffer* whole = NULL;
  shw_status* status = NULL;
  if (!PyErr_Occurred() && lock(self) == 0) {
    Py_BEGIN_ALLOW_THREADS;
    status = shw_plan_gather(self->local.plan, (size_t)port, pieces, count, &whole);
    Py_END_ALLOW_THREADS;
    unlock(self);
  }
  free(pieces);
  if (status != NULL) error_set(status);
  return whole == NULL ? NULL : tensor_from_buffer(whole);
}

/* piece(handle) -> Tensor: a copy of one rank's piece. */
static PyObject* piece(PyObject* object, PyObject* handle) {
  shw_tensor tensor;
  (void)object;
  const shw_buffer* buffer = handle_get(handle, &kind_buffer);
  if (buffer == NULL && PyErr_Occurred()) return NULL;
  shw_status* status = shw_buffer_get_tensor(buffer, &tensor);
  if (status == NULL) return tensor_copy(&tensor);
  error_set(status);
  return NULL;
}

/* session() -> tuple: a new session of every local rank. */
static PyObject* session(PyObject* object, PyObject* unused) {
  runner* self = (runner*)object;
  (void)unused;
  if (enter(self) != 0) return NULL;
  PyObject* tuple = PyTuple_New((Py_ssize_t)self->local.count);
  for (size_t r = 0; tuple != NULL && r < self->local.count; ++r) {
    shw_session* made = NULL;
    PyObject* handle = NULL;
    shw_status* status = shw_session_create(self->local.executors[r], &made);
    if (status != NULL)
      error_set(status);
    else
      handle = handle_new(made, &kind_session);
    if (handle == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)r, handle) != 0) Py_CLEAR(tuple);
  }
  unlock(self);
  return tuple;
}

/* Stops all runs, from any thread; they raise. */
static PyObject* abort_runs(PyObject* object, PyObject* unused) {
  runner* self = (runner*)object;
  (void)unused;
  if (check_usable(self) != 0) return NULL;
  abort_all(self);
  Py_RETURN_NONE;
}

static PyObject* reset(PyObject* object, PyObject* unused) {
  runner* self = (runner*)object;
  (void)unused;
  if (enter(self) != 0) return NULL;
  const int waited = wait_for_earlier(self, 1);
  if (waited == 0) reset_all(self);
  unlock(self);
  if (waited != 0) return NULL;
  Py_RETURN_NONE;
}

/* Waits for the runs in flight, then destroys the executors. */
static PyObject* close_runner(PyObject* object, PyObject* unused) {
  runner* self = (runner*)object;
  (void)unused;
  if (lock(self) != 0) return NULL;
  const int waited = wait_for_earlier(self, 1);
  PyObject* handles = self->executor_handles;
  if (waited == 0) self->executor_handles = NULL;
  unlock(self);
  if (waited != 0) return NULL;
  Py_XDECREF(handles);
  Py_RETURN_NONE;
}

/* As close, at the end of the process: stops runs in flight, and lets none begin. Threads of ranks
 * must not compute while the process tears down the libraries that they use. */
static PyObject* stop(PyObject* object, PyObject* unused) {
  runner* self = (runner*)object;
  self->stopping = 1;
  abort_all(self);
  return close_runner(object, unused);
}

static PyObject* get_closed(PyObject* object, void* unused) {
  (void)unused;
  return PyBool_FromLong(((runner*)object)->executor_handles == NULL);
}

static PyObject* get_epoch(PyObject* object, void* unused) {
  (void)unused;
  return PyLong_FromUnsignedLongLong(((runner*)object)->epoch);
}

static PyMethodDef methods[] = {
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL, NULL},
    {"start", (PyCFunction)(void (*)(void))start, METH_FASTCALL, NULL},
    {"gather", gather, METH_VARARGS, NULL},
    {"piece", piece, METH_O, NULL},
    {"session", session, METH_NOARGS, NULL},
    {"abort", abort_runs, METH_NOARGS, NULL},
    {"reset", reset, METH_NOARGS, NULL},
    {"close", close_runner, METH_NOARGS, NULL},
    {"stop", stop, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};
static PyGetSetDef getters[] = {
    {"closed", get_closed, NULL, NULL, NULL},
    {"epoch", get_epoch, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_new, (void*)new_runner},
    {Py_tp_dealloc, (void*)dealloc},
    {Py_tp_methods, (void*)methods},
    {Py_tp_getset, (void*)getters},
    {Py_tp_doc, (void*)"Runs a plan on the local ranks of a world."},
    {0, NULL},
};
static PyType_Spec spec = {"shardwise._clib.Runner", sizeof(runner), 0, Py_TPFLAGS_DEFAULT, slots};

int runner_init(PyObject* module) {
  PyObject* type = PyType_FromSpec(&spec);
  if (type == NULL) return -1;
  const int result = PyModule_AddObjectRef(module, "Runner", type);
  Py_DECREF(type);
  return result;
}
