#include "runner.h"

#include <pythread.h>
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "error.h"
#include "kinds.h"
#include "memory.h"
#include "ports.h"
#include "tensor.h"

typedef struct runner {
  PyObject head;
  PyObject* plan_handle;
  PyObject* executor_handles; /* tuple */
  PyObject* device_handle;    /* NULL: closed */
  const shw_plan* plan;
  shw_executor** executors;
  int32_t* ranks;
  size_t num_ranks; /* local */
  int stopping;
  int all_local;
  int in_place;        /* the device uses host memory: pieces and results need no copy */
  entry_info* entries; /* read when an entry is run for the first time */
  size_t num_entries;
  PyThread_type_lock lock; /* an executor takes calls of one thread at a time */
} runner;

/* One run: what must be given back when it has ended, however it ends. */
typedef struct one_run {
  entry_info* entry;
  tensor_view* views;   /* of inputs that are viewed */
  shw_buffer** inputs;  /* num_ranks × num_inputs */
  char* owned;          /* which of the inputs this run made */
  shw_buffer** outputs; /* num_ranks × num_outputs */
  shw_event** events;   /* num_ranks */
  size_t num_views;
} one_run;

/* ---- The lock -------------------------------------------------------------------------------- */

/* Whether the executors can be used: not closed, not of a parent process. 0, or -1. */
static int check_usable(runner* self) {
  if (self->executor_handles == NULL || self->stopping) {
    PyErr_SetString(PyExc_RuntimeError, "the executor was closed");
    return -1;
  }
  for (Py_ssize_t r = 0; r < (Py_ssize_t)self->num_ranks; ++r) {
    if (handle_get(PyTuple_GetItem(self->executor_handles, r), &kind_executor) != NULL) continue;
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "None is no executor");
    return -1;
  }
  return 0;
}

static void lock(runner* self) {
  if (PyThread_acquire_lock(self->lock, NOWAIT_LOCK)) return;
  Py_BEGIN_ALLOW_THREADS;
  PyThread_acquire_lock(self->lock, WAIT_LOCK);
  Py_END_ALLOW_THREADS;
}
static void unlock(runner* self) { PyThread_release_lock(self->lock); }

/* Locks executors that can be used. In a child process the lock may be held by a thread that is not
 * there, so this is asked first. 0, or -1 with an exception: then nothing is locked. */
