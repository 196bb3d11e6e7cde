// The host's threads. They run the host's own kernels, and what Shardwise does in parallel while it
// plans.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace host {

class Threads {
 public:
  explicit Threads(std::size_t count);
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads();  // runs what is queued

  void submit(std::function<void()> task);
  // Calls body(i) for every i below count, on all threads and this one.
  void for_each(std::size_t count, const std::function<void(std::size_t)>& body);

  std::size_t tasks_run() const { return run_; }

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stop_ = false;
  std::atomic<std::size_t> run_{0};
  std::vector<std::thread> threads_;
};

}  // namespace host
