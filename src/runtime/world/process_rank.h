// Runs this process's rank of a job of several processes. Inputs are whole tensors on every rank;
// whole outputs are on rank 0. The counterpart of virtual_ranks.h, which runs a job in one process.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/executor.h"
#include "runtime/host_tensor.h"
#include "runtime/rank_backend.h"
#include "runtime/world/message_world.h"

namespace shw::runtime {

class ProcessRank {
 public:
  // All ranks must call it; waits for the others.
  static Result<std::unique_ptr<ProcessRank>> create(std::shared_ptr<const Plan> plan,
                                                     std::shared_ptr<ProcessWorld> world,
                                                     const ExecutorOptions& options = {},
                                                     const RankBackend& backend = {});
  const Program& program() const { return plan_->program; }
  Executor& executor() { return *executor_; }

  // Runs an entry to its end. Inputs: one whole tensor for each port of the entry, the same on all
  // ranks. Outputs: on rank 0 likewise, row-major; none on the other ranks.
  Result<std::vector<HostTensor>> run(std::string_view entry,
                                      std::span<const HostTensorView> inputs);
  // Like run(), but the outputs are not gathered.
  Status run_only(std::string_view entry, std::span<const HostTensorView> inputs);

  // Write and read state that the executors keep, as whole tensors, by the name of its port. All
  // ranks must call them with the same arguments. read_state() returns the tensor on rank 0, and an
  // empty tensor on the others. NOT_FOUND: no state has that name.
  Status write_state(std::string_view name, const HostTensorView& whole);
  Result<HostTensor> read_state(std::string_view name);

 private:
  ProcessRank(std::shared_ptr<const Plan> plan, Mesh mesh, std::shared_ptr<ProcessWorld> world)
      : plan_(std::move(plan)), mesh_(std::move(mesh)), world_(std::move(world)) {}
  // A port of the plan, and its memory on this rank; null for a port without a value.
  struct Held {
    const Port* port;
    BufferRef memory;
  };
  Result<std::vector<BufferRef>> shard_inputs(const ProgramEntry& entry,
                                              std::span<const HostTensorView> inputs);
  Result<std::vector<Held>> run_pieces(std::string_view entry,
                                       std::span<const HostTensorView> inputs);
  Result<std::vector<HostTensor>> gather(std::span<const Held> held);
  Result<Held> find_state(std::string_view name) const;

  std::shared_ptr<const Plan> plan_;
  Mesh mesh_;
  std::shared_ptr<ProcessWorld> world_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<Executor> executor_;
};

}  // namespace shw::runtime
