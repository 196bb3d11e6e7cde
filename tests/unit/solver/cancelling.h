// What cancelling promises, of problems with and without budgets.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <initializer_list>
#include <thread>

#include "solver/problem.h"

namespace shw::solver::testing {

// The flag is raised after each of these times, in the middle of a solve that takes longer: it ends
// soon after.
inline void expect_stops_soon(const PlacementProblem& problem,
                              std::initializer_list<int> times_ms) {
  for (const int after_ms : times_ms) {
    SCOPED_TRACE(after_ms);
    std::atomic<bool> cancel{false};
    Monitor monitor;
    monitor.cancel = &cancel;
    std::clock_t raised = 0;  // CPU time of this process: the machine may run other things too
    std::thread raiser([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(after_ms));
      raised = std::clock();
      cancel = true;
    });
    const auto got = solve(problem, {}, monitor);
    const std::clock_t stopped = std::clock();
    raiser.join();
    ASSERT_FALSE(got.ok()) << "the problem is too easy for this test";
    EXPECT_EQ(got.status().code(), Code::kCancelled);
    // 10 ms is the promise; the rest is for sanitizers, which slow the work down.
    EXPECT_LT(static_cast<double>(stopped - raised) / CLOCKS_PER_SEC, 0.050);
  }
}

}  // namespace shw::solver::testing
