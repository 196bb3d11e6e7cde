/* A status becomes an exception, and is freed. */
%typemap(out) shw_status* {
  if ($1 != NULL) {
    error_set($1);
    SWIG_fail;
  }
  $result = SWIG_Py_Void();
}
%rename("%s") error_set_factory;
PyObject* error_set_factory(PyObject* factory);
