/*
 * Progress: a Python function of (phase, best_us, bound_us, elapsed_s) that returns True to cancel.
 * It must not raise: shardwise._progress keeps exceptions until the call has returned.
 */
%{
static int32_t on_progress(void* user, const shw_progress* progress) {
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* answer = PyObject_CallFunction((PyObject*)user, "sddd", progress->phase,
                                           progress->best_us, progress->bound_us,
                                           progress->elapsed_s);
  int32_t cancel = 1;
  if (answer == NULL)
    PyErr_WriteUnraisable((PyObject*)user);
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
