/* Sequences of Python as arrays of C, and back. An array lives in a bytes object. */
#ifndef SHARDWISE_PYTHON_MEMORY_H_
#define SHARDWISE_PYTHON_MEMORY_H_

#include <Python.h>
#include <stddef.h>
#include <stdint.h>

#include "shardwise/shardwise.h"

/* Text of a str, lent by it; NULL for None. NULL with an exception for anything else. */
const char* memory_text(PyObject* object);

/* The object as the bytes object whose memory an array uses. NULL with an exception. */
PyObject* memory_int64s(PyObject* sequence, size_t* count);
PyObject* memory_indices(PyObject* sequence, size_t* count); /* None: SHW_NONE */
PyObject* memory_texts(PyObject* sequence, size_t* count);   /* its texts are lent by `sequence` */
PyObject* memory_attrs(PyObject* sequence, size_t* count);   /* of (name, kind, value) */

/* The memory of such a bytes object; NULL for NULL. */
void* memory_of(PyObject* bytes);

/* Tuples of numbers; None where the array is NULL. */
PyObject* memory_from_int64s(const int64_t* values, size_t count);
PyObject* memory_from_indices(const size_t* values, size_t count);
PyObject* memory_from_bytes(const uint8_t* values, size_t count);

/* Keeps `value` alive as long as `record`, a Python object with attributes. 0, or -1. */
int memory_keep(PyObject* record, PyObject* value);

#endif /* SHARDWISE_PYTHON_MEMORY_H_ */
