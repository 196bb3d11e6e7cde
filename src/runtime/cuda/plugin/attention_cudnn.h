// Attention, or its gradients, by cuDNN. Where both are possible, cuDNN is faster than the kernels
// of this library.
#pragma once
#include <memory>
#include <span>

#include "runtime/cuda/plugin/attention_graph.h"
#include "runtime/cuda/plugin/flash.h"

namespace shw::runtime::cuda {

class AttentionByCudnn {
 public:
  // Null: cuDNN is missing or older than 9.10, it does not support this attention, or the
  // computation is too small to justify making a plan, which takes half a second. Equal steps share
  // a plan.
  static std::unique_ptr<AttentionByCudnn> create(const Context& context,
                                                  const AttentionArguments& arguments,
                                                  bool has_lse);
  // Also null if results must have the same bits in each run.
  static std::unique_ptr<AttentionByCudnn> create(const Context& context,
                                                  const AttentionBackwardArguments& arguments);

  int64_t workspace_bytes() const;
  // The addresses must satisfy fits_flash(). The arguments are those of create().
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
  // Parts of the workspace: rows of f32, then the sums of the queries' gradients; cuDNN's own
  // workspace follows.
  int64_t row_bytes_ = 0, sum_bytes_ = 0;
};

}  // namespace shw::runtime::cuda
