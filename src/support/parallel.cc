#include "support/parallel.h"

#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace shw {
namespace {

// The work of one call. Tasks may outlive the call: those that begin after it find it closed.
class SharedWork {
 public:
  explicit SharedWork(const std::function<void()>& body) : body_(&body) {}

  void run() {
    const std::function<void()>* body;
    {
      const std::lock_guard lock(mutex_);
      if (body_ == nullptr) return;
      body = body_;
      ++running_;
    }
    std::exception_ptr thrown;
    try {
      (*body)();
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    if (!thrown_) thrown_ = std::move(thrown);
    if (--running_ == 0) ended_.notify_all();
  }

  // Waits for those that have begun.
  void close() {
    std::unique_lock lock(mutex_);
    body_ = nullptr;
    ended_.wait(lock, [this] { return running_ == 0; });
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  const std::function<void()>* body_;  // null: closed
  uint32_t running_ = 0;
  std::exception_ptr thrown_;  // the first
};

struct Task {
  std::shared_ptr<SharedWork> work;

  static void run(void* task) {
    const std::unique_ptr<Task> self(static_cast<Task*>(task));
    self->work->run();
  }
};

// Returns false if the host, or memory, has no place for another task.
bool submit(const TaskExecutor& executor, const std::shared_ptr<SharedWork>& work) {
  std::unique_ptr<Task> task(new (std::nothrow) Task{work});
  if (task == nullptr || executor.submit(executor.user, Task::run, task.get()) != 0) return false;
  (void)task.release();  // the host has it; it may be gone
  return true;
}

void run_on_host(const Threads& threads, const std::function<void()>& body) {
  const auto work = std::make_shared<SharedWork>(body);
  for (uint32_t i = 1; i < threads.limit && submit(threads.executor, work);) ++i;
  work->run();
  work->close();
}

// Threads that are joined in any case.
class Helpers {
 public:
  ~Helpers() {
    for (std::thread& t : threads_) t.join();
  }
  void start(uint32_t count, SharedWork& work) {
    threads_.reserve(count);
    try {
      while (threads_.size() < count) threads_.emplace_back([&work] { work.run(); });
    } catch (const std::exception&) {
      // The threads that could be started do the work.
    }
  }

 private:
  std::vector<std::thread> threads_;
};

}  // namespace

uint32_t Threads::count() const {
  return limit > 0 ? limit : std::max(1u, std::thread::hardware_concurrency());
}

void run_on_threads(const Threads& threads, const std::function<void()>& body) {
  if (threads.count() <= 1) return body();
  if (threads.executor.submit != nullptr)
    return run_on_host({threads.count(), threads.executor}, body);
  SharedWork work(body);
  {
    Helpers helpers;
    helpers.start(threads.count() - 1, work);
    work.run();
  }
  work.close();
}

}  // namespace shw
