#include "failing_new.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

thread_local long g_left = -1;  // remaining allocations that succeed; -1: all
thread_local bool g_has_failed = false;
std::atomic<long> g_live{0};
std::atomic<bool> g_fails_elsewhere{false};  // on all threads that are not spared
std::atomic<long> g_failed_elsewhere{0};
thread_local bool g_spared = false;

void* allocate(std::size_t size, std::size_t alignment) noexcept {
  if (g_left == 0) {
    g_has_failed = true;
    return nullptr;
  }
  if (g_left > 0) --g_left;
  if (g_fails_elsewhere.load(std::memory_order_relaxed) && !g_spared) {
    ++g_failed_elsewhere;
    return nullptr;
  }
  void* memory = alignment <= alignof(std::max_align_t)
                     ? std::malloc(size == 0 ? 1 : size)
                     : std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
  if (memory != nullptr) g_live.fetch_add(1, std::memory_order_relaxed);
  return memory;
}

void* allocate_or_throw(std::size_t size, std::size_t alignment) {
  void* memory = allocate(size, alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void release(void* memory) noexcept {
  if (memory == nullptr) return;
  g_live.fetch_sub(1, std::memory_order_relaxed);
  std::free(memory);
}

constexpr std::size_t kPlain = alignof(std::max_align_t);

}  // namespace

extern "C" {
void fail_from(long n) {
  g_has_failed = false;
  g_left = n - 1;
}
void fail_none(void) { g_left = -1; }
void fail_elsewhere(int on) {
  g_spared = true;
  if (on) g_failed_elsewhere = 0;
  g_fails_elsewhere = on != 0;
}
long failed_elsewhere(void) { return g_failed_elsewhere; }
int has_failed(void) { return g_has_failed; }
long live_pieces(void) { return g_live.load(); }
}

using Align = std::align_val_t;
void* operator new(std::size_t n) { return allocate_or_throw(n, kPlain); }
void* operator new[](std::size_t n) { return allocate_or_throw(n, kPlain); }
void* operator new(std::size_t n, Align a) { return allocate_or_throw(n, std::size_t(a)); }
void* operator new[](std::size_t n, Align a) { return allocate_or_throw(n, std::size_t(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, kPlain); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocate(n, kPlain); }
void* operator new(std::size_t n, Align a, const std::nothrow_t&) noexcept {
  return allocate(n, std::size_t(a));
}
void* operator new[](std::size_t n, Align a, const std::nothrow_t&) noexcept {
  return allocate(n, std::size_t(a));
}
void operator delete(void* p) noexcept { release(p); }
void operator delete[](void* p) noexcept { release(p); }
void operator delete(void* p, std::size_t) noexcept { release(p); }
void operator delete[](void* p, std::size_t) noexcept { release(p); }
void operator delete(void* p, Align) noexcept { release(p); }
void operator delete[](void* p, Align) noexcept { release(p); }
void operator delete(void* p, std::size_t, Align) noexcept { release(p); }
void operator delete[](void* p, std::size_t, Align) noexcept { release(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { release(p); }
void operator delete(void* p, Align, const std::nothrow_t&) noexcept { release(p); }
void operator delete[](void* p, Align, const std::nothrow_t&) noexcept { release(p); }
