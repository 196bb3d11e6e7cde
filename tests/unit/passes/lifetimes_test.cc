#include "passes/lifetimes.h"

#include <gtest/gtest.h>

#include "unit/passes/sketch.h"

namespace shw {
namespace {

using Sketch = testing::TensorSketch;

// A value that the first and the last step of a chain read, and a collective.
Sketch long_chain(int steps, bool has_collective = true) {
  Sketch s;
  if (has_collective) s.output(s.step("all_gather", {s.input({1})}, {4, 1}, 1));
  const ValueId kept = s.step("relu", {s.input({1024})}, {1024}, 1);
  ValueId x = s.step("relu", {kept}, {64}, 1);
  for (int i = 0; i < steps; ++i) x = s.step("mm", {x}, {64}, 1);
  s.output(s.step("add", {kept, x}, {64}, 1));
  return s;
}

TEST(LeastPeak, CountsWhatLivesAcrossManySteps) {
  Sketch s = long_chain(300);
  EXPECT_EQ(least_peak_bytes(s.p), 4096);
  EXPECT_LE(least_peak_bytes(s.p), live_peak_bytes(s.p));
}

// A group might be the only user of the value, or move the steps in between.
TEST(LeastPeak, LeavesOutWhatLivesAcrossFewSteps) {
  const Sketch s = long_chain(60);
  EXPECT_EQ(least_peak_bytes(s.p), 0);
}

// A group may recompute the value.
TEST(LeastPeak, IsNotKnownWithoutCollectives) {
  EXPECT_EQ(least_peak_bytes(long_chain(300, false).p), 0);
}

// The schedule moves a gather to the position where its result is read.
TEST(LeastPeak, LeavesOutWhatACollectiveWroteEarly) {
  Sketch s;
  const ValueId whole = s.step("all_gather", {s.input({256})}, {4, 256}, 1);
  ValueId x = s.step("relu", {s.input({64})}, {64}, 1);
  for (int i = 0; i < 300; ++i) x = s.step("mm", {x}, {64}, 1);
  s.output(s.step("add", {whole, x}, {64}, 1));
  EXPECT_EQ(least_peak_bytes(s.p), 0);
  s.run(kScheduleCollectives);
  EXPECT_LE(live_peak_bytes(s.p), 4096 + 1024);
}

}  // namespace
}  // namespace shw
