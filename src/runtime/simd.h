// Flat loops, vectorised for the widest vectors of the processor at run time, whatever instruction
// set the compiler was told to assume.
//
// Each body is compiled for two instruction sets, a long one for three; every call chooses one.
// Contraction of a·b + c to an FMA is disabled in the whole runtime, so that all versions give the
// same bits.
#pragma once
#include <cstdint>

namespace shw::runtime {

// Goes before a loop whose iterations are independent. The compiler then omits the run-time check
// for overlapping arrays, and the second loop for that case. Clang's pragma for this is a demand:
// it warns about each loop that it does not vectorise. So it is not used.
#if defined(__GNUC__) && !defined(__clang__)
#define SHW_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#else
#define SHW_INDEPENDENT_ITERATIONS
#endif

#if defined(__x86_64__) && defined(__GNUC__)

template <class Body>
[[gnu::target("avx2"), gnu::flatten]] void vector_loop_avx2(int64_t n, const Body& by) {
  const Body body =
      by;  // what it captures stays in registers: no write through a pointer changes it
  SHW_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) body(i);
}

#if defined(__clang__)
#define SHW_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl"), clang::min_vector_width(512)
#else
#define SHW_AVX512 gnu::target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")
#endif
template <class Body>
[[SHW_AVX512, gnu::flatten]] void vector_loop_avx512(int64_t n, const Body& by) {
  const Body body = by;
  SHW_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) body(i);
}

// Calls body(0) … body(n - 1). The calls must not depend on each other. `flatten` inlines
// everything that they call: a single remaining call would prevent vectorisation, and the size of
// function that the compiler inlines by itself depends on how it was declared.
template <class Body>
void vector_loop(int64_t n, const Body& body) {
  if (__builtin_cpu_supports("avx2")) {
    vector_loop_avx2(n, body);
    return;
  }
  SHW_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) body(i);
}

// For bodies of many operations, such as a polynomial, which gain from a third version. Short
// bodies are limited by memory bandwidth.
template <class Body>
void long_vector_loop(int64_t n, const Body& body) {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    vector_loop_avx512(n, body);
  else
    vector_loop(n, body);
}

#else

template <class Body>
void vector_loop(int64_t n, const Body& body) {
  SHW_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) body(i);
}
template <class Body>
void long_vector_loop(int64_t n, const Body& body) {
  vector_loop(n, body);
}

#endif

}  // namespace shw::runtime
