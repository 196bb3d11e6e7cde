// Distributes the independent pieces of one call over threads that end before it returns.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace shw {

// The number of threads for `wanted`; 0: one per core.
uint32_t num_threads(uint32_t wanted);

// Runs `body` on `threads` threads, including the caller's, and waits for all of them; on fewer if
// the system has no more. If one of them throws, the exception is rethrown after all have ended.
void run_on_threads(uint32_t threads, const std::function<void()>& body);

// Processes the pieces 0, …, n − 1, each once, in any order. `make_worker` is called once on each
// thread and returns a function that processes one piece; it holds what the thread's pieces share.
template <class MakeWorker>
void parallel_for(uint32_t threads, size_t n, MakeWorker&& make_worker) {
  std::atomic<size_t> next{0};
  const auto body = [&] {
    try {
      auto work = make_worker();
      for (size_t i = next++; i < n; i = next++) work(i);
    } catch (...) {
      next = n;  // the other threads need not continue
      throw;
    }
  };
  if (n > 0) run_on_threads(static_cast<uint32_t>(std::min<size_t>(num_threads(threads), n)), body);
}

}  // namespace shw
