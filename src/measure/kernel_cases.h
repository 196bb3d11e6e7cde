// The kernels that are measured: for each its operands, results and attributes at a given size.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "measure/probe.h"

namespace shw::measure {

// One launch at one size.
struct KernelCase : ProbeMaker::Step {
  int64_t elements = 0;  // what the table counts (placement/kernel_work.h)
};

struct Extent {
  int64_t elements, row;
  Dims matrix() const { return {elements / row, row}; }
};

struct MeasuredKernel {
  std::string_view key;     // of the table
  std::string_view kernel;  // that runs
  Dtype dtype;
  KernelCase (*make)(const MeasuredKernel&, ProbeMaker&, const Extent&);
  bool is_slow = false;  // takes long for an element, so that large sizes need not be measured
};

std::span<const MeasuredKernel> measured_kernels();

inline constexpr int64_t kTableRows = 64;  // that indices point to
ProbeMaker::Step product_case(ProbeMaker& maker, Dtype dtype, int64_t m, int64_t n, int64_t k);
ProbeMaker::Step attention_case(ProbeMaker& maker, Dtype dtype, int64_t heads, bool backward,
                                bool causal, int64_t keys, int64_t width);

// One sample of `side` × `side` places and a kernel of 3 × 3.
ProbeMaker::Step convolution_case(ProbeMaker& maker, bool backward, int64_t side,
                                  int64_t out_channels, int64_t in_channels);
inline constexpr int64_t kConvolutionKernel = 3;

}  // namespace shw::measure
