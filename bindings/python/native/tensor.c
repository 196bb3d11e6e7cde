#include "tensor.h"

#include <stdlib.h>
#include <string.h>

#include "dlpack.h"
#include "dtype.h"
#include "kinds.h"
#include "memory.h"

typedef struct tensor_object {
  PyObject head;
  shw_tensor tensor;
  int64_t dims[TENSOR_MAX_RANK];
  int64_t strides[TENSOR_MAX_RANK];
  Py_ssize_t byte_dims[TENSOR_MAX_RANK]; /* for the buffer protocol */
  Py_ssize_t byte_strides[TENSOR_MAX_RANK];
  int read_only;
  /* Whose memory it is: one of these. */
  shw_buffer* buffer;
  Py_buffer view;
  dl_managed* managed;
  dl_managed_versioned* versioned;
} tensor_object;

static PyTypeObject* tensor_type = NULL; /* the base */
static PyObject* tensor_class = NULL;    /* shardwise.Tensor, of which results are */
static PyObject* adapter = NULL;         /* shardwise._tensor.adapt */

/* ---- Making ---------------------------------------------------------------------------------- */

static tensor_object* make_empty(void) {
  PyTypeObject* type =
      (PyTypeObject*)(tensor_class != NULL ? tensor_class : (PyObject*)tensor_type);
  return (tensor_object*)PyType_GenericAlloc(type, 0);
}

static int64_t count_elements(const shw_tensor* tensor) {
  int64_t count = 1;
  for (int32_t d = 0; d < tensor->rank; ++d) count *= tensor->dims[d];
  return count;
}

static void set_row_major(int64_t* strides, const int64_t* dims, int32_t rank) {
  int64_t step = 1;
  for (int32_t d = rank - 1; d >= 0; --d) {
    strides[d] = step;
    step *= dims[d];
  }
}

/* Copies a tensor's description into the object; strides NULL: row-major. */
static void describe(tensor_object* self, const shw_tensor* from) {
  self->tensor = *from;
  for (int32_t d = 0; d < from->rank; ++d) self->dims[d] = from->dims[d];
  if (from->strides == NULL)
    set_row_major(self->strides, self->dims, from->rank);
  else
    for (int32_t d = 0; d < from->rank; ++d) self->strides[d] = from->strides[d];
  self->tensor.dims = self->dims;
  self->tensor.strides = self->strides;
  const int64_t size = (int64_t)dtype_size(from->dtype);
  for (int32_t d = 0; d < from->rank; ++d) {
    self->byte_dims[d] = (Py_ssize_t)self->dims[d];
    self->byte_strides[d] = (Py_ssize_t)(self->strides[d] * size);
  }
}

PyObject* tensor_from_buffer(shw_buffer* buffer) {
  shw_tensor tensor;
  shw_status* status = shw_buffer_get_tensor(buffer, &tensor);
  tensor_object* self = NULL;
  if (status != NULL) {
    PyErr_SetString(PyExc_RuntimeError, shw_status_message(status));
    shw_status_destroy(status);
  } else {
    self = make_empty();
  }
  if (self == NULL) {
    shw_buffer_destroy(buffer);
    return NULL;
  }
  describe(self, &tensor);
  self->buffer = buffer;
  return (PyObject*)self;
}

static void dealloc(PyObject* object) {
  tensor_object* self = (tensor_object*)object;
  PyTypeObject* type = Py_TYPE(object);
  shw_buffer_destroy(self->buffer);
  if (self->view.obj != NULL) PyBuffer_Release(&self->view);
  if (self->managed != NULL && self->managed->deleter != NULL)
    self->managed->deleter(self->managed);
  if (self->versioned != NULL && self->versioned->deleter != NULL)
    self->versioned->deleter(self->versioned);
  ((freefunc)PyType_GetSlot(type, Py_tp_free))(object);
  Py_DECREF(type);
}

/* ---- From the buffer protocol ---------------------------------------------------------------- */

/* Describes an exported buffer. `wanted` 0: any type. `bits`: unsigned integers are the bits of
 * numbers of this type without a format; 0: they are not. 0, or -1 with an exception. */
