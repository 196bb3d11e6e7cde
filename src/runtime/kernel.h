// Kernels as the steps of a program use them. Types and attributes are fixed when a plan is loaded;
// a launch only enqueues work on a stream. hal.h describes what kernels run on.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "sharding/layout.h"
#include "support/status.h"
#include "tensor/attrs.h"
#include "tensor/tensor_type.h"

namespace shw::runtime {

class Stream;

// The step that a prepared kernel serves, for error messages.
struct StepOrigin {
  int64_t node = -1;
  std::string kernel;
};

// The alignment of workspaces in bytes. cuBLASLt 13 refuses a smaller one.
inline constexpr int64_t kWorkspaceAlignment = 256;
// `bytes` rounded up to the alignment: the offset of the next part of a workspace after one of so
// many bytes.
constexpr int64_t workspace_aligned(int64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

// A kernel with types and attributes fixed. Launches on different streams must not overlap.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  virtual int64_t workspace_bytes() const { return 0; }
  // Whether launches may be captured as part of a graph.
  virtual bool can_be_captured() const { return true; }
  // `buffers`: the address of element 0 of each input, then of each output (null: absent), then of
  // a workspace of workspace_bytes(). Inputs may overlap each other, but never an output. The array
  // must stay unchanged until the work is done.
  virtual void launch(Stream& stream, void* const* buffers) = 0;
  StepOrigin origin;
};

// The description of a step from which its kernel is prepared.
struct KernelArgs {
  std::span<const TensorType* const> inputs;   // null: absent
  std::span<const TensorType* const> outputs;  // null: the output is not needed
  const Attrs& attrs;
  const Mesh& mesh;
  int64_t rank;
};

// Where an operand of a step in a group (plan: FusedGroup) lies.
struct GroupOperand {
  int64_t memory = 0;         // operands with the same number lie in the same memory
  int64_t offset_bytes = 0;   // offset of element 0
  bool is_temporary = false;  // only steps of the group use the memory
  // True: the memory is aligned to 64 bytes. False: only to its elements' size.
  bool is_aligned = false;
  // Offset of element 0 in memory that contains several storages; -1: the memory holds only this
  // one.
  int64_t place_bytes = -1;
  // For steps that run slice by slice: `offset_bytes` is the offset in the first slice, `end_bytes`
  // is the end of the last slice, and `slice_stride_bytes` holds the strides between slices, by
  // loop.
  int64_t end_bytes = -1;
  std::span<const int64_t> slice_stride_bytes = {};
};
struct GroupStep {
  std::string_view kernel;
  KernelArgs args;
  std::span<const GroupOperand> operands;  // inputs, then outputs, absent ones too
  int64_t node = -1;                       // as in StepOrigin
};
// One kernel for the first `num_steps` steps of a group.
struct GroupKernel {
  std::unique_ptr<PreparedKernel> kernel;
  size_t num_steps = 0;
};

}  // namespace shw::runtime
