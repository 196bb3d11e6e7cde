// A whole job in this process: every rank of a plan's mesh on a CPU device of its own, with whole
// tensors in and whole tensors out. For tests, for the command line, and for trying a plan where
// there is no cluster.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/executor.h"
#include "runtime/host_tensor.h"

namespace shw::runtime {

class VirtualRanks {
 public:
  static Result<std::unique_ptr<VirtualRanks>> create(std::shared_ptr<const Plan> plan,
                                                      const ExecutorOptions& options = {});

  const Program& program() const { return plan_->program; }
  const Mesh& mesh() const { return mesh_; }
  int64_t num_ranks() const { return static_cast<int64_t>(executors_.size()); }
  Executor& executor(int64_t rank) { return *executors_[static_cast<size_t>(rank)]; }
  Device& device(int64_t rank) { return *devices_[static_cast<size_t>(rank)]; }

  // Runs an entry to its end. Inputs: one for each port of the entry, whole. Outputs likewise, row
  // major; empty for a port without a value. Replicas of an output that differ are an error
  // (INTERNAL): the plan, or a kernel, is wrong.
  Result<std::vector<HostTensor>> run(std::string_view entry,
                                      std::span<const HostTensorView> inputs);

  // After a failed run: makes all ranks usable again.
  void reset();

 private:
  using RankBuffers = std::vector<std::vector<BufferRef>>;  // [rank][port]
  VirtualRanks(std::shared_ptr<const Plan> plan, Mesh mesh)
      : plan_(std::move(plan)), mesh_(std::move(mesh)) {}
  Result<RankBuffers> shard_inputs(const ProgramEntry& entry,
                                   std::span<const HostTensorView> inputs);

  std::shared_ptr<const Plan> plan_;
  Mesh mesh_;
  std::vector<std::shared_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Executor>> executors_;
};

}  // namespace shw::runtime
