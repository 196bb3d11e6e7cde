#include "memory.h"

#include <string.h>

const char* memory_text(PyObject* object) {
  if (object == Py_None) return NULL;
  if (!PyUnicode_Check(object)) {
    PyErr_Format(PyExc_TypeError, "expected a str or None, not %R", object);
    return NULL;
  }
  Py_ssize_t size = 0;
  const char* text = PyUnicode_AsUTF8AndSize(object, &size);
  if (text != NULL && strlen(text) != (size_t)size) {
    PyErr_SetString(PyExc_ValueError, "the str has a zero character");
    return NULL;
  }
  return text;
}

void* memory_of(PyObject* bytes) { return bytes == NULL ? NULL : PyBytes_AsString(bytes); }

/* Converts one item to the element at `to`: 0, or -1 with an exception. */
typedef int (*convert_fn)(PyObject* item, void* to);

static PyObject* convert(PyObject* sequence, size_t element, convert_fn item, size_t* count) {
  PyObject* list = PySequence_List(sequence);
  if (list == NULL) return NULL;
  const Py_ssize_t size = PyList_Size(list);
  PyObject* bytes = PyBytes_FromStringAndSize(NULL, size * (Py_ssize_t)element);
  for (Py_ssize_t i = 0; bytes != NULL && i < size; ++i)
    if (item(PyList_GetItem(list, i), PyBytes_AsString(bytes) + i * (Py_ssize_t)element) != 0)
      Py_CLEAR(bytes);
  Py_DECREF(list);
  if (bytes != NULL && count != NULL) *count = (size_t)size;
  return bytes;
}

static int to_int64(PyObject* item, void* to) {
  const long long value = PyLong_AsLongLong(item);
  if (value == -1 && PyErr_Occurred()) return -1;
  *(int64_t*)to = value;
  return 0;
}

static int to_index(PyObject* item, void* to) {
  size_t value = SHW_NONE;
  if (item != Py_None) {
    value = PyLong_AsSize_t(item);
    if (value == (size_t)-1 && PyErr_Occurred()) return -1;
  }
  *(size_t*)to = value;
  return 0;
}

static int to_text(PyObject* item, void* to) {
  const char* text = memory_text(item);
  *(const char**)to = text;
  return text == NULL && PyErr_Occurred() ? -1 : 0;
}

/* Attributes: the arrays of their numbers are appended to the list that holds them. */
static int to_attr(PyObject* item, void* to) {
  shw_attr* attr = to;
  const char* name;
  int kind;
  PyObject* value;
  memset(attr, 0, sizeof *attr);
  if (!PyArg_ParseTuple(item, "siO", &name, &kind, &value)) return -1;
  attr->name = name;
  attr->kind = kind;
  switch (kind) {
    case SHW_ATTR_KIND_FLOAT:
      attr->float_value = PyFloat_AsDouble(value);
      break;
    case SHW_ATTR_KIND_BOOL:
      attr->int_value = PyObject_IsTrue(value);
      break;
    case SHW_ATTR_KIND_INTS: /* the bytes of memory_int64s() */
      attr->ints = (const int64_t*)(const void*)PyBytes_AsString(value);
      attr->num_ints = (size_t)PyBytes_Size(value) / sizeof(int64_t);
      break;
    case SHW_ATTR_KIND_STRING:
    case SHW_ATTR_KIND_EXPR:
      attr->string = memory_text(value);
      break;
    default:
      attr->int_value = PyLong_AsLongLong(value);
  }
  return PyErr_Occurred() ? -1 : 0;
}

PyObject* memory_int64s(PyObject* sequence, size_t* count) {
  return convert(sequence, sizeof(int64_t), to_int64, count);
}
PyObject* memory_indices(PyObject* sequence, size_t* count) {
  return convert(sequence, sizeof(size_t), to_index, count);
}
PyObject* memory_texts(PyObject* sequence, size_t* count) {
  return convert(sequence, sizeof(char*), to_text, count);
}
PyObject* memory_attrs(PyObject* sequence, size_t* count) {
  return convert(sequence, sizeof(shw_attr), to_attr, count);
}

/* A tuple of `count` numbers that `get` makes. */
#define TUPLE_OF(values, count, make)                                                            \
  do {                                                                                           \
    if ((values) == NULL && (count) > 0) Py_RETURN_NONE;                                         \
    PyObject* tuple = PyTuple_New((Py_ssize_t)(count));                                          \
    for (size_t i = 0; tuple != NULL && i < (count); ++i) {                                      \
      PyObject* number = make;                                                                   \
      if (number == NULL || PyTuple_SetItem(tuple, (Py_ssize_t)i, number) != 0) Py_CLEAR(tuple); \
    }                                                                                            \
    return tuple;                                                                                \
  } while (0)

PyObject* memory_from_int64s(const int64_t* values, size_t count) {
  TUPLE_OF(values, count, PyLong_FromLongLong(values[i]));
}
PyObject* memory_from_indices(const size_t* values, size_t count) {
  TUPLE_OF(values, count, PyLong_FromSize_t(values[i]));
}
PyObject* memory_from_bytes(const uint8_t* values, size_t count) {
  TUPLE_OF(values, count, PyLong_FromLong(values[i]));
}

int memory_keep(PyObject* record, PyObject* value) {
  PyObject* kept = PyObject_GetAttrString(record, "kept");
  if (kept == NULL) {
    PyErr_Clear();
    kept = PyList_New(0);
    if (kept == NULL || PyObject_SetAttrString(record, "kept", kept) != 0) {
      Py_XDECREF(kept);
      return -1;
    }
  }
  const int result = PyList_Append(kept, value);
  Py_DECREF(kept);
  return result;
}
