// Time of an op on one device: the longer of its arithmetic and its memory traffic, at the share of
// the data sheet's rates that is reached in practice, and never less than a kernel launch.
#pragma once
#include "cost/hardware.h"
#include "support/status.h"
#include "tensor/dtype.h"

namespace shw::cost {

class Roofline {
 public:
  explicit Roofline(const DeviceSpec& device) : device_(device) {}

  // Reading and writing `bytes` in all.
  double rw_us(double bytes) const;
  // INVALID_ARGUMENT if flops > 0 and the device's rate for that dtype is not known. The rate is
  // that of the op's first tensor argument (f32 if it has none).
  Result<double> compute_us(double flops, double bytes, Dtype first_tensor_dtype) const;

 private:
  DeviceSpec device_;
};

}  // namespace shw::cost
