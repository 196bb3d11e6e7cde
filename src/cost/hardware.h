// A machine as seen by the cost models: the rates of one device, and the links between devices. A
// machine can be described in a file (capi/HARDWARE.md); hardware_description.h reads and writes
// such files.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cost/kernel_times.h"
#include "cost/price_term.h"
#include "support/status.h"

namespace shw::cost {

struct DeviceSpec {
  std::string name;
  double memory_bytes_per_s = 0;
  // Per second; 0: unknown.
  double flops_f64 = 0, flops_f32 = 0, flops_f16 = 0, flops_bf16 = 0, flops_i8 = 0;
  double flops_f8 = 0;          // for both 8-bit float dtypes
  double host_bytes_per_s = 0;  // in either direction; 0: unknown, or the device uses host memory
  double efficiency = 0.70;  // share of these rates reached in practice (meta-pytorch/autoparallel)
  double launch_us = 7.0;    // the least time of any kernel
  // The cores that all ranks of a job share, if ranks are threads of one machine. These cores run
  // the collectives, too. 0: each rank has its own device.
  int64_t shared_cores = 0;
  std::vector<KernelTimes> kernels = {};  // measured; other kernels use the rates above
};

// The factor by which a device is slower because the job has more ranks than cores.
double sharing(const DeviceSpec& device, int64_t ranks);

enum class Architecture : uint8_t { kAmpere = 0, kHopper = 1, kBlackwell = 2 };

struct NcclConfig {
  Architecture arch = Architecture::kHopper;
  int64_t gpus_per_node = 8;
  double bw_intra_gbps = 320, bw_inter_gbps = 50;  // GB/s (1e9) of one GPU, all channels together
  bool nvswitch = true;
  int num_channels = 16;
  bool has_collnet = false;
  double net_latency_us = 0;  // of the network; added to NCCL's own figure
};

// One bandwidth and one latency per hop within a node, and one of each between nodes. The defaults
// are PyTorch's (torch/distributed/tensor/_collective_utils.py), which applies "GB/s" to GiB.
struct RingConfig {
  int64_t devices_per_node = 8;
  double start_us = 6.6;  // NCCL's ring, protocol LL
  double intra_hop_us = 0.6, inter_hop_us = 2.7;
  double bw_intra_gbps = 87.7 * kGiB / 1e9, bw_inter_gbps = 87.7 * 0.22 * kGiB / 1e9;
  double all_to_all_factor = 5;  // relative to an all-gather; discourages the planner from using it

  static constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
};

// Measurements of a collective in groups of one shape: the fastest of several straight lines.
struct MeasuredCollective {
  struct Line {
    double latency_us, bw_gbps;  // algorithm bandwidth
  };
  Collective collective = Collective::kAllGather;
  int64_t nodes = 1, devices_per_node = 1;
  std::vector<Line> lines;
};

// The basis of a figure in a description. Tables of kernels and collectives are always measured.
struct FigureBasis {
  std::string figure;  // "device.memory_bytes_per_s"
  Basis basis = Basis::kMeasured;
  bool operator==(const FigureBasis&) const = default;
};

struct Hardware {
  std::string name;
  DeviceSpec device;
  std::optional<NcclConfig> nccl;            // nullopt: `ring` prices every collective
  RingConfig ring;                           // also prices meshes that do not fill whole nodes
  std::vector<MeasuredCollective> measured;  // these override both for groups of exactly that shape
  std::vector<FigureBasis> bases = {};       // of figures whose basis is known

  int64_t devices_per_node() const { return nccl ? nccl->gpus_per_node : ring.devices_per_node; }
};

// `name`, case-insensitive: a name in tables/devices.inc ("h100"), or what a driver reports
// ("NVIDIA H100 80GB HBM3"), if it contains that name as a whole word. INVALID_ARGUMENT lists the
// known names.
Result<Hardware> hardware_by_name(std::string_view name);
// The known names, in the order of the tables; empty beyond the last.
std::string_view hardware_name(size_t index);
std::vector<std::string_view> hardware_names();

// INVALID_ARGUMENT names a parameter with an impossible value.
Status check(const Hardware& hardware);
Status check_links(const Hardware& hardware);

// The number of channels that NCCL opens by default on that architecture.
int default_num_channels(Architecture arch);

}  // namespace shw::cost
