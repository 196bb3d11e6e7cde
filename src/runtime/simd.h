// Flat loops in vectors as wide as the machine has, whatever the compiler was told to assume.
//
// The body is compiled twice, a long one three times; the choice is made at run time, per call.
// Contraction of a·b + c is off for all of the runtime, so that all give the same bits.
#pragma once
#include <cstdint>

namespace shw::runtime {

// Before a loop whose iterations do not depend on each other: the compiler need not ask at run time
// whether the arrays overlap, nor keep a second loop for that case. Clang's pragma for this is a
// demand, and warns wherever the loop is not vectorised.
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

// Calls body(0) … body(n - 1). The calls must not depend on each other. All that they call becomes
// part of the loop (`flatten`): one call that remained would keep the loop from vectorising, and
// how large a function the compiler inlines depends on how it was declared.
template <class Body>
void vector_loop(int64_t n, const Body& body) {
  if (__builtin_cpu_supports("avx2")) {
    vector_loop_avx2(n, body);
    return;
  }
  SHW_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) body(i);
}

// The same for bodies of many operations, such as a polynomial: those are worth a third copy of the
// code. Short ones wait for memory.
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
