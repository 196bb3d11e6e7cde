// Branch and bound under budgets by several threads: they take open parts from one book, one each
// at a time.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>

#include "solver/budget_close.h"

namespace shw::solver {

// What threads share that take the same closer's open parts, one each at a time.
struct BudgetCloser::Crew {
  std::mutex mutex;  // of the closer, its search, and what follows
  std::condition_variable changed;
  std::vector<double> at;  // by worker, the bound of the part it has taken; kForbidden: none
  Status status;
  std::exception_ptr thrown;
  std::atomic<bool> stop = false;  // something is wrong: nothing is to be finished
};

// Takes a part, settles it with a closer and an incumbent of its own, and hands back what is open
// of it, until nothing is left. Worker 0 is the thread of the caller: it alone reports, and goes
// about as it would alone; the others begin where it would come last, and so are not in its way.
Status BudgetCloser::branch(Crew& crew, uint32_t worker, Search& own) {
  constexpr auto kPatience = std::chrono::milliseconds(2);
  std::unique_lock lock(crew.mutex);
  std::optional<OpenPart> likely;  // half of the last part, which this worker goes on with
  const auto bound = [&] { return std::min(open_.bound(), *std::ranges::min_element(crew.at)); };
  for (;;) {
    if (crew.stop) return crew.status;
    if (worker == 0) SHW_RETURN_IF_ERROR(search_.raise_bound(bound()));
    if (stopped(own.watch())) {
      if (likely) open_.add(std::move(*likely));
      return {};
    }
    if (!likely && open_.empty()) {
      if (*std::ranges::min_element(crew.at) == kForbidden) return {};
      crew.changed.wait_for(lock, kPatience);
      continue;
    }
    const OpenPart next = likely        ? *std::exchange(likely, std::nullopt)
                          : worker == 0 ? take_next()
                                        : open_.take_highest();
    crew.at[worker] = kForbidden;
    if (open_.give_up(next.bound)) continue;
    ++search_.stats().branch_nodes;
    crew.at[worker] = next.bound;
    own.adopt(search_);
    BudgetCloser closer(own, root_);
    lock.unlock();
    const Status status = closer.enter(next);
    lock.lock();
    crew.at[worker] = kForbidden;
    SHW_RETURN_IF_ERROR(status);
    if (closer.descending_) {
      likely = closer.open_.take_last();
      crew.at[worker] = likely->bound;
    }
    search_.adopt(own);
    search_.stats().sweeps += std::exchange(own.stats().sweeps, 0);
    open_.take_over(closer.open_);
    crew.changed.notify_all();
  }
}

Status BudgetCloser::branch_in_parallel() {
  constexpr uint32_t kMostThreads = 16;
  const uint32_t asked = search_.options().threads;
  const uint32_t workers =
      std::clamp(asked == 0 ? std::thread::hardware_concurrency() : asked, 1u, kMostThreads);
  Crew crew;
  crew.at.assign(workers, kForbidden);
  const auto work = [&](uint32_t worker, Watch& watch) {
    Status status;
    std::exception_ptr thrown;
    try {
      std::unique_lock lock(crew.mutex);
      Search own = search_.fork(watch);
      lock.unlock();
      status = branch(crew, worker, own);
    } catch (...) {
      thrown = std::current_exception();
    }
    const std::lock_guard lock(crew.mutex);
    crew.at[worker] = kForbidden;
    if (!crew.stop) crew.status = status, crew.thrown = thrown;
    if (!status.ok() || thrown) crew.stop = true;
    crew.changed.notify_all();
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (uint32_t worker = 1; worker < workers; ++worker)
        threads.emplace_back([&, worker] {
          Monitor monitor;
          monitor.cancel = &crew.stop;
          Watch watch(monitor, search_.watch());
          work(worker, watch);
        });
    } catch (const std::system_error&) {
      // Fewer threads will do.
    }
    work(0, search_.watch());
  }
  if (crew.thrown) std::rethrow_exception(crew.thrown);
  return crew.status;
}

}  // namespace shw::solver
