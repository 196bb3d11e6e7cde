#include "one_run.h"

#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "error.h"
#include "kinds.h"
#include "memory.h"

/* All arrays of a run are one block. */
int one_run_begin(one_run* run, const local_ranks* on, const entry_info* entry, uint64_t epoch) {
  const size_t pieces = on->count * entry->num_inputs;
  const size_t outputs = on->count * entry->num_outputs;
  run->on = on;
  run->entry = entry;
  run->end = end_of_run_new(on->count, epoch);
  char* block = calloc(
      1, entry->num_inputs * sizeof(tensor_view) + (pieces + outputs + 1) * sizeof(void*) + pieces);
  if (block == NULL || run->end == NULL) {
    free(block);
    PyErr_NoMemory();
    return -1;
  }
  run->views = (tensor_view*)block;
  run->inputs = (shw_buffer**)(run->views + entry->num_inputs);
  run->outputs = (shw_buffer**)(run->inputs + pieces);
  run->owned = (char*)(run->outputs + outputs);
  return 0;
}

void one_run_free(one_run* run) {
  end_of_run_drop(run->end);
  if (run->views == NULL) return;
  one_run_close_inputs(run);
  for (size_t o = 0; o < run->on->count * run->entry->num_outputs; ++o)
    shw_buffer_destroy(run->outputs[o]);
  free(run->views);
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
static shw_status* make_piece(const local_ranks* on, const port_info* port, size_t r,
                              const shw_tensor* whole, shw_device* device, int may_lend,
                              shw_buffer** piece) {
  const size_t alignment = dtype_size(port->dtype);
  if (may_lend && on->in_place && port->places != NULL && port->piece_bytes > 0 &&
      tensor_is_dense(whole) && (uintptr_t)whole->data % (alignment > 4 ? alignment : 4) == 0) {
    const shw_tensor part = {(char*)whole->data + port->places[r] * port->piece_bytes,
                             port->local_dims,
                             NULL,
                             port->rank,
                             port->dtype,
                             0,
                             0};
    return shw_buffer_import(device, &part, SHW_BORROW_UNTIL_RELEASE, NULL, NULL, piece);
  }
  return shw_plan_shard(on->plan, port->port, on->ranks[r], whole, device, piece);
}

/* Pieces that the caller made: a tuple of handles. 0, or -1 with an exception. */
static int take_pieces(one_run* run, size_t i, PyObject* pieces) {
  if ((size_t)PyTuple_Size(pieces) != run->on->count) {
    PyErr_Format(PyExc_ValueError, "%s: expected %zu pieces, one for each local rank, not %zd",
                 run->entry->inputs[i].name, run->on->count, PyTuple_Size(pieces));
    return -1;
  }
  for (size_t r = 0; r < run->on->count; ++r) {
    shw_buffer* piece = handle_get(PyTuple_GetItem(pieces, (Py_ssize_t)r), &kind_buffer);
    if (piece == NULL && PyErr_Occurred()) return -1;
    run->inputs[r * run->entry->num_inputs + i] = piece;
  }
  return 0;
}

int one_run_open_inputs(one_run* run, PyObject* inputs) {
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
      if (take_pieces(run, i, object) != 0) return -1;
      continue;
    }
    if (tensor_view_open(object, port->dtype, port->name, view) != 0) return -1;
    ++run->num_views;
    if (check_shape(port, &view->tensor) != 0) return -1;
  }
  return 0;
}

void one_run_close_inputs(one_run* run) {
  for (size_t i = 0; i < run->on->count * run->entry->num_inputs; ++i)
    if (run->owned[i]) shw_buffer_destroy(run->inputs[i]);
  memset(run->owned, 0, run->on->count * run->entry->num_inputs);
  for (size_t v = 0; v < run->num_views; ++v) tensor_view_close(&run->views[v]);
  run->num_views = 0;
}

