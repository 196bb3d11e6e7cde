// Attention, or its gradients, by cuDNN: faster than the kernels of this library where both can.
#pragma once
#include <memory>
#include <span>

#include "runtime/cuda/plugin/attention_graph.h"
#include "runtime/cuda/plugin/flash.h"

namespace shw::runtime::cuda {

class AttentionByCudnn {
 public:
  // Null: cuDNN is not there, or older than 9.10; it does not know such attention; or there is so
  // little to compute that making a plan, which takes half a second, would not pay. Steps alike
  // share a plan.
  static std::unique_ptr<AttentionByCudnn> create(const Context& context,
                                                  const AttentionArguments& arguments,
                                                  bool has_lse);
  // Also null where results must have the same bits in each run.
  static std::unique_ptr<AttentionByCudnn> create(const Context& context,
                                                  const AttentionBackwardArguments& arguments);

  int64_t workspace_bytes() const;
  // Addresses that fits_flash() takes. The arguments are those of create().
  Status run(CudaStream& stream, const AttentionBuffers& at, void* workspace) const;
  Status run(CudaStream& stream, const AttentionGradients& at, void* workspace) const;

 private:
  AttentionByCudnn(const Context& context, SharedCudnn& cudnn,
                   std::shared_ptr<const CudnnGraph> graph)
      : context_(context), cudnn_(cudnn), graph_(std::move(graph)) {}
  Status run(CudaStream& stream, std::span<void* const> memory, void* workspace) const;

  const Context& context_;
  SharedCudnn& cudnn_;
  const std::shared_ptr<const CudnnGraph> graph_;
  // Of the workspace: rows of f32, and the sums of the queries' gradients; cuDNN's own is behind.
  int64_t row_bytes_ = 0, sum_bytes_ = 0;
};

}  // namespace shw::runtime::cuda
