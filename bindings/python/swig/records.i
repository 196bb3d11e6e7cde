/*
 * Records: structs that are filled on one side and read on the other. shw_…_init() gets the size
 * from here, because Python does not know it. What a record lends, such as an array of dims, is
 * read as a tuple.
 */
%typemap(in, numinputs=0) size_t size {
  $1 = sizeof(*arg1);
}

%define %tuple(TYPE, NAME, MAKE, COUNT)
%typemap(out) TYPE NAME {
  $result = MAKE($1, (size_t)(COUNT));
  if ($result == NULL) SWIG_fail;
}
%enddef
%tuple(const int64_t*, dims, memory_from_int64s, arg1->rank)
%tuple(const int64_t*, local_dims, memory_from_int64s, arg1->rank)
%tuple(const int64_t*, local_strides, memory_from_int64s, arg1->rank)
%tuple(int64_t, dims[8], memory_from_int64s, arg1->rank)
%tuple(const size_t*, inputs, memory_from_indices, arg1->num_inputs)
%tuple(const size_t*, outputs, memory_from_indices, arg1->num_outputs)
%tuple(const size_t*, after, memory_from_indices, arg1->num_after)
%tuple(const uint8_t*, axes, memory_from_bytes, arg1->num_axes)

/* Its length is a question to the plan: shw_plan_num_symbols(). */
%ignore shw_plan_entry::symbol_sizes;
%inline %{
PyObject* entry_symbol_sizes(const shw_plan_entry* entry, size_t count) {
  return memory_from_int64s(entry->symbol_sizes, count);
}
%}