static int describe_buffer(const Py_buffer* from, shw_dtype wanted, shw_dtype bits,
                           const char* name, shw_tensor* tensor, int64_t* dims, int64_t* strides) {
  const char unsigned_format = bits == SHW_DTYPE_BF16 ? 'H' : 'B';
  const shw_dtype dtype =
      bits != 0 && from->format != NULL && strchr(from->format, unsigned_format) != NULL
          ? bits
          : dtype_of_format(from->format, (size_t)from->itemsize);
  if (dtype == 0) {
    PyErr_Format(PyExc_TypeError,
                 "%s: elements with the format '%s' of %zd bytes are no type of the library", name,
                 from->format == NULL ? "B" : from->format, from->itemsize);
    return -1;
  }
  if (wanted != 0 && dtype != wanted) {
    PyErr_Format(PyExc_TypeError, "%s: expected %s, not %s", name, dtype_name(wanted),
                 dtype_name(dtype));
    return -1;
  }
  if (from->ndim > TENSOR_MAX_RANK) {
    PyErr_Format(PyExc_ValueError, "%s: has %d dims; at most 8 are possible", name, from->ndim);
    return -1;
  }
  memset(tensor, 0, sizeof *tensor);
  for (int d = 0; d < from->ndim; ++d) {
    dims[d] = from->shape[d];
    if (from->strides[d] % from->itemsize != 0 || from->strides[d] < 0) {
      PyErr_Format(
          PyExc_ValueError,
          "%s: the stride of dim %d is %zd bytes; strides must be positive multiples of the "
          "element's %zd bytes: make a contiguous copy",
          name, d, from->strides[d], from->itemsize);
      return -1;
    }
    strides[d] = from->strides[d] / from->itemsize;
  }
  tensor->data = from->buf;
  tensor->dims = dims;
  tensor->strides = strides;
  tensor->rank = from->ndim;
  tensor->dtype = dtype;
  return 0;
}

static PyObject* from_buffer(PyObject* unused, PyObject* args) {
  PyObject* object;
  int dtype, bits;
  const char* name;
  (void)unused;
  if (!PyArg_ParseTuple(args, "Oisi", &object, &dtype, &name, &bits)) return NULL;
  tensor_object* self = make_empty();
  if (self == NULL) return NULL;
  if (PyObject_GetBuffer(object, &self->view, PyBUF_RECORDS_RO) != 0) {
    Py_DECREF(self);
    return NULL;
  }
  shw_tensor tensor;
  int64_t dims[TENSOR_MAX_RANK], strides[TENSOR_MAX_RANK];
  if (describe_buffer(&self->view, dtype, bits, name, &tensor, dims, strides) != 0) {
    Py_DECREF(self);
    return NULL;
  }
  describe(self, &tensor);
  self->read_only = self->view.readonly;
  return (PyObject*)self;
}

/* Bytes in row-major order as a tensor of a shape, for types without a format and for numbers. */
static PyObject* from_bytes(PyObject* unused, PyObject* args) {
  PyObject *object, *shape;
  int dtype;
  (void)unused;
  if (!PyArg_ParseTuple(args, "OiO", &object, &dtype, &shape)) return NULL;
  tensor_object* self = make_empty();
  PyObject* dims = memory_int64s(shape, NULL);
  if (self == NULL || dims == NULL || PyObject_GetBuffer(object, &self->view, PyBUF_SIMPLE) != 0)
    goto fail;
  shw_tensor tensor = {self->view.buf, memory_of(dims), NULL, 0, dtype, 0, 0};
  tensor.rank = (int32_t)((size_t)PyBytes_Size(dims) / sizeof(int64_t));
  if (tensor.rank > TENSOR_MAX_RANK ||
      count_elements(&tensor) * (int64_t)dtype_size(dtype) != self->view.len) {
    PyErr_Format(PyExc_ValueError, "%zd bytes are no %s of the shape %R", self->view.len,
                 dtype_name(dtype), shape);
    goto fail;
  }
  describe(self, &tensor);
  self->read_only = self->view.readonly;
  Py_DECREF(dims);
  return (PyObject*)self;
fail:
  Py_XDECREF((PyObject*)self);
  Py_XDECREF(dims);
  return NULL;
}

