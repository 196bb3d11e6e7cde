#include "cost/roofline.h"

#include <algorithm>
#include <string>

namespace shw::cost {
namespace {

constexpr std::string_view kCopy = "local_slice";

double flops_per_s(const DeviceSpec& device, Dtype dtype) {
  switch (dtype) {
    case Dtype::kF64:
      return device.flops_f64;
    case Dtype::kF32:
      return device.flops_f32;
    case Dtype::kF16:
      return device.flops_f16;
    case Dtype::kBF16:
      return device.flops_bf16;
    case Dtype::kI8:
      return device.flops_i8;
    case Dtype::kF8E4M3:
    case Dtype::kF8E5M2:
      return device.flops_f8;
    default:
      return 0;
  }
}

}  // namespace

double Roofline::rw_us(double bytes) const {
  return sharing_ *
         std::max(bytes / device_.memory_bytes_per_s * 1e6 / device_.efficiency, device_.launch_us);
}

double Roofline::copy_us(double bytes) const {
  const KernelWork copy{
      kCopy, Dtype::kF32, {static_cast<int64_t>(bytes / 4), KernelTimes::kLongRow}};
  return measured_us({&copy, 1}, 2 * bytes).value_or(rw_us(2 * bytes));
}

std::optional<double> Roofline::cached_us(std::span<const KernelWork> works) const {
  double us = device_.launch_us;
  for (const KernelWork& work : works) {
    const KernelTimes* times = times_of(device_.kernels, work.kernel, work.dtype);
    if (times == nullptr) return std::nullopt;
    us += work.times * std::max(us_at(*times, work.sizes) - device_.launch_us, 0.0);
  }
  return sharing_ * us;
}

bool Roofline::has_copies() const {
  return times_of(device_.kernels, kCopy, Dtype::kF32) != nullptr;
}

std::optional<double> Roofline::fused_us(const KernelWork& work) const {
  const std::string kernel = std::string(work.kernel) + std::string(KernelTimes::kFused);
  const KernelTimes* times = find_times(device_.kernels, kernel, work.dtype);
  if (times == nullptr) return std::nullopt;
  return sharing_ * work.times * us_at(*times, work.sizes);
}

double Roofline::stream_us(double bytes) const {
  const KernelTimes* times = times_of(device_.kernels, kCopy, Dtype::kF32);
  if (times == nullptr) return 0;
  const double us = us_at(*times, {static_cast<int64_t>(bytes / 4), KernelTimes::kLongRow});
  return sharing_ * std::max(us - device_.launch_us, 0.0) / 2;
}

std::optional<double> Roofline::measured_us(std::span<const KernelWork> works, double bytes) const {
  std::optional<double> us = cached_us(works);
  if (us && !has_copies()) us = std::max(*us, rw_us(bytes));
  return us;
}

double Roofline::host_copy_us(double bytes) const {
  if (device_.host_bytes_per_s == 0) return 0;
  return std::max(bytes / device_.host_bytes_per_s * 1e6 / device_.efficiency, device_.launch_us);
}

Result<double> Roofline::compute_us(double flops, double bytes, Dtype first_tensor_dtype) const {
  const double memory_us = rw_us(bytes);
  if (flops == 0) return memory_us;
  const double rate = flops_per_s(device_, first_tensor_dtype);
  if (rate == 0)
    return invalid_argument("no rate of " + std::string(dtype_name(first_tensor_dtype)) +
                            " arithmetic is known for device '" + device_.name + "'");
  return std::max(sharing_ * (flops / rate * 1e6 / device_.efficiency), memory_us);
}

}  // namespace shw::cost
