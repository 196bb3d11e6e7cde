// Independent pieces of one call's work, on threads that end before it returns.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace shw {

// How many threads `wanted` stands for; 0: as many as there are cores.
uint32_t num_threads(uint32_t wanted);

// Runs `body` on `threads` threads, the caller's among them, and waits for all; on fewer where the
// system has no more. What one of them throws is thrown here once all have ended.
void run_on_threads(uint32_t threads, const std::function<void()>& body);

// Does the pieces 0, …, n − 1, each once, in any order. `make_worker` is called once on each thread
// and returns what is then called with the pieces that fall to it: it holds what they share.
template <class MakeWorker>
void parallel_for(uint32_t threads, size_t n, MakeWorker&& make_worker) {
  std::atomic<size_t> next{0};
  const auto body = [&] {
    try {
      auto work = make_worker();
      for (size_t i = next++; i < n; i = next++) work(i);
    } catch (...) {
      next = n;  // the others need not go on
      throw;
    }
  };
  if (n > 0) run_on_threads(static_cast<uint32_t>(std::min<size_t>(num_threads(threads), n)), body);
}

}  // namespace shw
