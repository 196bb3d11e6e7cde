#include "support/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

namespace shw {
namespace {

TEST(ParallelFor, DoesEveryPieceOnce) {
  for (const uint32_t threads : {0u, 1u, 2u, 7u})
    for (const size_t n : {size_t{0}, size_t{1}, size_t{3}, size_t{1000}}) {
      std::vector<int> done(n, 0);
      parallel_for(threads, n, [&] { return [&](size_t i) { ++done[i]; }; });
      EXPECT_EQ(done, std::vector<int>(n, 1)) << threads << " threads, " << n << " pieces";
    }
}

TEST(ParallelFor, MakesOneWorkerAThreadAndAsksForNoMoreThanWanted) {
  std::atomic<int> workers{0};
  std::atomic<int64_t> sum{0};
  parallel_for(3, 10000, [&] {
    ++workers;
    return [&, mine = int64_t{0}](size_t i) mutable { sum += i + 0 * ++mine; };
  });
  EXPECT_LE(workers, 3);
  EXPECT_EQ(sum, 10000 * 9999 / 2);
  workers = 0;
  parallel_for(16, 2, [&] {
    ++workers;
    return [](size_t) {};
  });
  EXPECT_LE(workers, 2);  // no more than there are pieces
}

TEST(ParallelFor, ThrowsWhatAPieceThrewAfterAllHaveEnded) {
  std::atomic<int> running{0};
  const auto work = [&](size_t i) {
    ++running;
    std::this_thread::yield();
    --running;
    if (i == 5) throw std::runtime_error("piece 5");
  };
  for (const uint32_t threads : {1u, 4u}) {
    EXPECT_THROW(parallel_for(threads, 100, [&] { return work; }), std::runtime_error);
    EXPECT_EQ(running, 0);
  }
}

TEST(RunBeside, RunsBothOnceTheFirstOnTheCallingThread) {
  const std::thread::id caller = std::this_thread::get_id();
  for (const uint32_t threads : {0u, 1u, 2u, 7u}) {
    std::atomic<int> here{0}, aside{0};
    run_beside(
        threads, [&] { here += std::this_thread::get_id() == caller ? 1 : 100; }, [&] { ++aside; });
    EXPECT_EQ(here, 1) << threads << " threads";
    EXPECT_EQ(aside, 1) << threads << " threads";
  }
}

TEST(RunBeside, ThrowsWhatEitherThrew) {
  const auto nothing = [] {};
  const auto fails = [] { throw std::runtime_error("one of the two"); };
  for (const uint32_t threads : {1u, 2u}) {
    EXPECT_THROW(run_beside(threads, fails, nothing), std::runtime_error);
    EXPECT_THROW(run_beside(threads, nothing, fails), std::runtime_error);
  }
}

TEST(Threads, AreAtLeastOne) {
  EXPECT_EQ(Threads(3).count(), 3u);
  EXPECT_GE(Threads(0).count(), 1u);
}

// A host that collects tasks and runs them when it is told to.
struct Host {
  struct Task {
    void (*run)(void*);
    void* task;
  };
  std::mutex mutex;
  std::vector<Task> tasks;
  size_t room = SIZE_MAX;  // how many more tasks it accepts
  bool inline_ = false;

  ~Host() { run_all(); }
  static int32_t submit(void* user, void (*run)(void*), void* task) {
    auto& self = *static_cast<Host*>(user);
    if (self.inline_) return run(task), 0;
    const std::lock_guard lock(self.mutex);
    if (self.tasks.size() >= self.room) return 1;
    self.tasks.push_back({run, task});
    return 0;
  }
  void run_all() {  // the last task first
    for (; !tasks.empty(); tasks.pop_back()) tasks.back().run(tasks.back().task);
  }
  TaskExecutor executor() { return {submit, this}; }
};

int64_t sum_to(int64_t n, const Threads& threads) {
  std::atomic<int64_t> sum{0};
  parallel_for(threads, static_cast<size_t>(n),
               [&] { return [&](size_t i) { sum += static_cast<int64_t>(i); }; });
  return sum;
}

TEST(HostTasks, AreNotWaitedForBeforeTheyBegin) {
  Host host;
  EXPECT_EQ(sum_to(1000, {4, host.executor()}), 499500);  // no task has run
  EXPECT_EQ(host.tasks.size(), 3u);
  host.run_all();  // the call has returned: the tasks do nothing
}

TEST(HostTasks, MayRunWithinSubmitAndBeRefused) {
  Host host;
  host.inline_ = true;
  EXPECT_EQ(sum_to(1000, {4, host.executor()}), 499500);
  Host full;
  full.room = 1;
  EXPECT_EQ(sum_to(1000, {4, full.executor()}), 499500);
  EXPECT_EQ(full.tasks.size(), 1u);
}

TEST(HostTasks, RunBesideTheCallerAtAnyTime) {
  for (const bool is_inline : {false, true}) {
    Host host;
    host.inline_ = is_inline;
    int here = 0, aside = 0;
    run_beside(
        {2, host.executor()}, [&] { ++here; }, [&] { ++aside; });
    host.run_all();
    EXPECT_EQ(here, 1);
    EXPECT_EQ(aside, 1);
  }
}

TEST(HostTasks, ThatHaveBegunAreWaitedFor) {
  std::vector<std::thread> pool;
  const auto submit = [](void* user, void (*run)(void*), void* task) -> int32_t {
    static_cast<std::vector<std::thread>*>(user)->emplace_back(run, task);
    return 0;
  };
  for (int round = 0; round < 200; ++round) {
    int64_t pieces = 0;  // in this frame: a late task must not touch it
    std::mutex mutex;
    parallel_for({4, {submit, &pool}}, 64, [&] {
      return [&](size_t) {
        const std::lock_guard lock(mutex);
        ++pieces;
      };
    });
    EXPECT_EQ(pieces, 64);
  }
  for (std::thread& t : pool) t.join();
}

TEST(HostTasks, ThrowToTheCaller) {
  Host host;
  host.inline_ = true;
  const auto work = [](size_t i) {
    if (i == 5) throw std::runtime_error("piece 5");
  };
  EXPECT_THROW(parallel_for({4, host.executor()}, 100, [&] { return work; }), std::runtime_error);
}

}  // namespace
}  // namespace shw
