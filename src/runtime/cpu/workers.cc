#include "runtime/cpu/workers.h"

#include <algorithm>
#include <chrono>

#include "runtime/cpu/gemm.h"

namespace shw::runtime::cpu {
namespace {

// How long a worker without work polls for more before it sleeps: about the time until a woken
// thread runs on an idle core of a virtual machine. [Empirical] 2 cores, steps of a small model on
// 2 to 8 ranks: 30 to 50 µs are best, 200 µs take time from other threads.
constexpr std::chrono::microseconds kLook{50};
// How long a worker polls that was woken for a task which another worker then took. In this case
// ranks are running. Without the longer poll the other worker would do the work of both: it would
// reach the next collective each time before this one is awake.
constexpr std::chrono::microseconds kLookInVain{200};
// The number of queued tasks that are checked for whether this worker served them last.
constexpr int kAsked = 16;

}  // namespace

int Workers::cores() { return static_cast<int>(std::thread::hardware_concurrency()); }

Workers::Workers(int at_once) : at_once_(std::max(1, at_once)) {}

Workers::~Workers() {
  // Wait until the thread that queued the last task has released the mutex.
  const std::lock_guard lock(mutex_);
}

void Workers::hire() {
  auto worker = std::make_unique<Worker>();
  const std::lock_guard lock(mutex_);
  workers_.reserve(workers_.size() + 1);
  sleepers_.reserve(workers_.size() + 1);
  worker->thread = std::thread([this, w = worker.get()] { work(*w); });
  workers_.push_back(std::move(worker));
}

void Workers::dismiss() noexcept {
  std::unique_lock lock(mutex_);
  ++to_dismiss_;
  wanted_.fetch_add(1, std::memory_order_relaxed);
  wake_one(nullptr);
  const auto is_gone = [](const std::unique_ptr<Worker>& w) { return w->is_gone; };
  gone_.wait(lock, [&] { return std::ranges::any_of(workers_, is_gone); });
  const auto it = std::ranges::find_if(workers_, is_gone);
  const std::unique_ptr<Worker> worker = std::move(*it);
  workers_.erase(it);
  lock.unlock();
  worker->thread.join();
}

void Workers::ready(Task& task) noexcept {
  const std::lock_guard lock(mutex_);
  task.next_ = nullptr;
  (first_ == nullptr ? first_ : last_->next_) = &task;
  last_ = &task;
  wanted_.fetch_add(1, std::memory_order_relaxed);
  if (active_ + looking_ + waking_ < at_once_) wake_one(task.worker_);
}

Workers::Task& Workers::take(const Worker& me) {
  Task *chosen = first_, *before_chosen = nullptr, *before = nullptr;
  int asked = 0;
  for (Task* t = first_; t != nullptr && asked < kAsked; before = t, t = t->next_, ++asked)
    if (t->worker_ == &me) {
      chosen = t;
      before_chosen = before;
      break;
    }
  (before_chosen == nullptr ? first_ : before_chosen->next_) = chosen->next_;
  if (last_ == chosen) last_ = before_chosen;
  wanted_.fetch_sub(1, std::memory_order_relaxed);
  chosen->worker_ = &me;
  return *chosen;
}

void Workers::work(Worker& me) {
  use_one_gemm_thread();
  std::unique_lock lock(mutex_);
  std::chrono::microseconds look{0};  // granted once each time it has served a task or been woken
  while (true) {
    if (to_dismiss_ > 0) {
      --to_dismiss_;
      wanted_.fetch_sub(1, std::memory_order_relaxed);
      me.is_gone = true;
      if (first_ != nullptr) wake_one(first_->worker_);  // in place of this one
      gone_.notify_all();
      return;
    }
    if (first_ != nullptr && active_ < at_once_) {
      Task& task = take(me);
      ++active_;
      lock.unlock();
      task.serve();
      lock.lock();
      --active_;
      look = kLook;
    } else if (look.count() > 0 && active_ + looking_ < at_once_) {
      ++looking_;
      lock.unlock();
      look_for_work(look);
      lock.lock();
      --looking_;
      look = {};
    } else {
      sleep(me, lock);
      look = kLookInVain;
    }
  }
}

// Yields to any other thread that wants this core.
void Workers::look_for_work(std::chrono::microseconds limit) const {
  const auto until = std::chrono::steady_clock::now() + limit;
  while (wanted_.load(std::memory_order_relaxed) == 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::yield();
}

void Workers::sleep(Worker& me, std::unique_lock<std::mutex>& lock) {
  me.sleeps = true;
  sleepers_.push_back(&me);
  me.woken.wait(lock, [&] { return !me.sleeps; });
  --waking_;
}

void Workers::wake_one(const void* rather) {
  if (sleepers_.empty()) return;
  auto it = std::ranges::find(sleepers_, rather, [](Worker* w) -> const void* { return w; });
  if (it == sleepers_.end()) --it;
  Worker& worker = **it;
  sleepers_.erase(it);
  worker.sleeps = false;
  ++waking_;
  worker.woken.notify_one();
}

void Workers::step_back() {
  const std::lock_guard lock(mutex_);
  --active_;
  if (first_ != nullptr) wake_one(first_->worker_);
}

void Workers::step_in() {
  const std::lock_guard lock(mutex_);
  ++active_;
}

}  // namespace shw::runtime::cpu
