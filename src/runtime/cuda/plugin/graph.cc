// Captures of streams, and the graphs made from them.
#include "runtime/cuda/plugin/graph.h"

#include "runtime/cuda/plugin/communicators.h"

namespace shw::runtime::cuda {

CudaGraph::~CudaGraph() {
  const Current current(*context_);
  if (collectives_ != nullptr)
    collectives_->job->end(*collectives_);
  else
    (void)context_->driver().destroy_graph_exec(handle_);
}

bool CudaGraph::is_usable() const {
  return collectives_ == nullptr || collectives_->job->is_usable(*collectives_);
}

void CudaGraph::launch(Stream& stream) {
  auto& ours = static_cast<CudaStream&>(stream);
  const Current current(*context_);
  const Driver& driver = context_->driver();
  ours.raise(collectives_ != nullptr ? collectives_->job->launch(*collectives_, ours.handle())
                                     : driver.check(driver.launch_graph(handle_, ours.handle()),
                                                    "launching a CUDA graph"));
}

Result<bool> CudaGraph::update(GraphHandle graph) {
  if (collectives_ != nullptr) return false;
  const Driver& driver = context_->driver();
  GraphUpdateResult result{};
  const DriverError error = driver.update_graph(handle_, graph, &result);
  if (error == kDriverGraphUpdateFailed) return false;
  SHW_RETURN_IF_ERROR(driver.check(error, "changing a CUDA graph"));
  return true;
}

Status CudaStream::begin_capture() {
  const Current current(*context_);
  const std::lock_guard lock(capture_mutex_);
  if (capture_ != nullptr) return failed_precondition("the stream is being captured already");
  const Driver& driver = context_->driver();
  SHW_RETURN_IF_ERROR(
      driver.check(driver.begin_capture(handle_, kCaptureThreadLocal), "capturing a CUDA stream"));
  capture_ = std::make_shared<Capture>();
  capture_->streams.push_back(this);
  return {};
}

void CudaStream::join(std::shared_ptr<Capture> capture) {
  const std::lock_guard lock(capture_mutex_);
  if (capture_ != nullptr) return;
  capture->streams.push_back(this);
  capture_ = std::move(capture);
}

Result<std::unique_ptr<Graph>> CudaStream::end_capture(std::unique_ptr<Graph> known) {
  const Current current(*context_);
  if (capture_ == nullptr || capture_->streams[0] != this)
    return failed_precondition("no capture was begun on this stream");
  const Driver& driver = context_->driver();
  GraphHandle graph = nullptr;
  const DriverError error = driver.end_capture(handle_, &graph);
  const std::vector<CudaStream*> streams = std::exchange(capture_->streams, {});
  std::shared_ptr<CollectiveGraph> collectives = std::move(capture_->collectives);
  Status failed = std::exchange(capture_->error, {});
  for (CudaStream* stream : streams) {
    const std::lock_guard lock(stream->capture_mutex_);
    stream->capture_ = nullptr;
  }
  if (!failed.ok()) {
    if (graph != nullptr) (void)driver.destroy_graph(graph);
    return failed;
  }
  if (Status status = driver.check(error, "capturing a CUDA stream"); !status.ok()) {
    const bool broke_a_rule =
        error >= kDriverCaptureUnsupported && error <= kDriverCaptureWrongThread;
    return broke_a_rule ? failed_precondition(status.message()) : status;
  }
  auto made = make_graph(graph, std::move(collectives), std::move(known));
  (void)driver.destroy_graph(graph);
  return made;
}

Result<std::unique_ptr<Graph>> CudaStream::make_graph(GraphHandle graph,
                                                      std::shared_ptr<CollectiveGraph> collectives,
                                                      std::unique_ptr<Graph> known) const {
  if (known != nullptr && collectives == nullptr) {
    SHW_ASSIGN_OR_RETURN(const bool is_updated, static_cast<CudaGraph&>(*known).update(graph));
    if (is_updated) return known;
  }
  const Driver& driver = context_->driver();
  GraphExecHandle exec = nullptr;
  SHW_RETURN_IF_ERROR(
      driver.check(driver.instantiate_graph(&exec, graph, 0), "making a CUDA graph"));
  if (collectives == nullptr)
    return std::unique_ptr<Graph>(std::make_unique<CudaGraph>(context_, exec));
  SHW_RETURN_IF_ERROR(collectives->job->adopt(collectives, exec));
  return std::unique_ptr<Graph>(std::make_unique<CudaGraph>(context_, std::move(collectives)));
}

}  // namespace shw::runtime::cuda
