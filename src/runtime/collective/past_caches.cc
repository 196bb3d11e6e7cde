#include "runtime/collective/past_caches.h"

#include <cstdint>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace shw::runtime {

#if defined(__x86_64__) && defined(__GNUC__)

namespace {

constexpr size_t kCacheLine = 64;

[[gnu::target("avx512f")]] void stream_wide(std::byte* to, const std::byte* from, size_t lines) {
  for (size_t i = 0; i < lines; ++i, to += kCacheLine, from += kCacheLine)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), _mm512_loadu_si512(from));
}

void stream(std::byte* to, const std::byte* from, size_t lines) {
  for (size_t i = 0; i < lines * kCacheLine; i += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
}

}  // namespace

void copy_past_caches(void* to, const void* from, size_t bytes) {
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  const size_t into_line = reinterpret_cast<uintptr_t>(out) % kCacheLine;
  const size_t head = into_line == 0 ? 0 : kCacheLine - into_line;
  if (bytes < head + kCacheLine) {
    std::memcpy(out, in, bytes);
    return;
  }
  std::memcpy(out, in, head);
  const size_t lines = (bytes - head) / kCacheLine;
  if (__builtin_cpu_supports("avx512f"))
    stream_wide(out + head, in + head, lines);
  else
    stream(out + head, in + head, lines);
  const size_t done = head + lines * kCacheLine;
  std::memcpy(out + done, in + done, bytes - done);
}

void fence_past_caches() { _mm_sfence(); }

#else

void copy_past_caches(void* to, const void* from, size_t bytes) { std::memcpy(to, from, bytes); }
void fence_past_caches() {}

#endif

}  // namespace shw::runtime
