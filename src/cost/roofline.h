// The duration of an op on one device: the maximum of arithmetic and memory traffic, at the share
// of the data sheet's rates that is reached in practice, and at least a kernel launch.
#pragma once
#include "cost/hardware.h"
#include "support/status.h"
#include "tensor/dtype.h"

namespace shw::cost {

class Roofline {
 public:
  explicit Roofline(const DeviceSpec& device) : device_(device) {}

  // Reads and writes of `bytes` in total.
  double rw_us(double bytes) const;
  // A copy to host memory, or from it. 0 where the device has none of its own.
  double host_copy_us(double bytes) const;
  // The rate is that of the op's first tensor argument (f32 if it has none). INVALID_ARGUMENT:
  // flops > 0, but the device's rate for that dtype is unknown.
  Result<double> compute_us(double flops, double bytes, Dtype first_tensor_dtype) const;

 private:
  DeviceSpec device_;
};

}  // namespace shw::cost
