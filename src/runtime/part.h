// Steps that copy tensors into parts of a result: cat, stack, the scatters, and the backward steps
// of slice and select.
#pragma once
#include <vector>

#include "runtime/step_args.h"

namespace shw::runtime {

// An input that is copied into a window of the result.
struct Part {
  size_t input;          // number of the input
  TensorType window;     // the input's shape, with the result's strides and dtype
  int64_t offset_bytes;  // offset of the window's first element
};
// The contents of the result before the parts are copied: undefined, zeros, or a copy of input 0.
enum class Ground : uint8_t { kNone, kZeros, kInput };
Status check_parts(const KernelArgs& args, const std::vector<Part>& parts, Ground ground);

// All inputs: joined_parts() concatenates them along dim attrs.dim of the result; stacked_parts()
// gives each input one index of that dim.
Result<std::vector<Part>> joined_parts(const KernelArgs& args);
Result<std::vector<Part>> stacked_parts(const KernelArgs& args);
// The part that input `input` fills: index attrs.index of dim attrs.dim of the result, or the slice
// given by attrs.start, end and step.
Result<Part> selected_part(const KernelArgs& args, size_t input);
Result<Part> sliced_part(const KernelArgs& args, size_t input);

}  // namespace shw::runtime
