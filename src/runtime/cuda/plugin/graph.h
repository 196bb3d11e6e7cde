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
  // `collectives` owns the graph's handle.
  CudaGraph(std::shared_ptr<Context> context, std::shared_ptr<CollectiveGraph> collectives)
      : context_(std::move(context)), collectives_(std::move(collectives)) {}
  ~CudaGraph() override;
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  void launch(Stream& stream) override;
  bool is_usable() const override;
  // Updates the pointers. False: the graph has other commands, and nothing has changed. A graph
  // with collectives is never updated, because the driver does not say whether NCCL's data for the
  // graph would be updated too.
  Result<bool> update(GraphHandle graph);

 private:
  const std::shared_ptr<Context> context_;
  const GraphExecHandle handle_ = nullptr;
  const std::shared_ptr<CollectiveGraph> collectives_;  // null: none
};

}  // namespace shw::runtime::cuda
