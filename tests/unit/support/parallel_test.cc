#include "support/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
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

TEST(NumThreads, IsAtLeastOne) {
  EXPECT_EQ(num_threads(3), 3u);
  EXPECT_GE(num_threads(0), 1u);
}

}  // namespace
}  // namespace shw
