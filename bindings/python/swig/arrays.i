/*
 * Arrays, texts and bytes as arguments of functions and as members of records. Python gives any
 * sequence. Its memory is a bytes object: native/memory.h. A record keeps what its members point
 * to. The number of elements is a member of its own, which shardwise._records sets.
 */

/* ---- Texts ---- */
%typemap(in) const char* {
  $1 = (char*)memory_text($input);
  if ($1 == NULL && PyErr_Occurred()) SWIG_fail;
}
%typemap(freearg) const char* "";
%typemap(memberin) const char* {
  if (memory_keep(swig_obj[0], swig_obj[1]) != 0) SWIG_fail;
  $1 = $input;
}

/* ---- Arrays of numbers and texts ---- */
%define %array_member(TYPE, NAME, MAKE)
%typemap(in) TYPE NAME (PyObject* block = NULL) {
  block = MAKE($input, NULL);
  if (block == NULL) SWIG_fail;
  $1 = memory_of(block);
}
%typemap(freearg) TYPE NAME "Py_XDECREF(block$argnum);"
%typemap(memberin) TYPE NAME {
  if (memory_keep(swig_obj[0], swig_obj[1]) != 0 || memory_keep(swig_obj[0], block2) != 0) SWIG_fail;
  $1 = (TYPE)$input;
}
%enddef
%array_member(const int64_t*, dims, memory_int64s)
%array_member(const int64_t*, sizes, memory_int64s)
%array_member(const int64_t*, send_counts, memory_int64s)
%array_member(const int64_t*, receive_counts, memory_int64s)
%array_member(const size_t*, outputs, memory_indices)
%array_member(const size_t*, after, memory_indices)
%array_member(const char* const*, entries, memory_texts)
%array_member(const char* const*, without, memory_texts)
%array_member(const char* const*, recipes, memory_texts)
%array_member(const char* const*, group, memory_texts)

%define %array_argument(TYPE, NAME, COUNT, MAKE)
%typemap(in) (TYPE NAME, size_t COUNT) (PyObject* block = NULL) {
  block = MAKE($input, &$2);
  if (block == NULL) SWIG_fail;
  $1 = memory_of(block);
}
%typemap(freearg) (TYPE NAME, size_t COUNT) "Py_XDECREF(block$argnum);"
%enddef
%array_argument(const size_t*, operands, num_operands, memory_indices)
%array_argument(const shw_attr*, attrs, num_attrs, memory_attrs)
%inline %{
/* The numbers of an attribute, as memory_attrs() takes them. */
PyObject* pack_int64s(PyObject* sequence) { return memory_int64s(sequence, NULL); }
%}

/* ---- Arrays of frozen records: sequences of them ---- */
%define %record_array(TYPE)
%{
static PyObject* pack_##TYPE(PyObject* sequence, size_t* count) {
  PyObject* list = PySequence_List(sequence);
  if (list == NULL) return NULL;
  const Py_ssize_t size = PyList_Size(list);
  PyObject* bytes = PyBytes_FromStringAndSize(NULL, size * (Py_ssize_t)sizeof(TYPE));
  for (Py_ssize_t i = 0; bytes != NULL && i < size; ++i) {
    void* record = NULL;
    if (!SWIG_IsOK(SWIG_ConvertPtr(PyList_GetItem(list, i), &record, SWIG_TypeQuery(#TYPE " *"), 0)) ||
        record == NULL) {
      PyErr_SetString(PyExc_TypeError, "expected a sequence of " #TYPE);
      Py_CLEAR(bytes);
    } else {
      ((TYPE*)memory_of(bytes))[i] = *(const TYPE*)record;
    }
  }
  Py_DECREF(list);
  if (bytes != NULL && count != NULL) *count = (size_t)size;
  return bytes;
}
%}
%array_member(const TYPE*, , pack_##TYPE)
%enddef
%record_array(shw_mesh_axis)
%record_array(shw_pin)
%record_array(shw_port_layout)
%record_array(shw_bucket_sizes)
%record_array(shw_symbol_size)
%record_array(shw_calibration_file)
%record_array(shw_verification_state)
%array_argument(const shw_symbol_size*, sizes, num_sizes, pack_shw_symbol_size)
%array_argument(const shw_calibration_file*, files, num_files, pack_shw_calibration_file)

/* ---- Bytes: lent for the call, without a copy ---- */
%typemap(in) shw_bytes (Py_buffer view = {0}) {
  if ($input == Py_None) {
    $1.data = NULL;
    $1.size = 0;
  } else {
    if (PyObject_GetBuffer($input, &view, PyBUF_SIMPLE) != 0) SWIG_fail;
    $1.data = view.buf;
    $1.size = (size_t)view.len;
  }
}
%typemap(freearg) shw_bytes "if (view$argnum.obj != NULL) PyBuffer_Release(&view$argnum);"
%typemap(in) shw_bytes* (shw_bytes bytes) { /* member of a record */
  char* data = NULL;
  Py_ssize_t size = 0;
  if (PyBytes_AsStringAndSize($input, &data, &size) != 0) SWIG_fail;
  bytes.data = data;
  bytes.size = (size_t)size;
  $1 = &bytes;
}
%typemap(memberin) shw_bytes {
  if (memory_keep(swig_obj[0], swig_obj[1]) != 0) SWIG_fail;
  $1 = *$input;
}

/* ---- What a group sends and receives: memory of any object, whose size shardwise.regions checks ---- */
%typemap(in) const void* send (Py_buffer view = {0}) {
  if (PyObject_GetBuffer($input, &view, PyBUF_SIMPLE) != 0) SWIG_fail;
  $1 = view.buf;
}
%typemap(in) void* receive (Py_buffer view = {0}) {
  if (PyObject_GetBuffer($input, &view, PyBUF_WRITABLE) != 0) SWIG_fail;
  $1 = view.buf;
}
%typemap(freearg) const void* send, void* receive "if (view$argnum.obj != NULL) PyBuffer_Release(&view$argnum);"

/* ---- Tensors: native/tensor.h ---- */
%typemap(in) const shw_tensor* {
  $1 = (shw_tensor*)tensor_get($input);
  if ($1 == NULL) SWIG_fail;
}
%typemap(memberin) shw_tensor {
  if (memory_keep(swig_obj[0], swig_obj[1]) != 0) SWIG_fail;
  $1 = *$input;
}
%typemap(in) shw_tensor* = const shw_tensor*;
%array_member(const shw_tensor*, inputs, tensor_pack)
%array_member(const shw_tensor*, outputs, tensor_pack)
%array_member(const shw_tensor*, expected, tensor_pack)
