// Kernels that fill a tensor with random numbers (runtime/draw_shape.h).
#pragma once
#include "runtime/cpu/kernel_args.h"
#include "runtime/draw_shape.h"
#include "runtime/random.h"

namespace shw::runtime::cpu {

// The seed that a step draws with in this run.
inline u64 seed_in_run(const StepSeed& seed, void* const* buffers) {
  if (!seed.has_run) return seed.own;
  const auto* run = static_cast<const uint64_t*>(buffers[seed.operand]);
  return seed_of_run(run[0], run[seed.stride], seed.own);
}

using Draw = float (*)(u64 seed, u64 number);
// The run's seed is operand `seed_operand`.
Prepared prepare_draw(const KernelArgs& args, Draw draw, size_t seed_operand);

}  // namespace shw::runtime::cpu