static int enter(runner* self) {
  if (check_usable(self) != 0) return -1;
  lock(self);
  if (check_usable(self) == 0) return 0;
  unlock(self); /* another thread closed it meanwhile */
  return -1;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static PyObject* new_runner(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  PyObject *plan, *executors, *ranks, *device;
  int in_place;
  (void)keywords;
  if (!PyArg_ParseTuple(args, "OO!O!Op", &plan, &PyTuple_Type, &executors, &PyTuple_Type, &ranks,
                        &device, &in_place))
    return NULL;
  runner* self = (runner*)PyType_GenericAlloc(type, 0);
  if (self == NULL) return NULL;
  self->lock = PyThread_allocate_lock();
  self->plan = handle_get(plan, &kind_plan);
  self->num_ranks = (size_t)PyTuple_Size(executors);
  self->executors = calloc(self->num_ranks + 1, sizeof *self->executors);
  self->ranks = calloc(self->num_ranks + 1, sizeof *self->ranks);
  self->num_entries = shw_plan_num_entries(self->plan);
  self->entries = calloc(self->num_entries + 1, sizeof *self->entries);
  if (self->lock == NULL || self->executors == NULL || self->ranks == NULL || self->entries == NULL)
    PyErr_NoMemory();
  for (size_t r = 0; !PyErr_Occurred() && r < self->num_ranks; ++r) {
    self->executors[r] = handle_get(PyTuple_GetItem(executors, (Py_ssize_t)r), &kind_executor);
    self->ranks[r] = (int32_t)PyLong_AsLong(PyTuple_GetItem(ranks, (Py_ssize_t)r));
  }
  if (!PyErr_Occurred() && (self->plan == NULL || handle_get(device, &kind_device) == NULL) &&
      !PyErr_Occurred())
    PyErr_SetString(PyExc_TypeError, "a plan and a device are needed");
  if (PyErr_Occurred()) {
    Py_DECREF(self);
    return NULL;
  }
  self->in_place = in_place;
  self->all_local = (int32_t)self->num_ranks == shw_plan_num_ranks(self->plan);
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
  free(self->executors);
  free(self->ranks);
  if (self->lock != NULL) PyThread_free_lock(self->lock);
  Py_XDECREF(self->executor_handles);
  Py_XDECREF(self->device_handle);
  Py_XDECREF(self->plan_handle);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/* ---- Inputs ---------------------------------------------------------------------------------- */

static PyObject* shape_of(const int64_t* dims, int32_t rank) {
  return memory_from_int64s(dims, (size_t)rank);
}

static int check_shape(const port_info* port, const shw_tensor* tensor) {
  int same = tensor->rank == port->rank;
  for (int32_t d = 0; same && d < port->rank; ++d) same = tensor->dims[d] == port->dims[d];
  if (same) return 0;
  PyObject* want = shape_of(port->dims, port->rank);
  PyObject* have = shape_of(tensor->dims, tensor->rank);
  if (want != NULL && have != NULL)
    PyErr_Format(PyExc_ValueError, "%s: expected the shape %R, not %R", port->name, want, have);
  Py_XDECREF(want);
  Py_XDECREF(have);
  return -1;
}

/* A piece of a viewed tensor: its memory in place where that is possible, otherwise a copy. */
static shw_status* make_piece(runner* self, const port_info* port, size_t r,
                              const shw_tensor* whole, shw_device* device, shw_buffer** piece) {
  const size_t alignment = dtype_size(port->dtype);
  if (self->in_place && port->places != NULL && port->piece_bytes > 0 && tensor_is_dense(whole) &&
      (uintptr_t)whole->data % (alignment > 4 ? alignment : 4) == 0) {
    const shw_tensor part = {(char*)whole->data + port->places[r] * port->piece_bytes,
                             port->local_dims,
                             NULL,
                             port->rank,
                             port->dtype,
                             0,
                             0};
    return shw_buffer_import(device, &part, SHW_BORROW_UNTIL_RELEASE, NULL, NULL, piece);
  }
  return shw_plan_shard(self->plan, port->port, self->ranks[r], whole, device, piece);
}

/* Pieces that the caller made: a tuple of handles. 0, or -1 with an exception. */
static int take_pieces(runner* self, one_run* run, size_t i, PyObject* pieces) {
  if ((size_t)PyTuple_Size(pieces) != self->num_ranks) {
    PyErr_Format(PyExc_ValueError, "%s: expected %zu pieces, one for each local rank, not %zd",
                 run->entry->inputs[i].name, self->num_ranks, PyTuple_Size(pieces));
    return -1;
  }
  for (size_t r = 0; r < self->num_ranks; ++r) {
    const shw_buffer* piece = handle_get(PyTuple_GetItem(pieces, (Py_ssize_t)r), &kind_buffer);
    if (piece == NULL && PyErr_Occurred()) return -1;
    run->inputs[r * run->entry->num_inputs + i] = piece;
  }
  return 0;
}

static int open_inputs(runner* self, one_run* run, PyObject* inputs) {
  const size_t count = run->entry->num_inputs;
  if ((size_t)PyList_Size(inputs) != count) {
    PyErr_Format(PyExc_ValueError, "expected %zu inputs, not %zd", count, PyList_Size(inputs));
    return -1;
  }
  for (size_t i = 0; i < count; ++i) {
    const port_info* port = &run->entry->inputs[i];
    PyObject* object = PyList_GetItem(inputs, (Py_ssize_t)i);
    tensor_view* view = &run->views[run->num_views];
    if (!port->present) continue;
    if (PyTuple_Check(object)) {
      if (take_pieces(self, run, i, object) != 0) return -1;
      continue;
    }
    if (tensor_view_open(object, port->dtype, port->name, view) != 0) return -1;
    ++run->num_views;
    if (check_shape(port, &view->tensor) != 0) return -1;
  }
  return 0;
}

/* Without the GIL. */
static shw_status* make_pieces(runner* self, one_run* run, shw_device* device) {
  size_t v = 0;
  for (size_t i = 0; i < run->entry->num_inputs; ++i) {
    const port_info* port = &run->entry->inputs[i];
    if (!port->present || run->inputs[i] != NULL) continue;
    const shw_tensor* whole = &run->views[v++].tensor;
    for (size_t r = 0; r < self->num_ranks; ++r) {
      const size_t at = r * run->entry->num_inputs + i;
      shw_buffer* piece = NULL;
      shw_status* status = make_piece(self, port, r, whole, device, &piece);
      if (status != NULL) return status;
      run->inputs[at] = piece;
      run->owned[at] = 1;
    }
  }
  return NULL;
}

/* ---- The run --------------------------------------------------------------------------------- */

/* Without the GIL. If a rank cannot begin, those that have begun are stopped. */
static shw_status* enqueue(runner* self, one_run* run, size_t entry, shw_session* const* sessions) {
  for (size_t r = 0; r < self->num_ranks; ++r) {
    shw_run call = SHW_RUN_INIT;
    call.entry = entry;
    call.inputs = run->inputs + r * run->entry->num_inputs;
    call.num_inputs = run->entry->num_inputs;
    call.outputs = run->outputs + r * run->entry->num_outputs;
    call.num_outputs = run->entry->num_outputs;
    call.session = sessions == NULL ? NULL : sessions[r];
    shw_status* status = shw_executor_enqueue(self->executors[r], &call, &run->events[r]);
    if (status != NULL) {
      for (size_t begun = 0; begun < r; ++begun) shw_executor_abort(self->executors[begun]);
      return status;
    }
  }
  return NULL;
}

/* A rank that failed on its own says more than those that it took along. */
static int says_more(const shw_status* status) {
  const shw_code code = shw_status_code(status);
  return code != SHW_ABORTED && code != SHW_CANCELLED;
}

/* Waits for every rank. NULL, or the status that tells the cause. Every 50 ms it lets Python handle
 * signals; an exception, such as KeyboardInterrupt, stops the run and is left set. */
static shw_status* wait_for_all(runner* self, one_run* run) {
  const int64_t slice_ns = 50 * 1000 * 1000;
  shw_status* cause = NULL;
  int interrupted = 0;
  for (size_t r = 0; r < self->num_ranks; ++r) {
    while (run->events[r] != NULL) {
      /* Asked before: a run that ends right after a wait timed out has another result than that. */
      const int ended = shw_event_query(run->events[r]);
      shw_status* status;
      Py_BEGIN_ALLOW_THREADS;
      status = shw_event_wait(run->events[r], slice_ns);
      Py_END_ALLOW_THREADS;
      if (status != NULL && !ended) {
        shw_status_destroy(status);
        if (!interrupted && PyErr_CheckSignals() != 0) {
          interrupted = 1;
          for (size_t other = 0; other < self->num_ranks; ++other)
            shw_executor_abort(self->executors[other]);
        }
        continue;
      }
      if (status != NULL && (cause == NULL || (says_more(status) && !says_more(cause)))) {
        shw_status_destroy(cause);
        cause = status;
      } else {
        shw_status_destroy(status);
      }
      break;
    }
  }
  return cause;
}

static void reset_all(runner* self) {
  if (!self->all_local) return; /* the other processes must call it too: Executor.reset() */
  Py_BEGIN_ALLOW_THREADS;
  for (size_t r = 0; r < self->num_ranks; ++r) shw_executor_reset(self->executors[r]);
  Py_END_ALLOW_THREADS;
}

/* ---- Outputs --------------------------------------------------------------------------------- */

/* The whole tensor of an output, without a copy where every rank has it. */
static PyObject* whole_output(runner* self, one_run* run, size_t o) {
  const port_info* port = &run->entry->outputs[o];
  const size_t count = run->entry->num_outputs;
  shw_buffer* whole = NULL;
  if (self->in_place && port->whole_is_piece) {
    whole = run->outputs[o];
    run->outputs[o] = NULL; /* the tensor's from now on */
    return tensor_from_buffer(whole);
  }
  shw_buffer** pieces = calloc(self->num_ranks, sizeof *pieces);
  if (pieces == NULL) return PyErr_NoMemory();
  for (size_t r = 0; r < self->num_ranks; ++r) pieces[r] = run->outputs[r * count + o];
  shw_status* status;
  Py_BEGIN_ALLOW_THREADS;
  status = shw_plan_gather(self->plan, port->port, pieces, self->num_ranks, &whole);
  Py_END_ALLOW_THREADS;
  free(pieces);
  if (status == NULL) return tensor_from_buffer(whole);
  error_set(status);
  return NULL;
}

/* The pieces of the local ranks: a tuple of handles. */
static PyObject* output_pieces(runner* self, one_run* run, size_t o) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)self->num_ranks);
  for (size_t r = 0; tuple != NULL && r < self->num_ranks; ++r) {
    shw_buffer** piece = &run->outputs[r * run->entry->num_outputs + o];
    PyObject* handle = handle_new(*piece, &kind_buffer);
    *piece = NULL;
    if (handle == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)r, handle) != 0) Py_CLEAR(tuple);
  }
  return tuple;
}

