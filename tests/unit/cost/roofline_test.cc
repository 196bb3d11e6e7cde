// The device table and the roofline. The reference planner computed the figures.
#include "cost/roofline.h"

#include "test_machines.h"

namespace shw::cost {
namespace {

TEST(Roofline, ReproducesTheWorkedExamples) {
  const Roofline h100(machine("h100").device);
  EXPECT_EQ(h100.rw_us(1 << 20), 7);
  EXPECT_EQ(h100.rw_us(1 << 24), 7);
  EXPECT_TRUE(agrees(h100.rw_us(1 << 28), 104.1111407249467));
  EXPECT_TRUE(agrees(h100.rw_us(1 << 30), 416.4445628997868));
  EXPECT_TRUE(agrees(*h100.compute_us(0, 50331648, Dtype::kBF16), 19.520838885927507));
  // Matrix product [2,8192,4096] × [4096,512], attention of [2,4,8192,128].
  const double product_bytes = 2.0 * (2 * 8192 * 4096 + 4096 * 512 + 2 * 8192 * 512);
  EXPECT_TRUE(
      agrees(*h100.compute_us(68719476736.0, product_bytes, Dtype::kBF16), 2 * 49.631284656940636));
  EXPECT_NEAR(*h100.compute_us(274877906944.0, 0, Dtype::kBF16), 397.050277, 5.1e-7);
  EXPECT_NEAR(*h100.compute_us(0, 4.0 * (2 * 2 * 1024 * 4096 + 2 * 1024), Dtype::kF32), 26.030962,
              5.1e-7);
  EXPECT_NEAR(*h100.compute_us(0, 34242560, Dtype::kBF16), 13.280779, 5.1e-7);
}

TEST(Roofline, RefusesArithmeticWhoseRateIsNotKnown) {
  const Roofline v100(machine("v100").device);
  EXPECT_EQ(v100.compute_us(1, 8, Dtype::kBF16).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(v100.compute_us(1, 8, Dtype::kI64).status().code(), Code::kInvalidArgument);
  EXPECT_TRUE(v100.compute_us(0, 8, Dtype::kBF16).ok()) << "moving bytes needs no rate";
}

// If copies were measured on the device, the tables already include the time that memory takes.
TEST(Roofline, MemoryBoundsKernelsOnlyWhereCopiesWereNotMeasured) {
  DeviceSpec device = machine("h100").device;
  device.kernels = {{"mm", Dtype::kF32, {{1}, {1}, {1}}, {10}}};
  const KernelWork work{"mm", Dtype::kF32, {1, 1, 1}};
  constexpr double kBytes = 1 << 28;
  const Roofline without(device);
  EXPECT_EQ(without.measured_us({&work, 1}, kBytes), without.rw_us(kBytes));
  device.kernels.push_back({"local_slice", Dtype::kF32, {{1}, {1}}, {1}});
  EXPECT_NEAR(*Roofline(device).measured_us({&work, 1}, kBytes), 10, 1e-9);
}

TEST(Hardware, IsFoundByNameAndByWhatDriversReport) {
  EXPECT_EQ(machine("H100").name, "h100");
  EXPECT_EQ(machine("NVIDIA H100 80GB HBM3").name, "h100");
  EXPECT_EQ(machine("NVIDIA A100-SXM4-80GB").name, "a100");
  EXPECT_EQ(machine("NVIDIA PG509-210").name, "pg509");
  EXPECT_EQ(machine("AMD Instinct MI300X").name, "mi300x");
  EXPECT_EQ(machine("Intel(R) Data Center GPU Max 1550").name, "max 1550");
  EXPECT_EQ(machine("nvidia gb200").name, "gb200");
}

TEST(Hardware, RefusesUnknownNamesAndListsTheKnown) {
  for (const char* name : {"", "RTX 4090", "h1000", "xh100", "100"}) {
    const auto hardware = hardware_by_name(name);
    ASSERT_EQ(hardware.status().code(), Code::kInvalidArgument) << name;
    EXPECT_NE(hardware.status().message().find("known are h100, h200, b200"), std::string::npos);
  }
}

TEST(Hardware, KnowsTheLinksOfClustersWithNccl) {
  EXPECT_EQ(machine("a100").nccl->arch, Architecture::kAmpere);
  EXPECT_EQ(machine("a100").nccl->num_channels, 12);
  EXPECT_EQ(machine("h200").nccl->arch, Architecture::kHopper);
  EXPECT_EQ(machine("h200").nccl->gpus_per_node, 8);
  EXPECT_EQ(machine("b200").nccl->gpus_per_node, 72);
  EXPECT_EQ(model_of(machine("gb200"), "144").topology(0), (GroupTopology{144, 2, 72}));
  EXPECT_EQ(model_of(machine("a100"), "16").topology(0), (GroupTopology{16, 2, 8}));
  EXPECT_FALSE(machine("t4").nccl.has_value());
}

// On an H100 products of 8-bit floats are twice as fast as bf16. An A100 has no unit for them.
TEST(Roofline, PricesProductsOfFloat8) {
  const Roofline h100(machine("h100").device);
  for (Dtype dtype : {Dtype::kF8E4M3, Dtype::kF8E5M2})
    EXPECT_NEAR(*h100.compute_us(1e12, 0, dtype),
                *h100.compute_us(1e12, 0, Dtype::kBF16) * 989 / 1979, 1e-6);
  const auto refused = Roofline(machine("a100").device).compute_us(1, 0, Dtype::kF8E4M3);
  EXPECT_EQ(refused.status().code(), Code::kInvalidArgument);
  EXPECT_EQ(refused.status().message(),
            "no rate of f8e4m3fn arithmetic is known for device 'a100'");
}

TEST(Hardware, ListsRatesPerSecond) {
  const DeviceSpec& d = machine("h100").device;
  EXPECT_EQ(d.memory_bytes_per_s, 3.35 * 1099511627776.0);
  EXPECT_EQ(d.flops_bf16, 989e12);
  EXPECT_EQ(d.flops_f8, 1979e12);
  EXPECT_EQ(machine("t4").device.flops_bf16, 0);
}

}  // namespace
}  // namespace shw::cost
