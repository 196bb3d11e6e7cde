// The duration of an op on one device: as its kernel was measured, where it was; otherwise the
// maximum of arithmetic and memory traffic, at the share of the data sheet's rates that is reached
// in practice, and at least a kernel launch. Where ranks share cores, each takes so much longer.
#pragma once
#include <optional>
#include <span>

#include "cost/hardware.h"
#include "support/status.h"
#include "tensor/dtype.h"

namespace shw::cost {

class Roofline {
 public:
  // `ranks`: of the job.
  explicit Roofline(const DeviceSpec& device, int64_t ranks = 1)
      : device_(device), sharing_(sharing(device, ranks)) {}

  // Reads and writes of `bytes` in total.
  double rw_us(double bytes) const;
  // A copy of so many bytes within the device's memory.
  double copy_us(double bytes) const;
  bool has_kernels() const { return !device_.kernels.empty(); }
  // Whether what moves bytes was measured kernel by kernel; otherwise it takes what its bytes take.
  bool has_copies() const;
  // What a step adds to a group that is one loop. nullopt: it was not measured.
  std::optional<double> fused_us(const KernelWork& work) const;
  // To read so many bytes from the cache, or to write them to it, in a launch that does more. 0
  // where copies were not measured.
  double stream_us(double bytes) const;
  double launch_us() const { return sharing_ * device_.launch_us; }
  // Of several kernels in one launch on operands as they were measured. nullopt: one of them was
  // not measured.
  std::optional<double> cached_us(std::span<const KernelWork> works) const;
  // The same on operands and results of so many bytes that come from memory, and go there. Where
  // copies were measured the tables say it: they were made on operands as a model has them.
  std::optional<double> measured_us(std::span<const KernelWork> works, double bytes) const;
  // A copy to host memory, or from it. 0 where the device has none of its own.
  double host_copy_us(double bytes) const;
  // The rate is that of the op's first tensor argument (f32 if it has none). INVALID_ARGUMENT:
  // flops > 0, but the device's rate for that dtype is unknown.
  Result<double> compute_us(double flops, double bytes, Dtype first_tensor_dtype) const;

 private:
  DeviceSpec device_;
  double sharing_;
};

}  // namespace shw::cost
