/*
 * Progress: a Python function of (phase, best_us, bound_us, elapsed_s) that returns True to cancel.
 * No exception may pass through the library: it is kept as the attribute `error` of the function,
 * an object of shardwise._progress, which raises it when the call has returned.
 */
%{
static void keep_exception(PyObject* function) {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace != NULL) PyException_SetTraceback(value, trace);
  if (PyObject_SetAttrString(function, "error", value) != 0) PyErr_WriteUnraisable(function);
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(trace);
}
static int32_t on_progress(void* user, const shw_progress* progress) {
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* answer = PyObject_CallFunction((PyObject*)user, "sddd", progress->phase,
                                           progress->best_us, progress->bound_us,
                                           progress->elapsed_s);
  int32_t cancel = 1;
  if (answer == NULL)
    keep_exception((PyObject*)user);
  else
    cancel = PyObject_IsTrue(answer) != 0;
  Py_XDECREF(answer);
  PyGILState_Release(gil);
  return cancel;
}
%}
%typemap(in) shw_progress_fn {
  $1 = on_progress;
}
%typemap(memberin) shw_progress_fn {
  if (memory_keep(swig_obj[0], swig_obj[1]) != 0) SWIG_fail;
  $1 = $input;
  arg1->progress_user = swig_obj[1];
}
