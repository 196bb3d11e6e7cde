// Writes one kernel for the steps of a group.
//
// Each result that is used outside the group is computed element by element from the group's
// inputs, and written once. Values that pass between steps stay in registers. If steps use the same
// memory as different windows, the element that a window refers to is computed where it is needed.
// Without reductions by blocks, each thread computes elements of each result. With such reductions,
// each block computes a row. It has one loop over the row for each reduction that depends on
// another one, and one loop for the rest. Elements that several loops need stay in registers.
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
  std::vector<size_t> buffers;  // buffers of the launch that the kernel takes
  // The steps that may report an invalid index. If there are any, the kernel takes, after the
  // buffers, the stream's error page and the node of each of these steps.
  std::vector<int> reporting;
  int64_t blocks = 0;
  int threads = 0;  // per block
};
// A kernel for the first `count` steps. Empty: no generated kernel can compute them.
std::optional<FusedSource> write_fused_source(std::span<const FusedStep> steps, size_t count,
                                              int block_threads);

}  // namespace shw::runtime::cuda
