// The duration of an op on one device. If its kernel was measured, this is the measured time.
// Otherwise it is the maximum of the times for arithmetic and for memory traffic, at the share of
// the data sheet's rates that is reached in practice, and at least the time of a kernel launch. If
// ranks share cores, all times are longer by the factor sharing() (hardware.h).
#pragma once
#include <optional>
#include <span>

#include "cost/hardware.h"
#include "support/status.h"
#include "tensor/dtype.h"

namespace shw::cost {

class Roofline {
 public:
  // `ranks`: the number of ranks in the job.
  explicit Roofline(const DeviceSpec& device, int64_t ranks = 1)
      : device_(device), sharing_(sharing(device, ranks)) {}

  // Reads and writes of `bytes` in total.
  double rw_us(double bytes) const;
  // A copy of `bytes` within the device's memory.
  double copy_us(double bytes) const;
  bool has_kernels() const { return !device_.kernels.empty(); }
  // Whether kernels that only move bytes were measured. Otherwise their time is that of their
  // bytes.
  bool has_copies() const;
  // What a step adds to a group of steps that run as one loop. nullopt: it was not measured.
  std::optional<double> fused_us(const KernelWork& work) const;
  // The time to read `bytes` from the cache, or to write them to it, within a launch that does
  // other work. 0 if copies were not measured.
  double stream_us(double bytes) const;
  double launch_us() const { return sharing_ * device_.launch_us; }
  // The time of several kernels in one launch, with operands in the cache as in the measurements.
  // nullopt: one of them was not measured.
  std::optional<double> cached_us(std::span<const KernelWork> works) const;
  // The same, with operands and results of `bytes` in memory. If copies were measured, the tables
  // already include this traffic, since they were measured on operands like those of a model.
  // Otherwise the result is at least rw_us(bytes).
  std::optional<double> measured_us(std::span<const KernelWork> works, double bytes) const;
  // A copy to host memory, or from it. 0 if the device has no memory of its own.
  double host_copy_us(double bytes) const;
  // The rate is that of the op's first tensor argument (f32 if it has none). INVALID_ARGUMENT:
  // flops > 0, but the device's rate for that dtype is unknown.
  Result<double> compute_us(double flops, double bytes, Dtype first_tensor_dtype) const;

 private:
  DeviceSpec device_;
  double sharing_;
};

}  // namespace shw::cost