/* ---- To the buffer protocol ------------------------------------------------------------------ */

static int get_buffer(PyObject* object, Py_buffer* view, int flags) {
  tensor_object* self = (tensor_object*)object;
  const char* format = dtype_format(self->tensor.dtype);
  view->obj = NULL;
  if (format == NULL && (flags & PyBUF_FORMAT) == PyBUF_FORMAT) {
    PyErr_Format(PyExc_BufferError,
                 "%s has no format in the buffer protocol: use numpy() or DLPack",
                 dtype_name(self->tensor.dtype));
    return -1;
  }
  if (self->read_only && (flags & PyBUF_WRITABLE)) {
    PyErr_SetString(PyExc_BufferError, "the tensor is read-only");
    return -1;
  }
  const int strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
  if (!strided && !tensor_is_dense(&self->tensor)) {
    PyErr_SetString(PyExc_BufferError, "the tensor has strides, for which the reader did not ask");
    return -1;
  }
  view->buf = self->tensor.data;
  view->obj = Py_NewRef(object);
  view->itemsize = (Py_ssize_t)dtype_size(self->tensor.dtype);
  view->len = (Py_ssize_t)count_elements(&self->tensor) * view->itemsize;
  view->readonly = self->read_only;
  view->ndim = self->tensor.rank;
  view->format = (flags & PyBUF_FORMAT) == PyBUF_FORMAT ? (char*)format : NULL;
  view->shape = (flags & PyBUF_ND) == PyBUF_ND ? self->byte_dims : NULL;
  view->strides = strided ? self->byte_strides : NULL;
  view->suboffsets = NULL;
  view->internal = NULL;
  return 0;
}

/* ---- DLPack ---------------------------------------------------------------------------------- */

static void release_object(void* object) {
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE gil = PyGILState_Ensure();
  Py_DECREF((PyObject*)object);
  PyGILState_Release(gil);
}
static void delete_managed(dl_managed* self) {
  release_object(self->context);
  free(self);
}
static void delete_versioned(dl_managed_versioned* self) {
  release_object(self->context);
  free(self);
}
static void drop_managed(PyObject* capsule) { /* a capsule that nobody consumed */
  if (!PyCapsule_IsValid(capsule, "dltensor")) return;
  dl_managed* managed = PyCapsule_GetPointer(capsule, "dltensor");
  managed->deleter(managed);
}
static void drop_versioned(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, "dltensor_versioned")) return;
  dl_managed_versioned* managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
  managed->deleter(managed);
}

static void fill_dlpack(tensor_object* self, dl_tensor* to) {
  memset(to, 0, sizeof *to);
  to->data = self->tensor.data;
  to->device.type = DL_CPU;
  to->ndim = self->tensor.rank;
  to->dtype = dtype_to_dlpack(self->tensor.dtype);
  to->shape = self->dims; /* they live as long as `self`, which the context holds */
  to->strides = self->strides;
}

/* to_dlpack(versioned: bool) */
static PyObject* to_dlpack(PyObject* object, PyObject* versioned) {
  tensor_object* self = (tensor_object*)object;
  PyObject* capsule = NULL;
  if (PyObject_IsTrue(versioned)) {
    dl_managed_versioned* managed = calloc(1, sizeof *managed);
    if (managed == NULL) return PyErr_NoMemory();
    managed->version.major = DL_MAJOR;
    managed->version.minor = DL_MINOR;
    managed->context = Py_NewRef(object);
    managed->deleter = delete_versioned;
    managed->flags = self->read_only ? DL_READ_ONLY : 0;
    fill_dlpack(self, &managed->tensor);
    capsule = PyCapsule_New(managed, "dltensor_versioned", drop_versioned);
    if (capsule == NULL) delete_versioned(managed);
    return capsule;
  }
  if (self->read_only) {
    PyErr_SetString(PyExc_BufferError,
                    "the tensor is read-only, which DLPack tells since version 1.0 only");
    return NULL;
  }
  dl_managed* managed = calloc(1, sizeof *managed);
  if (managed == NULL) return PyErr_NoMemory();
  managed->context = Py_NewRef(object);
  managed->deleter = delete_managed;
  fill_dlpack(self, &managed->tensor);
  capsule = PyCapsule_New(managed, "dltensor", drop_managed);
  if (capsule == NULL) delete_managed(managed);
  return capsule;
}

