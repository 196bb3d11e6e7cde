// Flat loops in vectors as wide as the machine has, whatever the compiler was told to assume.
//
// The body is compiled twice; the choice is made at run time, per call. Contraction of a·b + c is
// off for all of the runtime, so that both give the same bits.
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
[[gnu::target("avx2")]] void vector_loop_avx2(int64_t n, const Body& by) {
  const Body body =
      by;  // what it captures stays in registers: no write through a pointer changes it
  SHW_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) body(i);
}

// Calls body(0) … body(n - 1). The calls must not depend on each other, and must be small enough to
// be inlined.
template <class Body>
void vector_loop(int64_t n, const Body& body) {
  if (__builtin_cpu_supports("avx2")) {
    vector_loop_avx2(n, body);
    return;
  }
  SHW_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) body(i);
}

#else

template <class Body>
void vector_loop(int64_t n, const Body& body) {
  SHW_INDEPENDENT_ITERATIONS
  for (int64_t i = 0; i < n; ++i) body(i);
}

#endif

}  // namespace shw::runtime
