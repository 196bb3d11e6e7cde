/*
 * Tensors in host memory as Python objects: shardwise.Tensor. One owns a buffer of the library, or
 * lends the memory of another object. It gives its memory by the buffer protocol and by DLPack.
 */
#ifndef SHARDWISE_PYTHON_TENSOR_H_
#define SHARDWISE_PYTHON_TENSOR_H_

#include <Python.h>

#include "shardwise/shardwise.h"

enum { TENSOR_MAX_RANK = 8 };

/* A tensor that a call reads from a Python object, and what keeps its memory until the call ends.
 */
typedef struct tensor_view {
  shw_tensor tensor; /* its dims and strides are the next two */
  int64_t dims[TENSOR_MAX_RANK];
  int64_t strides[TENSOR_MAX_RANK];
  Py_buffer buffer;
  PyObject* owner;
} tensor_view;

/* Adds the type to the module. 0, or -1 with an exception. */
int tensor_init(PyObject* module);

/* A new tensor that owns `buffer`; or NULL with an exception, and the buffer is destroyed. */
PyObject* tensor_from_buffer(shw_buffer* buffer);

/* The tensor in a shardwise.Tensor, lent by it; NULL with an exception for other objects. */
const shw_tensor* tensor_get(PyObject* object);

/* Tensors of a sequence, as an array in a bytes object: as the functions of memory.h. None: a
 * tensor without data. */
PyObject* tensor_pack(PyObject* sequence, size_t* count);

/* Views the memory of `object` without a copy, as a tensor with elements of type `dtype`. An object
 * that is not a Tensor and does not export its memory is passed to the adapter of shardwise.Tensor.
 * `name` is for messages. 0; or -1 with an exception, and there is nothing to release. */
int tensor_view_open(PyObject* object, shw_dtype dtype, const char* name, tensor_view* view);
void tensor_view_close(tensor_view* view);

/* An independent copy of the tensor. NULL with an exception. */
PyObject* tensor_copy(const shw_tensor* tensor);

/* Bytes of all elements. */
Py_ssize_t tensor_size(const shw_tensor* tensor);

/* 1 if the elements lie in row-major order without gaps. */
int tensor_is_dense(const shw_tensor* tensor);

#endif /* SHARDWISE_PYTHON_TENSOR_H_ */
