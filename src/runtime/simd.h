// Flat loops in vectors as wide as the machine has, whatever the compiler was told to assume.
//
// The body is compiled twice; the choice is made at run time, per call. Contraction of a·b + c is
// off for all of the runtime, so that both give the same bits.
#pragma once
#include <cstdint>

namespace shw::runtime {

#if defined(__x86_64__) && defined(__GNUC__)

template <class Body>
[[gnu::target("avx2")]] void vector_loop_avx2(int64_t n, const Body& body) {
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
  for (int64_t i = 0; i < n; ++i) body(i);
}

#else

template <class Body>
void vector_loop(int64_t n, const Body& body) {
  for (int64_t i = 0; i < n; ++i) body(i);
}

#endif

}  // namespace shw::runtime
