#include "threads.h"

#include <memory>
#include <utility>

namespace host {

Threads::Threads(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) threads_.emplace_back([this] { work(); });
}

Threads::~Threads() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Threads::submit(std::function<void()> task) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    queue_.push_back(std::move(task));
  }
  changed_.notify_one();
}

void Threads::work() {
  std::unique_lock<std::mutex> lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stop_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const std::function<void()> task = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    task();
    ++run_;
    lock.lock();
  }
}

void Threads::for_each(std::size_t count, const std::function<void(std::size_t)>& body) {
  struct Loop {
    std::atomic<std::size_t> next{0}, left;
    std::mutex mutex;
    std::condition_variable done;
  };
  const auto loop = std::make_shared<Loop>();  // helpers may come when the loop is over
  loop->left = count;
  const auto help = [loop, count, &body] {
    for (std::size_t i = loop->next++; i < count; i = loop->next++) {
      body(i);
      if (--loop->left == 0) {
        const std::lock_guard<std::mutex> lock(loop->mutex);
        loop->done.notify_all();
      }
    }
  };
  for (std::size_t i = 0; i < threads_.size() && i + 1 < count; ++i) submit(help);
  help();
  std::unique_lock<std::mutex> lock(loop->mutex);
  loop->done.wait(lock, [&] { return loop->left == 0; });
}

}  // namespace host