static PyObject* take_outputs(runner* self, one_run* run, int gather) {
  PyObject* list = PyList_New((Py_ssize_t)run->entry->num_outputs);
  for (size_t o = 0; list != NULL && o < run->entry->num_outputs; ++o) {
    PyObject* output;
    if (!run->entry->outputs[o].present)
      output = Py_NewRef(Py_None);
    else if (gather &&
             (self->all_local || (self->in_place && run->entry->outputs[o].whole_is_piece)))
      output = whole_output(self, run, o);
    else
      output = output_pieces(self, run, o);
    if (output == NULL || PyList_SetItem(list, (Py_ssize_t)o, output) != 0) Py_CLEAR(list);
  }
  return list;
}

/* ---- Runner.run ------------------------------------------------------------------------------ */

/* All arrays of a run are one block. 0, or -1 with an exception. */
static int begin(runner* self, one_run* run, entry_info* entry) {
  const size_t pieces = self->num_ranks * entry->num_inputs;
  const size_t outputs = self->num_ranks * entry->num_outputs;
  char* block = calloc(1, entry->num_inputs * sizeof(tensor_view) +
                              (pieces + outputs + self->num_ranks + 1) * sizeof(void*) + pieces);
  if (block == NULL) {
    PyErr_NoMemory();
    return -1;
  }
  run->entry = entry;
  run->views = (tensor_view*)block;
  run->inputs = (const shw_buffer**)(run->views + entry->num_inputs);
  run->outputs = (shw_buffer**)(run->inputs + pieces);
  run->events = (shw_event**)(run->outputs + outputs);
  run->owned = (char*)(run->events + self->num_ranks);
  return 0;
}

