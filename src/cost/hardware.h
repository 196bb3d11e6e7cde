// What the cost models know of a machine: one device's rates, and how devices are joined.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "support/status.h"

namespace shw::cost {

struct DeviceSpec {
  std::string name;
  double memory_bytes_per_s = 0;
  double flops_f64 = 0, flops_f32 = 0, flops_f16 = 0, flops_bf16 = 0, flops_i8 = 0;  // a second;
                                                                                     // 0: unknown
};

enum class Architecture : uint8_t { kAmpere = 0, kHopper = 1, kBlackwell = 2 };

struct NcclConfig {
  Architecture arch = Architecture::kHopper;
  int64_t gpus_per_node = 8;
  double bw_intra_gbps = 320, bw_inter_gbps = 50;  // GB/s (1e9) of one GPU, all channels together
  bool nvswitch = true;
  int num_channels = 16;
  bool has_collnet = false;
  double net_latency_us = 0;  // of the network, on top of NCCL's own figure
};

struct Hardware {
  std::string name;
  DeviceSpec device;
  std::optional<NcclConfig> nccl;  // nullopt: the default model prices collectives
};

// `name` in any case: a name of tables/devices.inc ("h100"), or what a driver reports ("NVIDIA H100
// 80GB HBM3"), in which that name is a whole word. INVALID_ARGUMENT lists the known names.
Result<Hardware> hardware_by_name(std::string_view name);

// The channels NCCL opens by default on that architecture.
int default_num_channels(Architecture arch);

}  // namespace shw::cost
