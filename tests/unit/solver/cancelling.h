// Checks of cancellation, for problems with and without budgets.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <initializer_list>
#include <thread>

#include "solver/problem.h"

namespace shw::solver::testing {

// Starts a solve that takes longer than each of these times and cancels it after that time. Expects
// that the solve ends soon afterwards.
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
    // The promised limit is 10 ms. The rest is for sanitizers, which slow the code down.
    EXPECT_LT(static_cast<double>(stopped - raised) / CLOCKS_PER_SEC, 0.050);
  }
}

}  // namespace shw::solver::testing