static void end(runner* self, one_run* run) {
  for (size_t i = 0; i < self->num_ranks * run->entry->num_inputs; ++i)
    if (run->owned[i]) shw_buffer_destroy((shw_buffer*)run->inputs[i]);
  for (size_t o = 0; o < self->num_ranks * run->entry->num_outputs; ++o)
    shw_buffer_destroy(run->outputs[o]);
  for (size_t r = 0; r < self->num_ranks; ++r) shw_event_destroy(run->events[r]);
  for (size_t v = 0; v < run->num_views; ++v) tensor_view_close(&run->views[v]);
  free(run->views);
}

static entry_info* find_entry(runner* self, Py_ssize_t number) {
  if (number < 0 || (size_t)number >= self->num_entries) {
    PyErr_Format(PyExc_IndexError, "there is no entry number %zd", number);
    return NULL;
  }
  entry_info* entry = &self->entries[number];
  if (entry->inputs != NULL) return entry;
  shw_status* status = entry_read(self->plan, (size_t)number, self->ranks, self->num_ranks, entry);
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
  if (!PyTuple_Check(handles) || (size_t)PyTuple_Size(handles) != self->num_ranks) {
    PyErr_SetString(PyExc_TypeError, "expected a session of this executor");
    return -1;
  }
  *sessions = calloc(self->num_ranks, sizeof **sessions);
  for (size_t r = 0; *sessions != NULL && r < self->num_ranks; ++r) {
    (*sessions)[r] = handle_get(PyTuple_GetItem(handles, (Py_ssize_t)r), &kind_session);
    if ((*sessions)[r] == NULL) {
      free(*sessions);
      return -1;
    }
  }
  return 0;
}

static PyObject* run_locked(runner* self, size_t number, entry_info* entry, shw_session** sessions,
                            PyObject* inputs, int gather) {
  one_run run = {0};
  shw_device* device = handle_get(self->device_handle, &kind_device);
  if (begin(self, &run, entry) != 0) return NULL;
  PyObject* result = NULL;
  shw_status* status;
  if (open_inputs(self, &run, inputs) == 0) {
    int begun = 0;
    Py_BEGIN_ALLOW_THREADS;
    status = make_pieces(self, &run, device);
    if (status == NULL) {
      begun = 1;
      status = enqueue(self, &run, number, sessions);
    }
    Py_END_ALLOW_THREADS;
    shw_status* late = begun ? wait_for_all(self, &run) : NULL;
    if (begun && (status != NULL || late != NULL || PyErr_Occurred())) {
      PyObject *type, *value, *trace;
      PyErr_Fetch(&type, &value, &trace);
      if (run.events[0] != NULL) reset_all(self);
      PyErr_Restore(type, value, trace);
    }
    if (PyErr_Occurred()) {
      shw_status_destroy(status);
      shw_status_destroy(late);
    } else if (status != NULL) {
      error_set(status);
      shw_status_destroy(late);
    } else if (late != NULL) {
      error_set(late);
    } else {
      result = take_outputs(self, &run, gather);
    }
  }
  end(self, &run);
  return result;
}

