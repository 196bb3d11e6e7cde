// This process's rank of a job of several processes, with whole tensors in, and whole tensors out
// on rank 0: what virtual_ranks.h is for a job in one process.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/executor.h"
#include "runtime/host_tensor.h"
#include "runtime/world/message_world.h"

namespace shw::runtime {

class ProcessRank {
 public:
  // All ranks make theirs; waits for the others.
  static Result<std::unique_ptr<ProcessRank>> create(std::shared_ptr<const Plan> plan,
                                                     std::shared_ptr<ProcessWorld> world,
                                                     const ExecutorOptions& options = {});
  Executor& executor() { return *executor_; }

  // Runs an entry to its end. Inputs: one for each port of the entry, whole, the same on all ranks.
  // Outputs on rank 0 likewise, row-major; none on the others.
  Result<std::vector<HostTensor>> run(std::string_view entry,
                                      std::span<const HostTensorView> inputs);

 private:
  ProcessRank(std::shared_ptr<const Plan> plan, Mesh mesh, std::shared_ptr<ProcessWorld> world)
      : plan_(std::move(plan)), mesh_(std::move(mesh)), world_(std::move(world)) {}
  Result<std::vector<BufferRef>> shard_inputs(const ProgramEntry& entry,
                                              std::span<const HostTensorView> inputs);
  Result<std::vector<HostTensor>> gather_outputs(const ProgramEntry& entry,
                                                 const std::vector<BufferRef>& outputs);

  std::shared_ptr<const Plan> plan_;
  Mesh mesh_;
  std::shared_ptr<ProcessWorld> world_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace shw::runtime
