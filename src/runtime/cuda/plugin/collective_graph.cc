#include "runtime/cuda/plugin/collective_graph.h"

#include "runtime/cuda/plugin/communicators.h"
#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {

Status Communicators::note(const std::shared_ptr<Communicators>& job,
                           std::shared_ptr<CollectiveGraph>& graph,
                           const std::shared_ptr<Group>& group, const CollectiveRecord& record,
                           CudaStream& stream) {
  if (graph == nullptr) {
    graph = std::make_shared<CollectiveGraph>();
    graph->job = job;
    graph->generation = generation_;
  }
  if (graph->job != job || graph->generation != generation_)
    return {Code::kAborted, "the collectives of one graph are of several communicators"};
  graph->collectives.push_back({group, record});
  return launch_elements(stream, DeviceKernel::shw_count_up, 1, group->counted);
}

Status Communicators::adopt(const std::shared_ptr<CollectiveGraph>& graph, GraphExecHandle exec) {
  std::lock_guard lock(mutex_);
  if (graph->generation == generation_ && failure_.ok()) {
    graphs_.push_back(graph);
    graph->exec = exec;
    return {};
  }
  (void)context_->driver().destroy_graph_exec(exec);
  return {Code::kAborted, failure_.ok() ? "the job was reset" : failure_.message()};
}

Status Communicators::launch(CollectiveGraph& graph, StreamHandle stream) {
  std::lock_guard lock(mutex_);
  if (graph.exec == nullptr)
    return {Code::kAborted, failure_.ok() ? "the job was reset" : failure_.message()};
  SHW_RETURN_IF_ERROR(context_->driver().check(context_->driver().launch_graph(graph.exec, stream),
                                               "launching a CUDA graph"));
  for (const CollectiveGraph::Collective& c : graph.collectives)
    c.group->underway.add_in_graph(numbered(*c.group, c.record));
  changed_.notify_all();
  return {};
}

bool Communicators::is_usable(const CollectiveGraph& graph) const {
  std::lock_guard lock(mutex_);
  return graph.exec != nullptr;
}

void Communicators::end(CollectiveGraph& graph) {
  std::lock_guard lock(mutex_);
  std::erase_if(graphs_, [&](const auto& known) { return known.get() == &graph; });
  if (graph.exec != nullptr) (void)context_->driver().destroy_graph_exec(graph.exec);
  graph.exec = nullptr;
}

}  // namespace shw::runtime::cuda
