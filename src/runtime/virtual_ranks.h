// Runs a whole job in this process: every rank of a plan's mesh on its own device, with whole
// tensors as inputs and outputs. For tests, for the command line, and for trying a plan without a
// cluster.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/executor.h"
#include "runtime/host_tensor.h"
#include "runtime/rank_backend.h"

namespace shw::runtime {

class VirtualRanks {
 public:
  static Result<std::unique_ptr<VirtualRanks>> create(std::shared_ptr<const Plan> plan,
                                                      const ExecutorOptions& options = {},
                                                      const RankBackend& on = {});

  const Program& program() const { return plan_->program; }
  const Mesh& mesh() const { return mesh_; }
  int64_t num_ranks() const { return static_cast<int64_t>(executors_.size()); }
  Executor& executor(int64_t rank) { return *executors_[static_cast<size_t>(rank)]; }
  Device& device(int64_t rank) { return *devices_[static_cast<size_t>(rank)]; }
  std::span<const std::shared_ptr<Device>> devices() const { return devices_; }

  // Runs an entry to its end. Inputs: one whole tensor for each port of the entry. Outputs
  // likewise, row-major; empty for a port without a value. If replicas of an output differ, the
  // plan or a kernel is wrong, and the call fails (INTERNAL).
  using Sessions = std::vector<std::shared_ptr<Session>>;  // by rank
  Result<std::vector<HostTensor>> run(std::string_view entry,
                                      std::span<const HostTensorView> inputs,
                                      const Sessions& sessions = {});
  // Like run(), but the outputs are not assembled.
  Status run_only(std::string_view entry, std::span<const HostTensorView> inputs,
                  const Sessions& sessions = {});
  Result<Sessions> create_sessions();

  // Like run_only() on the ranks' own buffers, [rank][port], as for Executor::enqueue.
  using RankBuffers = std::vector<std::vector<BufferRef>>;
  Status run_pieces(const ProgramEntry& entry, const RankBuffers& inputs, RankBuffers& outputs,
                    const Sessions& sessions = {});

  // Write and read state that the executors keep, as whole tensors, by the name of its port.
  // NOT_FOUND: no state has that name.
  Status write_state(std::string_view name, const HostTensorView& whole);
  Result<HostTensor> read_state(std::string_view name) const;

  // After a failed run: makes all ranks usable again.
  void reset();

 private:
  VirtualRanks(std::shared_ptr<const Plan> plan, Mesh mesh)
      : plan_(std::move(plan)), mesh_(std::move(mesh)) {}
  Result<RankBuffers> shard_inputs(const ProgramEntry& entry,
                                   std::span<const HostTensorView> inputs);
  Result<BufferRef> shard_input(const Port& port, int64_t rank, const HostTensorView& whole);
  Result<HostTensor> gather_port(const Port& port, std::span<const BufferRef> buffers) const;
  Result<RankBuffers> run_whole(const ProgramEntry& entry, std::span<const HostTensorView> inputs,
                                const Sessions& sessions);
  std::vector<BufferRef> state_buffers(PortId port) const;  // by rank
  Result<std::vector<HostTensor>> gather_outputs(const ProgramEntry& entry,
                                                 const RankBuffers& outputs);

  std::shared_ptr<const Plan> plan_;
  Mesh mesh_;
  std::vector<std::shared_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Executor>> executors_;
};

}  // namespace shw::runtime
