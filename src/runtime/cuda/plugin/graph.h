// CUDA graphs.
#pragma once
#include <memory>

#include "runtime/cuda/plugin/collective_graph.h"
#include "runtime/cuda/plugin/stream.h"

namespace shw::runtime::cuda {

class CudaGraph final : public Graph {
 public:
  CudaGraph(std::shared_ptr<Context> context, GraphExecHandle handle)
      : context_(std::move(context)), handle_(handle) {}
  // The collectives have the graph's handle.
  CudaGraph(std::shared_ptr<Context> context, std::shared_ptr<CollectiveGraph> collectives)
      : context_(std::move(context)), collectives_(std::move(collectives)) {}
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void launch(Stream& stream) override;
  bool is_usable() const override;
  // False: the graph is not of the same commands, and nothing has changed. A graph with collectives
  // is never changed: the driver does not say whether what NCCL keeps for the graph changes too.
  Result<bool> update(GraphHandle graph);

 private:
  const std::shared_ptr<Context> context_;
  const GraphExecHandle handle_ = nullptr;
  const std::shared_ptr<CollectiveGraph> collectives_;  // null: none
};

}  // namespace shw::runtime::cuda
