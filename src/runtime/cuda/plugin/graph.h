// CUDA graphs.
#pragma once
#include <memory>

#include "runtime/cuda/plugin/stream.h"

namespace shw::runtime::cuda {

class CudaGraph final : public Graph {
 public:
  CudaGraph(std::shared_ptr<Context> context, GraphExecHandle handle)
      : context_(std::move(context)), handle_(handle) {}
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void launch(Stream& stream) override;
  // False: the graph is not of the same commands, and nothing has changed.
  Result<bool> update(GraphHandle graph);

 private:
  const std::shared_ptr<Context> context_;
  const GraphExecHandle handle_;
};

}  // namespace shw::runtime::cuda
