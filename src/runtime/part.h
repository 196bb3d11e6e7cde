// Tensors that are laid into parts of another: cat, stack, the scatters and backwards of slice and
// select.
#pragma once
#include <vector>

#include "runtime/step_args.h"

namespace shw::runtime {

// A tensor that goes into a window of the result.
struct Part {
  size_t input;          // its number
  TensorType window;     // its shape, in the result's strides and dtype
  int64_t offset_bytes;  // of the window's first element
};
// Before the parts are laid, the result is: nothing, zeros, or a copy of input 0.
enum class Ground : uint8_t { kNone, kZeros, kInput };
Status check_parts(const KernelArgs& args, const std::vector<Part>& parts, Ground ground);

// All inputs: one after another along attrs.dim of the result; side by side in that dim.
Result<std::vector<Part>> joined_parts(const KernelArgs& args);
Result<std::vector<Part>> stacked_parts(const KernelArgs& args);
// Element attrs.index of dim attrs.dim of the result, or the slice that attrs.start, end and step
// say: as a part that is input `input`.
Result<Part> selected_part(const KernelArgs& args, size_t input);
Result<Part> sliced_part(const KernelArgs& args, size_t input);

}  // namespace shw::runtime
