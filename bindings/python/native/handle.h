/*
 * Handles of the library as Python objects. A handle is destroyed with the last reference to its
 * object, so no call can meet a handle that another thread has destroyed.
 */
#ifndef SHARDWISE_PYTHON_HANDLE_H_
#define SHARDWISE_PYTHON_HANDLE_H_

#include <Python.h>

typedef struct handle_kind {
  const char* name; /* "plan" */
  void (*destroy)(void* pointer);
  int blocks;  /* 1: destroying waits for threads, so the GIL is released */
  int threads; /* 1: the object owns threads, which a fork does not copy */
} handle_kind;

/* Adds the type of handles to the module. 0, or -1 with an exception. */
int handle_init(PyObject* module);

/* A new object that owns `pointer`, or NULL with an exception; then the handle is destroyed. */
PyObject* handle_new(void* pointer, const handle_kind* kind);

/* The pointer of a handle of this kind; NULL for None. NULL with an exception for other objects,
 * and for a handle with threads in a process that was forked after it was made. */
void* handle_get(PyObject* object, const handle_kind* kind);

/* Forgets the pointer of a handle that was lent for a call: from now on it is NULL. */
void handle_take_back(PyObject* object);

/* Forks between the first import and this process. */
unsigned handle_generation(void);

#endif /* SHARDWISE_PYTHON_HANDLE_H_ */
