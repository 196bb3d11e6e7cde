// The threads that run the work of CPU streams.
#include "runtime/cpu/workers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <latch>

namespace shw::runtime::cpu {
namespace {

class Task final : public Workers::Task {
 public:
  explicit Task(std::function<void()> work) : work_(std::move(work)) {}
  void serve() noexcept override { work_(); }

 private:
  std::function<void()> work_;
};

// Workers with this many threads. When it is destroyed, no thread serves a task any more. Declare
// it after the tasks, so that it is destroyed first.
class Staff {
 public:
  Staff(int at_once, int threads) : workers(at_once), threads_(threads) {
    for (int i = 0; i < threads; ++i) workers.hire();
  }
  ~Staff() {
    for (int i = 0; i < threads_; ++i) workers.dismiss();
  }
  Workers workers;

 private:
  const int threads_;
};

TEST(Workers, NoMoreAreAtWorkThanAllowed) {
  for (const int at_once : {1, 2, 3}) {
    std::atomic<int> now{0}, most{0};
    std::latch done(64);
    std::vector<std::unique_ptr<Task>> tasks;
    for (int i = 0; i < 64; ++i)
      tasks.push_back(std::make_unique<Task>([&] {
        const int others = ++now;
        for (int seen = most; seen < others && !most.compare_exchange_weak(seen, others);) {
        }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        --now;
        done.count_down();
      }));
    Staff staff(at_once, 8);
    for (auto& task : tasks) staff.workers.ready(*task);
    done.wait();
    EXPECT_LE(most, at_once);
    EXPECT_GE(most, 1);
  }
}

// Each task waits for all others. With one worker at a time, this ends only if blocked tasks let
// others run.
TEST(Workers, OnesThatBlockMakeRoom) {
  constexpr int kTasks = 6;
  for (int repeat = 0; repeat < 20; ++repeat) {
    Workers* workers = nullptr;
    std::latch all_here(kTasks), done(kTasks);
    std::vector<std::unique_ptr<Task>> tasks;
    for (int i = 0; i < kTasks; ++i)
      tasks.push_back(std::make_unique<Task>([&] {
        {
          const Workers::MayBlock blocks(*workers);
          all_here.arrive_and_wait();
        }
        done.count_down();
      }));
    Staff staff(1, kTasks);
    workers = &staff.workers;
    for (auto& task : tasks) staff.workers.ready(*task);
    done.wait();
  }
}

// Tasks make each other ready, as ranks in collectives do, while threads come and go.
TEST(Workers, TasksPassTheTurnWhileThreadsComeAndGo) {
  constexpr int kTasks = 5, kTurns = 20000;
  Workers* workers = nullptr;
  std::atomic<int> turns{0};
  std::latch done(1);
  std::vector<std::unique_ptr<Task>> tasks(kTasks);
  for (int i = 0; i < kTasks; ++i)
    tasks[static_cast<size_t>(i)] = std::make_unique<Task>([&, i] {
      if (++turns == kTurns) return done.count_down();
      workers->ready(*tasks[static_cast<size_t>((i + 1) % kTasks)]);
    });
  Staff staff(2, kTasks);
  workers = &staff.workers;
  staff.workers.ready(*tasks[0]);
  for (int i = 0; i < 50; ++i) {
    staff.workers.hire();
    std::this_thread::yield();
    staff.workers.dismiss();
  }
  done.wait();
  EXPECT_EQ(turns, kTurns);
}

TEST(Workers, WakeUpForWorkThatComesLate) {
  std::latch done(20);
  std::vector<std::unique_ptr<Task>> tasks;
  for (int i = 0; i < 20; ++i) tasks.push_back(std::make_unique<Task>([&] { done.count_down(); }));
  Staff staff(2, 2);
  for (auto& task : tasks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // long enough to fall asleep
    staff.workers.ready(*task);
  }
  done.wait();
}

}  // namespace
}  // namespace shw::runtime::cpu
