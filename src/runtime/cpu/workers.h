// The threads that execute the CPU's streams.
//
// A machine runs many more streams than it has cores, and switching between threads costs more than
// most steps of a small model. So streams are tasks: a worker serves one stream until the stream is
// empty or waits, and then takes the next one that is ready. Only as many workers as there are
// cores are active at a time. If a worker may block, another one takes its place. There is one
// worker per stream, so that all of them can block.
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
    // Called by one worker at a time.
    virtual void serve() noexcept = 0;

   protected:
    ~Task() = default;

   private:
    friend class Workers;
    Task* next_ = nullptr;  // next in the queue
    // The last worker that served the task; its core's cache may hold the task's data.
    const void* worker_ = nullptr;
  };

  explicit Workers(int at_once = cores());
  ~Workers();  // call after all workers have been dismissed
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Adds a worker. Throws std::system_error: no thread could be created.
  void hire();
  // Removes a worker. Waits until a worker is idle.
  void dismiss() noexcept;
  // Queues `task`, which must be neither queued nor being served.
  void ready(Task& task) noexcept;

  // During its lifetime the calling worker may block.
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
  Task& take(const Worker& me);  // the queue must not be empty
  void sleep(Worker& me, std::unique_lock<std::mutex>& lock);
  void wake_one(const void* rather);  // wakes worker `rather` if it sleeps, else another sleeper
  void step_back();
  void step_in();

  const int at_once_;
  std::mutex mutex_;
  std::condition_variable gone_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<Worker*> sleepers_;            // the latest sleeper is at the end
  Task *first_ = nullptr, *last_ = nullptr;  // the queue
  std::atomic<int> wanted_{0};               // queued tasks plus workers to dismiss
  int active_ = 0;                           // workers that serve a task and do not block
  int looking_ = 0;                          // workers that poll for work instead of sleeping
  int waking_ = 0;                           // workers that have been woken and do not run yet
  int to_dismiss_ = 0;
};

}  // namespace shw::runtime::cpu
