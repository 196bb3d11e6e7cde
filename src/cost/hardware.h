// What the cost models know of a machine: one device's rates, and how devices are joined.
//
// All of it can be said in a file (README.md): hardware_description.h reads and writes that.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/price_term.h"
#include "support/status.h"

namespace shw::cost {

struct DeviceSpec {
  std::string name;
  double memory_bytes_per_s = 0;
  // A second; 0: unknown.
  double flops_f64 = 0, flops_f32 = 0, flops_f16 = 0, flops_bf16 = 0, flops_i8 = 0;
  double efficiency = 0.70;  // of these rates, in practice (meta-pytorch/autoparallel)
  double launch_us = 7.0;    // no kernel takes less
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

// One bandwidth and one latency per hop inside a node, one of each between nodes. The figures here
// are PyTorch's (torch/distributed/tensor/_collective_utils.py), whose "GB/s" it applies to GiB.
struct RingConfig {
  int64_t devices_per_node = 8;
  double start_us = 6.6;  // NCCL's ring, protocol LL
  double intra_hop_us = 0.6, inter_hop_us = 2.7;
  double bw_intra_gbps = 87.7 * kGiB / 1e9, bw_inter_gbps = 87.7 * 0.22 * kGiB / 1e9;
  double all_to_all_factor = 5;  // against an all-gather: so that the planner avoids it

  static constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
};

// A collective as it was measured among that many devices: the fastest of some straight lines.
struct MeasuredCollective {
  struct Line {
    double latency_us, bw_gbps;  // algorithm bandwidth
  };
  Collective collective = Collective::kAllGather;
  int64_t nodes = 1, devices_per_node = 1;
  std::vector<Line> lines;
};

struct Hardware {
  std::string name;
  DeviceSpec device;
  std::optional<NcclConfig> nccl;            // nullopt: `ring` prices every collective
  RingConfig ring;                           // of meshes that are not whole nodes, too
  std::vector<MeasuredCollective> measured;  // comes before both, for groups of just that shape

  int64_t devices_per_node() const { return nccl ? nccl->gpus_per_node : ring.devices_per_node; }
};

// `name` in any case: a name of tables/devices.inc ("h100"), or what a driver reports ("NVIDIA H100
// 80GB HBM3"), in which that name is a whole word. INVALID_ARGUMENT lists the known names.
Result<Hardware> hardware_by_name(std::string_view name);
// The known names, in the order of the tables; empty beyond the last.
std::string_view hardware_name(size_t index);
std::vector<std::string_view> hardware_names();

// INVALID_ARGUMENT names the figure that no model can work with: of all, or of what joins devices.
Status check(const Hardware& hardware);
Status check_links(const Hardware& hardware);

// The channels NCCL opens by default on that architecture.
int default_num_channels(Architecture arch);

}  // namespace shw::cost
