/*
 * Callbacks of Python. Each is an object of shardwise, which keeps exceptions: none may pass through
 * the library.
 *
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

/*
 * The body of a manual region: a Python function of (region, inputs, outputs, coordinates, mesh, rank,
 * groups) that returns the results as row-major bytes, and None where one is absent. Inputs are copies,
 * because Python may keep them; `outputs` are tuples of shape and dtype.
 */
%{
static PyObject* describe_outputs(const shw_region_call* call) {
  PyObject* list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < call->num_outputs; ++i) {
    const shw_tensor* t = &call->outputs[i];
    PyObject* shape = memory_from_int64s(t->dims, (size_t)t->rank);
    PyObject* row = t->data == NULL ? Py_NewRef(Py_None)
                    : shape == NULL ? NULL
                                    : Py_BuildValue("(Oi)", shape, (int)t->dtype);
    if (row == NULL || PyList_Append(list, row) != 0) Py_CLEAR(list);
    Py_XDECREF(row);
    Py_XDECREF(shape);
  }
  return list;
}
static PyObject* copy_inputs(const shw_region_call* call) {
  PyObject* list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < call->num_inputs; ++i) {
    PyObject* copy = call->inputs[i].data == NULL ? Py_NewRef(Py_None) : tensor_copy(&call->inputs[i]);
    if (copy == NULL || PyList_Append(list, copy) != 0) Py_CLEAR(list);
    Py_XDECREF(copy);
  }
  return list;
}
static int write_outputs(const shw_region_call* call, PyObject* results) {
  for (size_t i = 0; i < call->num_outputs; ++i) {
    PyObject* bytes = PyList_GetItem(results, (Py_ssize_t)i);
    if (bytes == NULL) return -1;
    if (call->outputs[i].data == NULL) continue;
    if (PyBytes_Size(bytes) != tensor_size(&call->outputs[i])) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_ValueError, "a result has another size");
      return -1;
    }
    memcpy(call->outputs[i].data, PyBytes_AsString(bytes), (size_t)PyBytes_Size(bytes));
  }
  return 0;
}
static PyObject* lend_groups(const shw_region_call* call) {
  PyObject* list = PyList_New(0);
  for (size_t i = 0; list != NULL && i < call->num_groups; ++i) {
    PyObject* handle = handle_new(call->groups[i], &kind_group);
    if (handle == NULL || PyList_Append(list, handle) != 0) Py_CLEAR(list);
    Py_XDECREF(handle);
  }
  return list;
}
static void take_groups_back(PyObject* list) {
  for (Py_ssize_t i = 0; list != NULL && i < PyList_Size(list); ++i)
    handle_take_back(PyList_GetItem(list, i));
  Py_XDECREF(list);
}
static shw_code on_region(void* user, const shw_region_call* call) {
  const PyGILState_STATE gil = PyGILState_Ensure();
  PyObject* inputs = copy_inputs(call);
  PyObject* outputs = describe_outputs(call);
  PyObject* coordinates = memory_from_int64s(call->coordinates, (size_t)call->num_axes);
  PyObject* mesh = memory_from_int64s(call->mesh, (size_t)call->num_axes);
  PyObject* groups = lend_groups(call);
  PyObject* results = NULL;
  if (inputs != NULL && outputs != NULL && coordinates != NULL && mesh != NULL && groups != NULL)
    results = PyObject_CallFunction((PyObject*)user, "sOOOOiO", call->region, inputs, outputs,
                                    coordinates, mesh, (int)call->rank, groups);
  const int good = results != NULL && write_outputs(call, results) == 0;
  if (!good) keep_exception((PyObject*)user);
  Py_XDECREF(results);
  take_groups_back(groups);
  Py_XDECREF(mesh);
  Py_XDECREF(coordinates);
  Py_XDECREF(outputs);
  Py_XDECREF(inputs);
  PyGILState_Release(gil);
  return good ? SHW_OK : SHW_UNKNOWN;
}
%}
%typemap(in) shw_region_fn {
  $1 = on_region;
}
%typemap(memberin) shw_region_fn {
  if (memory_keep(swig_obj[0], swig_obj[1]) != 0) SWIG_fail;
  $1 = $input;
  arg1->user = swig_obj[1];
}
%record_array(shw_region)
