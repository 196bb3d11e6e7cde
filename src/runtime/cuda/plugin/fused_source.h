// Writes one kernel for the steps of a group.
//
// Every result that leaves the group is computed element by element from what the group reads, and
// written once; what steps hand to each other stays in registers. Where steps see the same memory
// as different windows, the element that a window means is computed where it is needed. Without
// reductions by blocks, a thread computes elements of each result. With them, a block computes a
// row: in a loop over the row for each reduction that waits for another one, and one for the rest;
// elements that several loops need stay in registers.
//
//   for (unsigned row = blockIdx.x; row < 2048u; row += gridDim.x) {
//     double sum2 = start(f2, double{});
//     for (int turn = 0; turn < 2; ++turn) {          // add, convert, pow, mean
//       const unsigned k = threadIdx.x + turn * 256u;
//       const auto x0 = read_pack<4, 8>(p0, 8192u * row + 16u * k);
//       for (unsigned v = 0; v < 8u; ++v) {           // elements side by side (fused_packs.h)
//         …
//         sum2 = joined(f2, sum2, widened<double, 1>(x7));
//         kept0[turn][v] = x6;
//       }
//     }
//     const auto x8 = narrowed<1>(finished(f2, block_joined<256>(f2, sum2, shared)));
//     for (int turn = 0; turn < 2; ++turn) { … }      // mul, mul, convert
//   }
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "runtime/cuda/plugin/fused_steps.h"

namespace shw::runtime::cuda {

inline constexpr char kFusedKernelName[] = "shw_fused";

struct FusedSource {
  std::string text;
  std::vector<size_t> buffers;  // of the launch, that the kernel takes
  // The steps that may report an index: behind the buffers the kernel takes the stream's page of
  // errors, if there are such, and the node of each.
  std::vector<int> reporting;
  int64_t blocks = 0;
  int threads = 0;  // of a block
};
// Of the first `count` steps. Nothing: no such kernel computes them.
std::optional<FusedSource> write_fused_source(std::span<const FusedStep> steps, size_t count,
                                              int block_threads);

}  // namespace shw::runtime::cuda