/* Describes a foreign tensor. 0, or -1 with an exception. */
static int describe_dlpack(const dl_tensor* from, tensor_object* self) {
  const shw_dtype dtype = dtype_of_dlpack(from->dtype);
  if (from->device.type != DL_CPU) {
    PyErr_Format(PyExc_ValueError,
                 "the tensor is on DLPack device %d; only the CPU's memory is known",
                 (int)from->device.type);
    return -1;
  }
  if (dtype == 0) {
    PyErr_Format(PyExc_TypeError,
                 "DLPack type (code %d, %d bits, %d lanes) is no type of the library",
                 (int)from->dtype.code, (int)from->dtype.bits, (int)from->dtype.lanes);
    return -1;
  }
  if (from->ndim < 0 || from->ndim > TENSOR_MAX_RANK) {
    PyErr_Format(PyExc_ValueError, "the tensor has %d dims; at most 8 are possible",
                 (int)from->ndim);
    return -1;
  }
  for (int32_t d = 0; from->strides != NULL && d < from->ndim; ++d) {
    if (from->strides[d] < 0) {
      PyErr_Format(PyExc_ValueError, "dim %d has a negative stride: make a contiguous copy",
                   (int)d);
      return -1;
    }
  }
  const shw_tensor tensor = {
      (char*)from->data + from->byte_offset, from->shape, from->strides, from->ndim, dtype, 0, 0};
  describe(self, &tensor);
  return 0;
}

static PyObject* from_dlpack(PyObject* unused, PyObject* capsule) {
  (void)unused;
  tensor_object* self = make_empty();
  if (self == NULL) return NULL;
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    dl_managed_versioned* managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
    if (managed->version.major != DL_MAJOR) {
      PyErr_Format(PyExc_BufferError, "the tensor comes by DLPack %u; this package knows version 1",
                   (unsigned)managed->version.major);
    } else if (describe_dlpack(&managed->tensor, self) == 0 &&
               PyCapsule_SetName(capsule, "used_dltensor_versioned") == 0) {
      self->versioned = managed;
      self->read_only = (managed->flags & DL_READ_ONLY) != 0;
      return (PyObject*)self;
    }
  } else if (PyCapsule_IsValid(capsule, "dltensor")) {
    dl_managed* managed = PyCapsule_GetPointer(capsule, "dltensor");
    if (describe_dlpack(&managed->tensor, self) == 0 &&
        PyCapsule_SetName(capsule, "used_dltensor") == 0) {
      self->managed = managed;
      return (PyObject*)self;
    }
  } else {
    PyErr_Format(PyExc_TypeError, "%R is no DLPack capsule, or it was used before", capsule);
  }
  Py_DECREF(self);
  return NULL;
}

/* ---- Description ----------------------------------------------------------------------------- */

static PyObject* get_shape(PyObject* self, void* unused) {
  (void)unused;
  const tensor_object* t = (const tensor_object*)self;
  return memory_from_int64s(t->dims, (size_t)t->tensor.rank);
}
static PyObject* get_strides(PyObject* self, void* unused) {
  (void)unused;
  const tensor_object* t = (const tensor_object*)self;
  return memory_from_int64s(t->strides, (size_t)t->tensor.rank);
}
static PyObject* get_dtype(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromLong(((const tensor_object*)self)->tensor.dtype);
}
static PyObject* get_read_only(PyObject* self, void* unused) {
  (void)unused;
  return PyBool_FromLong(((const tensor_object*)self)->read_only);
}
static PyObject* get_nbytes(PyObject* self, void* unused) {
  (void)unused;
  const shw_tensor* t = &((const tensor_object*)self)->tensor;
  return PyLong_FromLongLong(count_elements(t) * (int64_t)dtype_size(t->dtype));
}
static PyObject* get_address(PyObject* self, void* unused) {
  (void)unused;
  return PyLong_FromVoidPtr(((const tensor_object*)self)->tensor.data);
}