/* run(entry: int, inputs: list, sessions: tuple | None, gather: bool) -> list */
static PyObject* run(PyObject* object, PyObject* const* args, Py_ssize_t count) {
  runner* self = (runner*)object;
  if (count != 4 || !PyList_Check(args[1])) {
    PyErr_SetString(PyExc_TypeError, "expected (entry, list of inputs, sessions, gather)");
    return NULL;
  }
  const Py_ssize_t number = PyLong_AsSsize_t(args[0]);
  if (number == -1 && PyErr_Occurred()) return NULL;
  if (enter(self) != 0) return NULL;
  PyObject* result = NULL;
  shw_session** sessions = NULL;
  entry_info* entry;
  if ((entry = find_entry(self, number)) != NULL && find_sessions(self, args[2], &sessions) == 0)
    result = run_locked(self, (size_t)number, entry, sessions, args[1], PyObject_IsTrue(args[3]));
  free(sessions);
  unlock(self);
  return result;
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
  if (!PyErr_Occurred()) {
    lock(self);
    Py_BEGIN_ALLOW_THREADS;
    status = shw_plan_gather(self->plan, (size_t)port, pieces, count, &whole);
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
  PyObject* tuple = PyTuple_New((Py_ssize_t)self->num_ranks);
  for (size_t r = 0; tuple != NULL && r < self->num_ranks; ++r) {
    shw_session* made = NULL;
    PyObject* handle = NULL;
    shw_status* status = shw_session_create(self->executors[r], &made);
    if (status != NULL)
      error_set(status);
    else
      handle = handle_new(made, &kind_session);
    if (handle == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)r, handle) != 0) Py_CLEAR(tuple);
  }
  unlock(self);
  return tuple;
}

/* Stops what runs, from any thread: the run raises. */
static PyObject* abort_runs(PyObject* object, PyObject* unused) {
  runner* self = (runner*)object;
  (void)unused;
  if (check_usable(self) != 0) return NULL;
  for (size_t r = 0; r < self->num_ranks; ++r) shw_executor_abort(self->executors[r]);
  Py_RETURN_NONE;
}

static PyObject* reset(PyObject* object, PyObject* unused) {
  runner* self = (runner*)object;
  (void)unused;
  lock(self);
  const int usable = check_usable(self) == 0;
  if (usable) {
    Py_BEGIN_ALLOW_THREADS;
    for (size_t r = 0; r < self->num_ranks; ++r) shw_executor_reset(self->executors[r]);
    Py_END_ALLOW_THREADS;
  }
  unlock(self);
  if (!usable) return NULL;
  Py_RETURN_NONE;
}

/* Gives the executors up; waits for a run of another thread. */
static PyObject* close_runner(PyObject* object, PyObject* unused) {
  runner* self = (runner*)object;
  (void)unused;
  lock(self);
  PyObject* handles = self->executor_handles;
  self->executor_handles = NULL;
  unlock(self);
  Py_XDECREF(handles);
  Py_RETURN_NONE;
}

/* As close, at the end of the process: stops a run of another thread, and lets none begin. Threads
 * of ranks must not compute while the process tears down the libraries that they use. */
static PyObject* stop(PyObject* object, PyObject* unused) {
  runner* self = (runner*)object;
  self->stopping = 1;
  for (size_t r = 0; self->executor_handles != NULL && r < self->num_ranks; ++r)
    shw_executor_abort(self->executors[r]);
  return close_runner(object, unused);
}

static PyObject* get_closed(PyObject* object, void* unused) {
  (void)unused;
  return PyBool_FromLong(((runner*)object)->executor_handles == NULL);
}

static PyMethodDef methods[] = {
    {"run", (PyCFunction)(void (*)(void))run, METH_FASTCALL, NULL},
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
