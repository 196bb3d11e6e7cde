// The kernels that are measured: for each its operands, results and attributes at a given size.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "measure/probe.h"

namespace shw::measure {

// One launch at one size.
struct KernelCase : ProbeMaker::Step {
  int64_t elements = 0;  // the unit of the table's sizes (placement/kernel_work.h)
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
  bool is_slow = false;   // slow per element, so that large sizes need not be measured
  bool looks_up = false;  // looks up rows by index, possibly rows of one element
};

std::span<const MeasuredKernel> measured_kernels();

inline constexpr int64_t kTableRows = 64;  // number of rows that indices refer to

// Tables of products by the memory order of the operands: contiguous, or transposed and contiguous.
struct ProductTable {
  const char* key;
  bool first_transposed, second_transposed;
};
inline constexpr ProductTable kProductTables[] = {
    {"mm", false, false}, {"mm.nt", false, true}, {"mm.tn", true, false}};
ProbeMaker::Step product_case(ProbeMaker& maker, Dtype dtype, const ProductTable& table, int64_t m,
                              int64_t n, int64_t k);

// Tables of attention of one head: without a mask, with a causal mask, or with a bias added to all
// pairs.
struct AttentionTable {
  const char* key;
  bool backward, causal, biased;
};
inline constexpr AttentionTable kAttentionTables[] = {
    {"sdpa", false, false, false},         {"sdpa.causal", false, true, false},
    {"sdpa_backward", true, false, false}, {"sdpa_backward.causal", true, true, false},
    {"sdpa.biased", false, false, true},   {"sdpa_backward.biased", true, false, true}};
inline constexpr std::span<const AttentionTable> kUnbiasedAttention =
    std::span(kAttentionTables).first(4);
ProbeMaker::Step attention_case(ProbeMaker& maker, Dtype dtype, const AttentionTable& table,
                                int64_t heads, int64_t keys, int64_t width);

// One sample of `side` × `side` places and a kernel of 3 × 3; the channels are those of one group.
ProbeMaker::Step convolution_case(ProbeMaker& maker, bool backward, int64_t side, int64_t groups,
                                  int64_t out_channels, int64_t in_channels);
inline constexpr int64_t kConvolutionKernel = 3;

}  // namespace shw::measure
