// Tables of measured kernels: the times they give for sizes that were not measured, and how prices
// use them.
#include "cost/kernel_times.h"

#include "cost/roofline.h"
#include "test_machines.h"

namespace shw::cost {
namespace {

KernelTimes adds(Dtype dtype = Dtype::kF32) {
  return {"add", dtype, {{100, 10000}, {4, 256}}, {4, 1, 200, 50}};
}

TEST(KernelTimes, AreThoseOfThePointsThatWereMeasured) {
  EXPECT_DOUBLE_EQ(us_at(adds(), {100, 4}), 4);
  EXPECT_DOUBLE_EQ(us_at(adds(), {100, 256}), 1);
  EXPECT_DOUBLE_EQ(us_at(adds(), {10000, 4}), 200);
  EXPECT_DOUBLE_EQ(us_at(adds(), {10000, 256}), 50);
}

TEST(KernelTimes, AreLinearInLogarithmsBetweenPoints) {
  EXPECT_NEAR(us_at(adds(), {1000, 256}), std::sqrt(1 * 50), 1e-9);
  EXPECT_NEAR(us_at(adds(), {100, 32}), std::sqrt(4 * 1), 1e-9);
  EXPECT_NEAR(us_at(adds(), {1000, 32}), std::pow(4.0 * 1 * 200 * 50, 0.25), 1e-9);
}

TEST(KernelTimes, AreProportionalBeyondThePointsAndConstantBelow) {
  EXPECT_NEAR(us_at(adds(), {1000000, 256}), 5000, 1e-6);
  EXPECT_DOUBLE_EQ(us_at(adds(), {1, 256}), 1);
}

TEST(KernelTimes, OfAnotherDtypeStandInInF32Alone) {
  const KernelTimes tables[] = {adds(Dtype::kBF16), adds(), {"neg", Dtype::kBF16, {{1}}, {1}}};
  EXPECT_EQ(times_of(tables, "add", Dtype::kBF16), &tables[0]);
  EXPECT_EQ(times_of(tables, "add", Dtype::kI64), &tables[1]);
  EXPECT_EQ(times_of(tables, "neg", Dtype::kF32), nullptr);
  EXPECT_EQ(times_of(tables, "mul", Dtype::kF32), nullptr);
}

TEST(KernelTimes, OfAKernelStandInForItsVariantsAlone) {
  const KernelTimes tables[] = {adds(), {"add.wide", Dtype::kF32, {{1}}, {1}}};
  EXPECT_EQ(times_of(tables, "add.wide", Dtype::kF32), &tables[1]);
  EXPECT_EQ(times_of(tables, "add.long", Dtype::kF32), &tables[0]);
  EXPECT_EQ(times_of(tables, "add", Dtype::kF32), &tables[0]);
  EXPECT_EQ(times_of(tables, "mul.wide", Dtype::kF32), nullptr);
}

DeviceSpec measured_device() {
  DeviceSpec device;
  device.memory_bytes_per_s = 1e9;  // 1000 bytes take one microsecond
  device.efficiency = 1;
  device.launch_us = 0.5;
  device.kernels = {adds()};
  return device;
}

TEST(KernelTimes, CountAsOftenAsTheKernelDoesItsWorkInOneLaunch) {
  const Roofline roofline(measured_device());
  const KernelWork once{"add", Dtype::kF32, {100, 256}, 1},
      often{"add", Dtype::kF32, {100, 256}, 8};
  EXPECT_DOUBLE_EQ(*roofline.cached_us({&once, 1}), 1);
  EXPECT_DOUBLE_EQ(*roofline.cached_us({&often, 1}), 0.5 + 8 * 0.5);
  const KernelWork two[] = {once, often};
  EXPECT_DOUBLE_EQ(*roofline.cached_us(two), 0.5 + 9 * 0.5);
  const KernelWork unknown[] = {once, {"mul", Dtype::kF32, {100, 256}, 1}};
  EXPECT_FALSE(roofline.cached_us(unknown));
}

TEST(KernelTimes, AreNoLessThanMemoryAllows) {
  const Roofline roofline(measured_device());
  const KernelWork work{"add", Dtype::kF32, {100, 256}, 1};
  EXPECT_DOUBLE_EQ(*roofline.measured_us({&work, 1}, 500), 1);
  EXPECT_DOUBLE_EQ(*roofline.measured_us({&work, 1}, 3000), 3);
}

TEST(SharedCores, MakeARankWaitForTheOthers) {
  DeviceSpec device = measured_device();
  const KernelWork work{"add", Dtype::kF32, {100, 256}, 1};
  device.flops_f32 = 1e6;
  device.shared_cores = 2;
  for (const int64_t ranks : {1, 2})
    EXPECT_DOUBLE_EQ(*Roofline(device, ranks).cached_us({&work, 1}), 1);
  const Roofline crowded(device, 8);
  EXPECT_DOUBLE_EQ(*crowded.cached_us({&work, 1}), 4);
  EXPECT_DOUBLE_EQ(crowded.rw_us(3000), 12);
  EXPECT_DOUBLE_EQ(*crowded.compute_us(100, 8, Dtype::kF32), 400);
}

// Groups that communicate at the same time also share the cores.
TEST(SharedCores, MakeAGroupWaitForTheOtherGroups) {
  Hardware hardware = machine("cpu");
  hardware.device.shared_cores = 4;
  hardware.measured = {{kAR, 1, 2, {{10, 1}}}, {kAR, 1, 8, {{40, 1}}}};
  EXPECT_DOUBLE_EQ(model_of(hardware, "2").us(kAR, 0, 0), 10);
  EXPECT_DOUBLE_EQ(model_of(hardware, "2x2").us(kAR, 1, 0), 10) << "two groups on four cores";
  EXPECT_DOUBLE_EQ(model_of(hardware, "8x2").us(kAR, 1, 0), 40) << "eight groups of two";
  EXPECT_DOUBLE_EQ(model_of(hardware, "2x8").us(kAR, 1, 0), 80)
      << "eight ranks, on all cores alone";
  EXPECT_EQ(model_of(hardware, "8x2").basis(kAR, 2), Basis::kMeasured);
  EXPECT_EQ(model_of(hardware, "4").basis(kAR, 1), Basis::kInterpolated);
  EXPECT_EQ(model_of(hardware, "4").basis(kAG, 1), Basis::kFallback);
}

}  // namespace
}  // namespace shw::cost
