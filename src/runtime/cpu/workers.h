// The threads that do the work of the CPU's streams.
//
// A machine runs many more streams than it has cores. To stop and start threads costs more than
// most steps of a small model take, so streams are tasks: a worker serves one until it has nothing
// to do or waits, and then takes the next one that is ready. Only as many workers as there are
// cores are at work at a time. One more takes over where a worker may block; there is a worker for
// each stream, so that all of them can block.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace shw::runtime::cpu {

class Workers {
 public:
  class Task {
   public:
    // By one worker at a time.
    virtual void serve() noexcept = 0;

   protected:
    ~Task() = default;

   private:
    friend class Workers;
    Task* next_ = nullptr;          // in the queue
    const void* worker_ = nullptr;  // the last one: its core's cache holds what the task works on
  };

  explicit Workers(int at_once = cores());
  ~Workers();  // after everybody has been dismissed
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // One worker more. Throws std::system_error: there is no thread.
  void hire();
  // One less. Waits until one has nothing to do.
  void dismiss() noexcept;
  // `task` wants to be served. It is not queued and not being served.
  void ready(Task& task) noexcept;

  // While it lives, the calling worker may block.
  class MayBlock {
   public:
    explicit MayBlock(Workers& workers) : workers_(workers) { workers_.step_back(); }
    ~MayBlock() { workers_.step_in(); }
    MayBlock(const MayBlock&) = delete;
    MayBlock& operator=(const MayBlock&) = delete;

   private:
    Workers& workers_;
  };

 private:
  struct Worker {
    std::thread thread;
    std::condition_variable woken;
    bool sleeps = false, is_gone = false;  // under mutex_
  };

  static int cores();
  void work(Worker& me);
  void look_for_work(std::chrono::microseconds limit) const;
  // Under mutex_:
  Task& take(const Worker& me);  // there is one
  void sleep(Worker& me, std::unique_lock<std::mutex>& lock);
  void wake_one(const void* rather);  // a worker, if it sleeps; else another one that does
  void step_back();
  void step_in();

  const int at_once_;
  std::mutex mutex_;
  std::condition_variable gone_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> sleepers_;            // the last one to fall asleep is the last one
  Task *first_ = nullptr, *last_ = nullptr;  // the queue
  std::atomic<int> wanted_{0};               // tasks in the queue, and workers to dismiss
  int active_ = 0;                           // workers that serve a task and do not block
  int looking_ = 0;                          // workers that look for work and do not sleep
  int waking_ = 0;                           // workers that have been woken and do not run yet
  int to_dismiss_ = 0;
};

}  // namespace shw::runtime::cpu
