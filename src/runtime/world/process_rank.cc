#include "runtime/world/process_rank.h"

#include <cstddef>
#include <string>

#include "runtime/cpu/device.h"
#include "runtime/entry.h"
#include "runtime/whole_outputs.h"

namespace shw::runtime {

Result<std::unique_ptr<ProcessRank>> ProcessRank::create(std::shared_ptr<const Plan> plan,
                                                         std::shared_ptr<ProcessWorld> world,
                                                         const ExecutorOptions& options) {
  if (plan == nullptr || world == nullptr)
    return invalid_argument("a rank needs a plan and a world");
  SHW_ASSIGN_OR_RETURN(Mesh mesh, Mesh::create(plan->program.mesh));
  std::unique_ptr<ProcessRank> rank(new ProcessRank(plan, mesh, world));
  rank->device_ = std::make_shared<cpu::CpuDevice>();
  Joining joining(*world, world->rank());
  SHW_ASSIGN_OR_RETURN(auto provider, joining.begin(mesh, identity_of(*plan)));
  SHW_ASSIGN_OR_RETURN(rank->executor_,
                       Executor::create(plan, rank->device_, std::move(provider), options));
  joining.succeeded();
  return rank;
}

Result<std::vector<BufferRef>> ProcessRank::shard_inputs(const ProgramEntry& entry,
                                                         std::span<const HostTensorView> inputs) {
  std::vector<BufferRef> pieces(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = plan_->program.input(entry, i);
    if (!port.value.valid()) continue;
    SHW_ASSIGN_OR_RETURN(pieces[i], Buffer::allocate(device_, {port_bytes(plan_->program, port)}));
    const ProgramValue& value = plan_->program.values[port.value];
    SHW_RETURN_IF_ERROR(shard(port, mesh_, world_->rank(), inputs[i], value.type,
                              static_cast<std::byte*>(pieces[i]->data()) + value.offset_bytes));
  }
  return pieces;
}

// Every rank sends what its output ports hold, one after another.
Result<std::vector<HostTensor>> ProcessRank::gather_outputs(const ProgramEntry& entry,
                                                            const std::vector<BufferRef>& outputs) {
  std::vector<size_t> at(outputs.size());
  std::vector<std::byte> mine;
  for (size_t i = 0; i < outputs.size(); ++i) {
    at[i] = mine.size();
    const auto bytes =
        static_cast<size_t>(port_bytes(plan_->program, plan_->program.output(entry, i)));
    if (bytes == 0) continue;
    const auto* data = static_cast<const std::byte*>(outputs[i]->data());
    mine.insert(mine.end(), data, data + bytes);
  }
  SHW_ASSIGN_OR_RETURN(const auto all, world_->gather_at_root(mine));
  if (world_->rank() != 0) return std::vector<HostTensor>();
  for (size_t r = 0; r < all.size(); ++r)
    if (all[r].size() != mine.size())
      return internal_error("rank " + std::to_string(r) + " brings " +
                            std::to_string(all[r].size()) + " bytes of outputs, rank 0 " +
                            std::to_string(mine.size()));
  return whole_outputs(plan_->program, entry, mesh_, [&](int64_t rank, size_t output) {
    return all[static_cast<size_t>(rank)].data() + at[output];
  });
}

Result<std::vector<HostTensor>> ProcessRank::run(std::string_view entry_name,
                                                 std::span<const HostTensorView> inputs) {
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry,
                       entry_to_run(plan_->program, mesh_, entry_name, inputs.size()));
  SHW_ASSIGN_OR_RETURN(const std::vector<BufferRef> in, shard_inputs(*entry, inputs));
  std::vector<BufferRef> out(entry->outputs.size());
  SHW_ASSIGN_OR_RETURN(const Completion done, executor_->enqueue(*entry, in, out));
  SHW_RETURN_IF_ERROR(done.wait());
  return gather_outputs(*entry, out);
}

}  // namespace shw::runtime
