// Packed documents of attention (runtime/attention_shape.h): a launch that finds the document of
// each position. It runs before the step's own launches.
#pragma once
#include "runtime/attention_shape.h"
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

class Documents {
 public:
  Documents() = default;  // no documents: each row of the batch is one document
  // Reads operand number `operand`, if present, of a step of kernel `kernel`.
  static Result<Documents> of(const KernelArgs& args, size_t operand, const AttentionShape& shape,
                              const char* kernel);

  bool are_there() const { return arguments_.count > 0; }
  unsigned programs() const { return are_there() ? cuda::programs(DeviceProgram::documents) : 0; }
  // Size of the memory for the documents of all positions.
  int64_t bytes() const {
    return are_there() ? arguments_.batch * arguments_.positions * int64_t{sizeof(KeySpan)} : 0;
  }
  // Returns `memory`, filled with the documents; null: there are none.
  Result<const KeySpan*> run(CudaStream& stream, void* const* buffers, void* memory,
                             int64_t node) const;

 private:
  DocumentArguments arguments_{};
  size_t operand_ = 0;
};

}  // namespace shw::runtime::cuda