/* Copies the elements from dim `d` on, row-major, and returns where the next ones go. */
static char* copy_dense(const shw_tensor* tensor, int32_t d, const char* from, char* to) {
  const int64_t size = (int64_t)dtype_size(tensor->dtype);
  if (d == tensor->rank) {
    memcpy(to, from, (size_t)size);
    return to + size;
  }
  for (int64_t i = 0; i < tensor->dims[d]; ++i)
    to = copy_dense(tensor, d + 1, from + i * tensor->strides[d] * size, to);
  return to;
}

Py_ssize_t tensor_size(const shw_tensor* tensor) {
  return (Py_ssize_t)(count_elements(tensor) * (int64_t)dtype_size(tensor->dtype));
}

static PyObject* dense_bytes(const shw_tensor* tensor) {
  if (tensor_is_dense(tensor)) return PyBytes_FromStringAndSize(tensor->data, tensor_size(tensor));
  PyObject* bytes = PyBytes_FromStringAndSize(NULL, tensor_size(tensor));
  if (bytes != NULL) copy_dense(tensor, 0, tensor->data, PyBytes_AsString(bytes));
  return bytes;
}

/* tobytes(): the elements, row-major; a copy. */
static PyObject* to_bytes(PyObject* self, PyObject* unused) {
  (void)unused;
  return dense_bytes(&((const tensor_object*)self)->tensor);
}

PyObject* tensor_copy(const shw_tensor* tensor) {
  PyObject* bytes = dense_bytes(tensor);
  tensor_object* self = bytes == NULL ? NULL : make_empty();
  if (self != NULL && PyObject_GetBuffer(bytes, &self->view, PyBUF_SIMPLE) == 0) {
    shw_tensor dense = *tensor;
    dense.data = self->view.buf;
    dense.strides = NULL;
    describe(self, &dense);
    self->read_only = 1; /* as bytes are */
  } else {
    Py_CLEAR(self);
  }
  Py_XDECREF(bytes);
  return (PyObject*)self;
}

static PyObject* set_class(PyObject* unused, PyObject* args) {
  PyObject *class_of_results, *adapt;
  (void)unused;
  if (!PyArg_ParseTuple(args, "OO", &class_of_results, &adapt)) return NULL;
  Py_XDECREF(tensor_class);
  Py_XDECREF(adapter);
  tensor_class = Py_NewRef(class_of_results);
  adapter = Py_NewRef(adapt);
  Py_RETURN_NONE;
}

