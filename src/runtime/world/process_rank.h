// This process's rank of a job of several processes, with whole tensors in, and whole tensors out
// on rank 0: what virtual_ranks.h is for a job in one process.
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
  // All ranks make theirs; waits for the others.
  static Result<std::unique_ptr<ProcessRank>> create(std::shared_ptr<const Plan> plan,
                                                     std::shared_ptr<ProcessWorld> world,
                                                     const ExecutorOptions& options = {},
                                                     const RankBackend& backend = {});
  const Program& program() const { return plan_->program; }
  Executor& executor() { return *executor_; }

  // Runs an entry to its end. Inputs: one for each port of the entry, whole, the same on all ranks.
  // Outputs on rank 0 likewise, row-major; none on the others.
  Result<std::vector<HostTensor>> run(std::string_view entry,
                                      std::span<const HostTensorView> inputs);
  // The same, but no rank sends its pieces of the outputs.
  Status run_only(std::string_view entry, std::span<const HostTensorView> inputs);

  // What the executors keep, whole, by the name of its port. All ranks call both, with the same
  // arguments; what is read is on rank 0, and an empty tensor on the others. NOT_FOUND: nothing of
  // that name.
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
