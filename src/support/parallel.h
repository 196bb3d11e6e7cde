// Distributes the independent pieces of one call over threads that end before it returns, or over
// the threads of a host.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

namespace shw {

// Passes tasks to the threads of a host. The host must run each accepted task exactly once: within
// submit() or at any later time, on any thread. No call waits for a task that has not begun. The
// calling thread does the work of late tasks itself; such a task then returns at once.
struct TaskExecutor {
  // 0: accepted. Otherwise the caller does without the task. Null: no host; threads are started.
  int32_t (*submit)(void* user, void (*run)(void* task), void* task) = nullptr;
  void* user = nullptr;
};

// The threads that a call may use, the caller's included.
struct Threads {
  Threads(uint32_t most = 1, TaskExecutor host = {}) : limit(most), executor(host) {}
  uint32_t count() const;  // the limit, or the number of cores

  uint32_t limit;  // 0: one per core
  TaskExecutor executor;
};

// Runs `body` on so many threads, including the caller's, and waits for all that have begun; on
// fewer if there are no more. If one of them throws, the exception is rethrown after all have
// ended.
void run_on_threads(const Threads& threads, const std::function<void()>& body);

// Runs `here` on the calling thread. Meanwhile another thread runs `aside`; if there is none, the
// calling thread does so afterwards. Exceptions: see run_on_threads().
template <class Here, class Aside>
void run_beside(const Threads& threads, Here&& here, Aside&& aside) {
  const std::thread::id caller = std::this_thread::get_id();
  bool has_begun = false;  // a host may run its task on the calling thread
  std::atomic<bool> is_taken{false};
  run_on_threads({std::min(threads.count(), 2u), threads.executor}, [&] {
    if (std::this_thread::get_id() == caller && !std::exchange(has_begun, true)) here();
    if (!is_taken.exchange(true)) aside();
  });
}

// Processes the pieces 0, …, n − 1, each once, in any order. `make_worker` is called once on each
// thread and returns a function that processes one piece; it holds what the thread's pieces share.
template <class MakeWorker>
void parallel_for(const Threads& threads, size_t n, MakeWorker&& make_worker) {
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
  const auto most = static_cast<uint32_t>(std::min<size_t>(threads.count(), n));
  if (n > 0) run_on_threads({most, threads.executor}, body);
}

}  // namespace shw
