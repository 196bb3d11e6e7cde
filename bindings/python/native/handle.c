#include "handle.h"

#include <pthread.h>

typedef struct handle {
  PyObject head;
  void* pointer;
  const handle_kind* kind;
  unsigned generation;
} handle;

static PyTypeObject* handle_type = NULL;
static unsigned generation = 0;
unsigned handle_generation(void) { return generation; }

static void count_fork(void) { ++generation; }

static void handle_dealloc(PyObject* self) {
  handle* h = (handle*)self;
  PyTypeObject* type = Py_TYPE(self);
  /* A child has none of its parent's threads: to stop them would wait forever. */
  const int foreign = h->kind->threads && h->generation != generation;
  if (h->pointer != NULL && !foreign) {
    if (h->kind->blocks) {
      Py_BEGIN_ALLOW_THREADS;
      h->kind->destroy(h->pointer);
      Py_END_ALLOW_THREADS;
    } else {
      h->kind->destroy(h->pointer);
    }
  }
  PyObject_Free(self);
  Py_DECREF(type);
}

static PyObject* handle_repr(PyObject* self) {
  const handle* h = (handle*)self;
  return PyUnicode_FromFormat("<shardwise handle of a %s at %p>", h->kind->name, h->pointer);
}

static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void*)handle_dealloc},
    {Py_tp_repr, (void*)handle_repr},
    {Py_tp_doc, (void*)"A handle of the C library."},
    {0, NULL},
};
static PyType_Spec spec = {"shardwise._clib.Handle", sizeof(handle), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int handle_init(PyObject* module) {
  if (handle_type == NULL) {
    handle_type = (PyTypeObject*)PyType_FromSpec(&spec);
    if (handle_type == NULL) return -1;
    pthread_atfork(NULL, NULL, count_fork);
  }
  return PyModule_AddObjectRef(module, "Handle", (PyObject*)handle_type);
}

PyObject* handle_new(void* pointer, const handle_kind* kind) {
  handle* h = PyObject_New(handle, handle_type);
  if (h == NULL) {
    kind->destroy(pointer);
    return NULL;
  }
  h->pointer = pointer;
  h->kind = kind;
  h->generation = generation;
  return (PyObject*)h;
}

void* handle_get(PyObject* object, const handle_kind* kind) {
  const handle* h = (const handle*)object;
  if (object == Py_None) return NULL;
  if (Py_TYPE(object) != handle_type || h->kind != kind) {
    PyErr_Format(PyExc_TypeError, "expected a handle of a %s, not %R", kind->name, object);
    return NULL;
  }
  if (kind->threads && h->generation != generation) {
    PyErr_Format(
        PyExc_RuntimeError,
        "this %s was made before the process forked, and its threads are not in the child: "
        "make a new one after the fork",
        kind->name);
    return NULL;
  }
  return h->pointer;
}

void handle_take_back(PyObject* object) { ((handle*)object)->pointer = NULL; }
