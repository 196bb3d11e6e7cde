// Kernels, as a program's steps see them: types and attributes are fixed when a plan is loaded, and
// a launch only puts work on a stream. What kernels run on is in hal.h.
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

// Workspaces begin at a multiple of this. cuBLASLt 13 refuses one that lies at less.
inline constexpr int64_t kWorkspaceAlignment = 256;
// The bytes from one place in a workspace to the next one behind so many.
constexpr int64_t workspace_aligned(int64_t bytes) {
  return (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

// A kernel with types and attributes fixed. Launches from several streams do not overlap.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  virtual int64_t workspace_bytes() const { return 0; }
  // Whether launches may be captured as part of a graph.
  virtual bool can_be_captured() const { return true; }
  // `buffers`: element 0 of each input, then of each output (null: absent), then a workspace of
  // workspace_bytes(). Inputs may overlap each other, never an output. The array must stay as it is
  // until the work is done.
  virtual void launch(Stream& stream, void* const* buffers) = 0;
  StepOrigin origin;
};

// What is known of a step when it is prepared.
struct KernelArgs {
  std::span<const TensorType* const> inputs;   // null: absent
  std::span<const TensorType* const> outputs;  // null: nobody wants it
  const Attrs& attrs;
  const Mesh& mesh;
  int64_t rank;
};

// A step of a group (plan: FusedGroup): where its operands lie.
struct GroupOperand {
  int64_t memory = 0;         // operands of one number lie in one memory
  int64_t offset_bytes = 0;   // of element 0
  bool is_temporary = false;  // steps of the group alone see the memory
  bool is_aligned = false;    // the memory begins at a multiple of 64; else of its elements' size
  // Where element 0 lies in memory in which storages follow one another; -1: the memory is its own.
  int64_t place_bytes = -1;
  // Of steps that run slice by slice: `offset_bytes` is that of the first slice, and these are the
  // end of the last one and the strides from slice to slice, by loop.
  int64_t end_bytes = -1;
  std::span<const int64_t> slice_stride_bytes = {};
};
struct GroupStep {
  std::string_view kernel;
  KernelArgs args;
  std::span<const GroupOperand> operands;  // inputs, then outputs, absent ones too
  int64_t node = -1;                       // as StepOrigin's
};
// Does so many steps, from the first one on.
struct GroupKernel {
  std::unique_ptr<PreparedKernel> kernel;
  size_t num_steps = 0;
};

}  // namespace shw::runtime
