// Measures fake devices as if they were GPUs, and checks what is measured, by which clock, and what
// the description contains. The figures are those of the fakes, under their name, and are not
// recorded.
#include "measure/accelerator.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "cost/hardware_description.h"
#include "cuda/fake_ranks.h"
#include "cuda/fakes.h"
#include "runtime/cuda/plugin/channel.h"
#include "runtime/cuda/plugin/device.h"

namespace shw::measure {
namespace {

using runtime::cuda::CudaDevice;
using testing::fake_calls;

const runtime::RankBackend kDevices = testing::fake_ranks();
const AcceleratorSizes kSmall{.products = {8, 16},
                              .rate = 16,
                              .keys = {16},
                              .widths = {16},
                              .heads = 2,
                              .copied = 4096,
                              .between = 8,
                              .collectives = {1 << 10, 1 << 18}};

Result<answers::CalibrationReport> measured(int64_t devices) {
  return measure_accelerators(kDevices, devices, kSmall, *cost::hardware_by_name("h100"), "fakes");
}

cost::Basis basis_of(const cost::Hardware& hardware, const std::string& figure) {
  const auto at = std::ranges::find(hardware.bases, figure, &cost::FigureBasis::figure);
  EXPECT_NE(at, hardware.bases.end()) << figure;
  return at == hardware.bases.end() ? cost::Basis{} : at->basis;
}

// Checks the figures that every measurement includes.
void expect_device(const cost::Hardware& hardware) {
  EXPECT_EQ(hardware.name, "fakes");
  for (const char* figure :
       {"device.launch_us", "device.memory_bytes_per_s", "device.host_bytes_per_s",
        "device.flops_per_s.f64", "device.flops_per_s.f32", "device.flops_per_s.f16",
        "device.flops_per_s.bf16", "device.efficiency"})
    EXPECT_EQ(basis_of(hardware, figure), cost::Basis::kMeasured) << figure;
  EXPECT_EQ(basis_of(hardware, "device.flops_per_s.i8"), cost::Basis::kFallback);
  const cost::Hardware h100 = *cost::hardware_by_name("h100");
  EXPECT_NE(hardware.device.memory_bytes_per_s, h100.device.memory_bytes_per_s);
  EXPECT_NE(hardware.device.flops_bf16, h100.device.flops_bf16);
  EXPECT_EQ(hardware.device.kernels.size(), 3 * 4u + 3 * 4u)
      << "products in three ways; attention in four";
  for (const cost::KernelTimes& table : hardware.device.kernels)
    EXPECT_GT(*std::ranges::min_element(table.us), 0) << table.kernel;
  EXPECT_EQ(hardware.device.shared_cores, 0) << "each rank has a device of its own";
}

TEST(CudaMeasure, DescribesDevicesAndTheirLinks) {
  const int timed = fake_calls("cuEventElapsedTime");
  const auto report = measured(4);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_GT(fake_calls("cuEventElapsedTime"), timed) << "the clock is the device's";
  const auto hardware = cost::parse_hardware(report->description);
  ASSERT_TRUE(hardware.ok()) << hardware.status().message();
  expect_device(*hardware);
  EXPECT_EQ(hardware->measured.size(), 10u) << "five collectives in groups of 2 and 4";
  for (const char* link : {"nccl.intra_gb_per_s", "nccl.inter_gb_per_s"})
    EXPECT_EQ(basis_of(*hardware, link), cost::Basis::kFallback)
        << "NCCL's own tables price a node, until lines that were measured do";
}

TEST(CudaMeasure, DescribesOneDeviceWithoutLinks) {
  const auto report = measured(1);
  ASSERT_TRUE(report.ok()) << report.status().message();
  const auto hardware = cost::parse_hardware(report->description);
  ASSERT_TRUE(hardware.ok()) << hardware.status().message();
  expect_device(*hardware);
  EXPECT_TRUE(hardware->measured.empty());
  EXPECT_EQ(basis_of(*hardware, "nccl.intra_gb_per_s"), cost::Basis::kFallback);
}

TEST(CudaMeasure, AFailureOfTheDeviceIsItsError) {
  const testing::Injected fault("cublasLtMatmul", 13);
  const Status status = measured(1).status();
  EXPECT_NE(status.message().find("cuBLAS status 13"), std::string::npos) << status.message();
}

}  // namespace
}  // namespace shw::measure