shw_status* one_run_make_pieces(one_run* run, shw_device* device, int may_lend) {
  size_t v = 0;
  for (size_t i = 0; i < run->entry->num_inputs; ++i) {
    const port_info* port = &run->entry->inputs[i];
    if (!port->present || run->inputs[i] != NULL) continue;
    const shw_tensor* whole = &run->views[v++].tensor;
    for (size_t r = 0; r < run->on->count; ++r) {
      const size_t at = r * run->entry->num_inputs + i;
      shw_buffer* piece = NULL;
      shw_status* status = make_piece(run->on, port, r, whole, device, may_lend, &piece);
      if (status != NULL) return status;
      run->inputs[at] = piece;
      run->owned[at] = 1;
    }
  }
  return NULL;
}

/* ---- Starting -------------------------------------------------------------------------------- */

shw_status* one_run_enqueue(one_run* run, size_t entry, shw_session* const* sessions) {
  for (size_t r = 0; r < run->on->count; ++r) {
    shw_run call = SHW_RUN_INIT;
    call.entry = entry;
    call.inputs = run->inputs + r * run->entry->num_inputs;
    call.num_inputs = run->entry->num_inputs;
    call.outputs = run->outputs + r * run->entry->num_outputs;
    call.num_outputs = run->entry->num_outputs;
    call.session = sessions == NULL ? NULL : sessions[r];
    shw_status* status = shw_executor_enqueue(run->on->executors[r], &call, &run->end->events[r]);
    if (status != NULL) {
      for (size_t begun = 0; begun < r; ++begun) shw_executor_abort(run->on->executors[begun]);
      return status;
    }
  }
  return NULL;
}

/* ---- Outputs --------------------------------------------------------------------------------- */

/* The whole tensor of an output, without a copy where every rank has it. */
static PyObject* whole_output(one_run* run, size_t o) {
  const port_info* port = &run->entry->outputs[o];
  const size_t count = run->entry->num_outputs;
  shw_buffer* whole = NULL;
  if (run->on->in_place && port->whole_is_piece) {
    whole = run->outputs[o];
    run->outputs[o] = NULL; /* the tensor's from now on */
    return tensor_from_buffer(whole);
  }
  shw_buffer** pieces = calloc(run->on->count, sizeof *pieces);
  if (pieces == NULL) return PyErr_NoMemory();
  for (size_t r = 0; r < run->on->count; ++r) pieces[r] = run->outputs[r * count + o];
  shw_status* status;
  Py_BEGIN_ALLOW_THREADS;
  status = shw_plan_gather(run->on->plan, port->port, pieces, run->on->count, &whole);
  Py_END_ALLOW_THREADS;
  free(pieces);
  if (status == NULL) return tensor_from_buffer(whole);
  error_set(status);
  return NULL;
}

/* The pieces of the local ranks: a tuple of handles. */
static PyObject* output_pieces(one_run* run, size_t o) {
  PyObject* tuple = PyTuple_New((Py_ssize_t)run->on->count);
  for (size_t r = 0; tuple != NULL && r < run->on->count; ++r) {
    shw_buffer** piece = &run->outputs[r * run->entry->num_outputs + o];
    PyObject* handle = handle_new(*piece, &kind_buffer);
    *piece = NULL;
    if (handle == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)r, handle) != 0) Py_CLEAR(tuple);
  }
  return tuple;
}

PyObject* one_run_take_outputs(one_run* run, int gather) {
  PyObject* list = PyList_New((Py_ssize_t)run->entry->num_outputs);
  for (size_t o = 0; list != NULL && o < run->entry->num_outputs; ++o) {
    PyObject* output;
    if (!run->entry->outputs[o].present)
      output = Py_NewRef(Py_None);
    else if (gather &&
             (run->on->are_all || (run->on->in_place && run->entry->outputs[o].whole_is_piece)))
      output = whole_output(run, o);
    else
      output = output_pieces(run, o);
    if (output == NULL || PyList_SetItem(list, (Py_ssize_t)o, output) != 0) Py_CLEAR(list);
  }
  return list;
}