static PyGetSetDef getters[] = {
    {"shape", get_shape, NULL, "Sizes of the dims: a tuple of int.", NULL},
    {"strides", get_strides, NULL, "Distances along each dim, in elements: a tuple of int.", NULL},
    {"_dtype", get_dtype, NULL, NULL, NULL},
    {"readonly", get_read_only, NULL, "Whether the memory must not be written.", NULL},
    {"nbytes", get_nbytes, NULL, "Bytes of all elements.", NULL},
    {"address", get_address, NULL, "Address of element 0.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};
static PyMethodDef methods[] = {
    {"_from_buffer", from_buffer, METH_VARARGS | METH_STATIC, NULL},
    {"_from_bytes", from_bytes, METH_VARARGS | METH_STATIC, NULL},
    {"_from_dlpack", from_dlpack, METH_O | METH_STATIC, NULL},
    {"_to_dlpack", to_dlpack, METH_O, NULL},
    {"tobytes", to_bytes, METH_NOARGS, "The elements as bytes, row-major: a copy."},
    {"_set_class", set_class, METH_VARARGS | METH_STATIC, NULL},
    {NULL, NULL, 0, NULL},
};
static PyType_Slot slots[] = {
    {Py_tp_dealloc, (void*)dealloc},
    {Py_bf_getbuffer, (void*)get_buffer},
    {Py_tp_getset, (void*)getters},
    {Py_tp_methods, (void*)methods},
    {Py_tp_doc, (void*)"A tensor in host memory."},
    {0, NULL},
};
static PyType_Spec spec = {
    "shardwise._clib.TensorBase", sizeof(tensor_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

int tensor_init(PyObject* module) {
  if (tensor_type == NULL) tensor_type = (PyTypeObject*)PyType_FromSpec(&spec);
  if (tensor_type == NULL) return -1;
  return PyModule_AddObjectRef(module, "TensorBase", (PyObject*)tensor_type);
}

/* ---- For other parts of the module ----------------------------------------------------------- */

const shw_tensor* tensor_get(PyObject* object) {
  if (PyObject_TypeCheck(object, tensor_type)) return &((tensor_object*)object)->tensor;
  PyErr_Format(PyExc_TypeError, "expected a shardwise.Tensor, not %R", object);
  return NULL;
}

PyObject* tensor_pack(PyObject* sequence, size_t* count) {
  PyObject* list = PySequence_List(sequence);
  if (list == NULL) return NULL;
  const Py_ssize_t size = PyList_Size(list);
  PyObject* bytes = PyBytes_FromStringAndSize(NULL, size * (Py_ssize_t)sizeof(shw_tensor));
  for (Py_ssize_t i = 0; bytes != NULL && i < size; ++i) {
    PyObject* item = PyList_GetItem(list, i);
    shw_tensor* to = (shw_tensor*)memory_of(bytes) + i;
    const shw_tensor* from = item == Py_None ? NULL : tensor_get(item);
    memset(to, 0, sizeof *to);
    if (from != NULL)
      *to = *from;
    else if (item != Py_None)
      Py_CLEAR(bytes);
  }
  Py_DECREF(list);
  if (bytes != NULL && count != NULL) *count = (size_t)size;
  return bytes;
}

int tensor_is_dense(const shw_tensor* tensor) {
  int64_t step = 1;
  for (int32_t d = tensor->rank - 1; d >= 0; --d) {
    if (tensor->dims[d] == 0) return 1;
    if (tensor->dims[d] != 1 && tensor->strides != NULL && tensor->strides[d] != step) return 0;
    step *= tensor->dims[d];
  }
  return 1;
}

/* Views a Tensor. */
static int open_tensor(PyObject* object, shw_dtype dtype, const char* name, tensor_view* view) {
  const shw_tensor* tensor = &((tensor_object*)object)->tensor;
  if (tensor->dtype != dtype) {
    PyErr_Format(PyExc_TypeError, "%s: expected %s, not %s", name, dtype_name(dtype),
                 dtype_name(tensor->dtype));
    return -1;
  }
  view->tensor = *tensor; /* its dims and strides are lent by the owner */
  view->owner = Py_NewRef(object);
  return 0;
}

int tensor_view_open(PyObject* object, shw_dtype dtype, const char* name, tensor_view* view) {
  view->owner = NULL;
  view->buffer.obj = NULL;
  if (PyObject_TypeCheck(object, tensor_type)) return open_tensor(object, dtype, name, view);
  if (PyObject_CheckBuffer(object)) {
    if (PyObject_GetBuffer(object, &view->buffer, PyBUF_RECORDS_RO) == 0) {
      if (describe_buffer(&view->buffer, dtype, 0, name, &view->tensor, view->dims,
                          view->strides) == 0)
        return 0;
      PyBuffer_Release(&view->buffer);
      return -1;
    }
    PyErr_Clear(); /* bf16 of NumPy: its arrays have no format */
  }
  PyObject* adapted = PyObject_CallFunction(adapter, "Ois", object, (int)dtype, name);
  if (adapted == NULL) return -1;
  const int result = open_tensor(adapted, dtype, name, view);
  Py_DECREF(adapted);
  return result;
}

void tensor_view_close(tensor_view* view) {
  if (view->buffer.obj != NULL) PyBuffer_Release(&view->buffer);
  Py_CLEAR(view->owner);
}
