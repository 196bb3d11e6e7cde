#include "measure/kernels.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include "measure/groups.h"
#include "measure/kernel_cases.h"
#include "measure/kernel_timer.h"

namespace shw::measure {
namespace {

using cost::Basis;
using cost::KernelTimes;

constexpr int64_t kElements[] = {64, 2048, 32768, 524288};      // up to 2 MiB of f32
constexpr int64_t kRows[] = {1, 4, 32, KernelTimes::kLongRow};  // 1: of look-ups alone
constexpr int64_t kMostElements = 524288, kSlowElements = 32768;
constexpr int64_t kSourceBytes = kMostElements * 16;
// The number of tensors of one size that a model touches before it touches one of them again.
constexpr int64_t kPlaces = 64;
constexpr int64_t kProductSizes[] = {4, 16, 64, 256, 1024}, kBF16Sizes[] = {16, 64, 256, 1024};
constexpr int64_t kKeys[] = {4, 16, 32, 64, 128, 256, 1024}, kWidths[] = {8, 32, 128};
constexpr int64_t kBF16Keys[] = {16, 32, 64, 256, 1024};
constexpr int64_t kQueries = 512;  // of all heads of a launch: a small head is not the whole of one
constexpr int64_t kSides[] = {4, 16, 32}, kOutChannels[] = {1, 8, 64, 256},
                  kInChannels[] = {1, 4, 32, 128};
constexpr int64_t kChannels =
    16;  // of all groups of a launch: a small group is not the whole of one
constexpr int64_t kRateSize = 256;  // of a square product, where only a rate is asked for

void add_kernel(KernelTimer& timer, const MeasuredKernel& kernel) {
  const std::span<const int64_t> rows = std::span(kRows).subspan(kernel.looks_up ? 0 : 1);
  const size_t table = timer.begin(kernel.key, kernel.dtype, {{}, {rows.begin(), rows.end()}});
  for (const int64_t n : kElements) {
    if (kernel.is_slow && n > kSlowElements) return;
    for (const int64_t row : rows) {
      const KernelCase c = kernel.make(kernel, timer.maker(), {n, std::min(n, row)});
      if (row == rows[0]) timer.add_size(table, c.elements);
      timer.add_point(c, table);
    }
  }
}

void add_convolution(KernelTimer& timer, std::string_view key, bool backward) {
  std::vector<int64_t> places, terms;
  for (const int64_t side : kSides) places.push_back(side * side);
  for (const int64_t in : kInChannels)
    terms.push_back(in * kConvolutionKernel * kConvolutionKernel);
  const size_t table = timer.begin(
      key, Dtype::kF32, {places, {std::begin(kOutChannels), std::end(kOutChannels)}, terms});
  for (const int64_t side : kSides)
    for (const int64_t out : kOutChannels)
      for (const int64_t in : kInChannels) {
        const int64_t groups = std::max<int64_t>(1, kChannels / out);
        timer.add_point(convolution_case(timer.maker(), backward, side, groups, out, in), table,
                        groups);
      }
}

}  // namespace

Status measure_kernels(cost::DeviceSpec& device, std::vector<cost::FigureBasis>& bases) {
  KernelTimer kernels(kSourceBytes, kSourceBytes);
  kernels.maker().take_turns(kPlaces, kSourceBytes);
  for (const MeasuredKernel& kernel : measured_kernels()) add_kernel(kernels, kernel);
  kernels.add_products(Dtype::kF32, {std::begin(kProductSizes), std::end(kProductSizes)});
  kernels.add_attention(kAttentionTables, Dtype::kF32, {std::begin(kKeys), std::end(kKeys)},
                        {std::begin(kWidths), std::end(kWidths)}, 1, kQueries);
  kernels.add_products(Dtype::kBF16, {std::begin(kBF16Sizes), std::end(kBF16Sizes)});
  kernels.add_attention(kAttentionTables, Dtype::kBF16,
                        {std::begin(kBF16Keys), std::end(kBF16Keys)},
                        {std::begin(kWidths), std::end(kWidths)}, 1, kQueries);
  add_convolution(kernels, "convolution", false);
  add_convolution(kernels, "convolution_backward", true);
  constexpr Dtype kRateTypes[] = {Dtype::kF64, Dtype::kF32, Dtype::kF16, Dtype::kBF16};
  double* const rates[] = {&device.flops_f64, &device.flops_f32, &device.flops_f16,
                           &device.flops_bf16};
  for (const Dtype dtype : kRateTypes) kernels.add_rate(dtype, kRateSize);
  kernels.add_launch();
  SHW_ASSIGN_OR_RETURN(device.kernels, kernels.run());

  const auto take_last = [&] {
    const double us = device.kernels.back().us[0];
    device.kernels.pop_back();
    return us;
  };
  device.launch_us = take_last();
  for (size_t i = std::size(rates); i-- > 0;)
    *rates[i] = 2.0 * kRateSize * kRateSize * kRateSize / take_last() * 1e6;
  const KernelTimes* copy = cost::times_of(device.kernels, "local_slice", Dtype::kF32);
  device.memory_bytes_per_s =
      2.0 * 4 * static_cast<double>(copy->sizes[0].back()) / copy->us.back() * 1e6;
  device.efficiency = 1;               // the rates are measured, not peak rates
  device.flops_i8 = 0;                 // no kernel multiplies 8-bit integers
  device.flops_f8 = device.flops_f32;  // 8-bit floats are multiplied as f32
  SHW_ASSIGN_OR_RETURN(std::vector<KernelTimes> in_groups, measure_groups());
  std::ranges::move(in_groups, std::back_inserter(device.kernels));
  for (const char* figure :
       {"device.memory_bytes_per_s", "device.launch_us", "device.flops_per_s.f64",
        "device.flops_per_s.f32", "device.flops_per_s.f16", "device.flops_per_s.bf16"})
    bases.push_back({figure, Basis::kMeasured});
  return {};
}

}  // namespace shw::measure
