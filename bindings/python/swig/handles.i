/* Handles: native/handle.h. None is NULL. What `out_*` receives is what the function returns. */
%define %handle(NAME, BLOCKS, THREADS)
%{
static void destroy_##NAME(void* pointer) { shw_##NAME##_destroy(pointer); }
const handle_kind kind_##NAME = {#NAME, destroy_##NAME, BLOCKS, THREADS};
%}
%typemap(in) shw_##NAME*, const shw_##NAME* {
  $1 = handle_get($input, &kind_##NAME);
  if ($1 == NULL && PyErr_Occurred()) SWIG_fail;
}
%typemap(in, numinputs=0) shw_##NAME** (shw_##NAME* made = NULL) {
  $1 = &made;
}
%typemap(argout) shw_##NAME** {
  PyObject* handle = handle_new(*$1, &kind_##NAME);
  if (handle == NULL) SWIG_fail;
  Py_DECREF($result); /* None: a function returns one thing only */
  $result = handle;
}
%typemap(memberin) shw_##NAME*, const shw_##NAME* {
  if (memory_keep(swig_obj[0], swig_obj[1]) != 0) SWIG_fail;
  $1 = $input;
}
%ignore shw_##NAME##_destroy;
%enddef

%handle(context, 0, 0)
%handle(cancel, 0, 0)
%handle(builder, 0, 0)
%handle(plan, 0, 0)
%handle(comparison, 0, 0)
%handle(calibration, 0, 0)
%handle(planner, 0, 0)
%handle(explanation, 0, 0)
%handle(plan_explanation, 0, 0)
%handle(pareto, 0, 0)
%handle(recipes, 0, 0)
%handle(search, 0, 0)
%handle(solution, 0, 0)
%handle(device, 0, 0)
%handle(buffer, 0, 0)
%handle(session, 0, 1)
%handle(world, 1, 1)
%handle(executor, 1, 1)
%handle(verification, 0, 0)

/* A group is lent for the call of a region's body: callbacks.i makes handles of them. */
%{
static void leave_group(void* pointer) { (void)pointer; }
static const handle_kind kind_group = {"group", leave_group, 0, 0};
%}
%typemap(in) shw_group*, const shw_group* {
  $1 = handle_get($input, &kind_group);
  if ($1 == NULL && PyErr_Occurred()) SWIG_fail;
}

/* Bytes that the library made: `bytes`. */
%typemap(in, numinputs=0) shw_blob** (shw_blob* blob = NULL) {
  $1 = &blob;
}
%typemap(argout) shw_blob** {
  PyObject* bytes = PyBytes_FromStringAndSize(shw_blob_data(*$1), (Py_ssize_t)shw_blob_size(*$1));
  shw_blob_destroy(*$1);
  if (bytes == NULL) SWIG_fail;
  Py_DECREF($result);
  $result = bytes;
}

/* A model is two of them: a tuple. */
%typemap(in, numinputs=0) (shw_blob** out_graph, shw_blob** out_values) (shw_blob* graph = NULL,
                                                                         shw_blob* values = NULL) {
  $1 = &graph;
  $2 = &values;
}
%typemap(argout) (shw_blob** out_graph, shw_blob** out_values) {
  PyObject* first = PyBytes_FromStringAndSize(shw_blob_data(*$1), (Py_ssize_t)shw_blob_size(*$1));
  PyObject* second = PyBytes_FromStringAndSize(shw_blob_data(*$2), (Py_ssize_t)shw_blob_size(*$2));
  PyObject* both = first != NULL && second != NULL ? PyTuple_Pack(2, first, second) : NULL;
  Py_XDECREF(first);
  Py_XDECREF(second);
  shw_blob_destroy(*$1);
  shw_blob_destroy(*$2);
  if (both == NULL) SWIG_fail;
  Py_DECREF($result);
  $result = both;
}

/* A number that a function makes or finds. */
%typemap(in, numinputs=0) size_t* (size_t number = 0) {
  $1 = &number;
}
%typemap(argout) size_t* {
  Py_DECREF($result);
  $result = PyLong_FromSize_t(*$1);
}
