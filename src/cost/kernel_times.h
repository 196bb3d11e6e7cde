// Times of kernels on one device, measured at a few sizes and interpolated between them.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"

namespace shw::cost {

// A grid of sizes, and the time at each point. What the axes count depends on the kernel:
//   mm, mm.nt, mm.tn                       rows, columns, terms of the sum
//   sdpa, sdpa_backward                    keys, width of a head: of one head with as many queries;
//                                          .causal and .biased likewise
//   convolution, convolution_backward      places of the result in all samples, channels of the
//                                          result, terms of a sum: of one group
//   all others                             elements, and those of a row: of the longest stretch
//                                          that the kernel walks in one loop, at most kLongRow
struct KernelTimes {
  static constexpr size_t kMaxAxes = 3;
  static constexpr int64_t kLongRow = 256;  // longer rows have the same time per element
  // The suffix for what a kernel adds to a group of steps that run as one loop: its time without
  // launch, operands and results.
  static constexpr std::string_view kFused = ".fused";
  std::string kernel;                       // as named in programs: "exp"
  Dtype dtype = Dtype::kF32;                // of its first operand
  std::vector<std::vector<int64_t>> sizes;  // by axis, ascending
  std::vector<double> us;                   // by point, the last axis fastest; includes a launch
  bool operator==(const KernelTimes&) const = default;
};

// The work of one launch: `times` times the work at these sizes.
struct KernelWork {
  std::string_view kernel;
  Dtype dtype = Dtype::kF32;
  std::array<int64_t, KernelTimes::kMaxAxes> sizes{};
  double times = 1;
};

// Times of that kernel and dtype; null: it was not measured.
const KernelTimes* find_times(std::span<const KernelTimes> all, std::string_view kernel,
                              Dtype dtype);
// The same; otherwise the times of that kernel in f32; otherwise those of the kernel of which it is
// a variant ("mm" for "mm.tn"). Null: none of these was measured.
const KernelTimes* times_of(std::span<const KernelTimes> all, std::string_view kernel, Dtype dtype);

// Between points the logarithm of the time is linear in the logarithms of the sizes. Above the
// largest size, the time is proportional to the size. Below the smallest, it is constant.
double us_at(const KernelTimes& times, const std::array<int64_t, KernelTimes::kMaxAxes>& sizes);

}  // namespace shw::cost
