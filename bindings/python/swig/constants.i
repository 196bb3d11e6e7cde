/* Macros that SWIG does not take for constants, because they have casts. */
%define %flag(NAME)
%constant unsigned long NAME = NAME;
%enddef
%constant size_t SHW_NONE = (size_t)-1;
%flag(SHW_API_VERSION)
%flag(SHW_COMPILE_NO_EINSUM)
%flag(SHW_COMPILE_NO_GRAPH)
%flag(SHW_COMPILE_STRIDED)
%flag(SHW_COMPILE_LEND_OUTPUTS)
%flag(SHW_BENCH_WHOLE)
%flag(SHW_BENCH_GRAPHS)
%flag(SHW_SEARCH_EACH_BATCH)
%flag(SHW_SOLUTION_TIED)
