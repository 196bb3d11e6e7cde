#include "runtime/world/process_rank.h"

#include <cstddef>
#include <string>

#include "runtime/entry.h"
#include "runtime/port_memory.h"
#include "runtime/whole_tensor.h"

namespace shw::runtime {

Result<std::unique_ptr<ProcessRank>> ProcessRank::create(std::shared_ptr<const Plan> plan,
                                                         std::shared_ptr<ProcessWorld> world,
                                                         const ExecutorOptions& options,
                                                         const RankBackend& backend) {
  if (plan == nullptr || world == nullptr)
    return invalid_argument("a rank needs a plan and a world");
  SHW_ASSIGN_OR_RETURN(Mesh mesh, Mesh::create(plan->program.mesh));
  std::unique_ptr<ProcessRank> rank(new ProcessRank(plan, mesh, world));
  rank->device_ = backend.or_cpu().device(world->rank());
  Joining joining(*world, world->rank());
  SHW_ASSIGN_OR_RETURN(auto in_host_memory, joining.begin(mesh, identity_of(*plan)));
  SHW_ASSIGN_OR_RETURN(auto provider, backend.connect(std::move(in_host_memory), *rank->device_));
  SHW_ASSIGN_OR_RETURN(rank->executor_,
                       Executor::create(plan, rank->device_, std::move(provider), options));
  joining.succeeded();
  return rank;
}

Result<std::vector<BufferRef>> ProcessRank::shard_inputs(const ProgramEntry& entry,
                                                         std::span<const HostTensorView> inputs) {
  std::vector<BufferRef> pieces(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Port& port = program().input(entry, i);
    if (!port.value.valid()) continue;
    SHW_ASSIGN_OR_RETURN(pieces[i], Buffer::allocate(device_, {port_bytes(program(), port)}));
    SHW_RETURN_IF_ERROR(
        write_piece(program(), port, mesh_, world_->rank(), inputs[i], *device_, *pieces[i]));
  }
  return pieces;
}

// Every rank sends the data of its ports, in order, in one message.
Result<std::vector<HostTensor>> ProcessRank::gather(std::span<const Held> held) {
  std::vector<size_t> at(held.size());
  std::vector<std::byte> mine, staged;
  for (size_t i = 0; i < held.size(); ++i) {
    at[i] = mine.size();
    const auto bytes = static_cast<size_t>(port_bytes(program(), *held[i].port));
    if (bytes == 0) continue;
    SHW_ASSIGN_OR_RETURN(const std::byte* data, read_piece(*device_, *held[i].memory, staged));
    mine.insert(mine.end(), data, data + bytes);
  }
  SHW_ASSIGN_OR_RETURN(const auto all, world_->gather_at_root(mine));
  if (world_->rank() != 0) return std::vector<HostTensor>();
  for (size_t r = 0; r < all.size(); ++r)
    if (all[r].size() != mine.size())
      return internal_error("rank " + std::to_string(r) + " sends " +
                            std::to_string(all[r].size()) + " bytes of tensors, rank 0 holds " +
                            std::to_string(mine.size()));
  std::vector<HostTensor> whole(held.size());
  for (size_t i = 0; i < held.size(); ++i) {
    if (!held[i].port->value.valid()) continue;
    SHW_ASSIGN_OR_RETURN(whole[i], whole_tensor(program(), *held[i].port, mesh_, [&](int64_t rank) {
                           return all[static_cast<size_t>(rank)].data() + at[i];
                         }));
  }
  return whole;
}

Result<std::vector<ProcessRank::Held>> ProcessRank::run_pieces(
    std::string_view entry_name, std::span<const HostTensorView> inputs) {
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry,
                       entry_to_run(program(), mesh_, entry_name, inputs.size()));
  SHW_ASSIGN_OR_RETURN(const std::vector<BufferRef> in, shard_inputs(*entry, inputs));
  std::vector<BufferRef> out(entry->outputs.size());
  SHW_ASSIGN_OR_RETURN(const Completion done, executor_->enqueue(*entry, in, out));
  SHW_RETURN_IF_ERROR(done.wait());
  std::vector<Held> held;
  for (size_t i = 0; i < out.size(); ++i)
    held.push_back({&program().output(*entry, i), std::move(out[i])});
  return held;
}

Result<std::vector<HostTensor>> ProcessRank::run(std::string_view entry,
                                                 std::span<const HostTensorView> inputs) {
  SHW_ASSIGN_OR_RETURN(const std::vector<Held> outputs, run_pieces(entry, inputs));
  return gather(outputs);
}

Status ProcessRank::run_only(std::string_view entry, std::span<const HostTensorView> inputs) {
  return run_pieces(entry, inputs).status();
}

Result<ProcessRank::Held> ProcessRank::find_state(std::string_view name) const {
  SHW_ASSIGN_OR_RETURN(const PortId id, find_state_port(program(), name));
  return Held{&program().ports[id], executor_->state(id)};
}

Status ProcessRank::write_state(std::string_view name, const HostTensorView& whole) {
  SHW_ASSIGN_OR_RETURN(const Held state, find_state(name));
  return write_piece(program(), *state.port, mesh_, world_->rank(), whole, *device_, *state.memory);
}

Result<HostTensor> ProcessRank::read_state(std::string_view name) {
  SHW_ASSIGN_OR_RETURN(const Held state, find_state(name));
  SHW_RETURN_IF_ERROR(check_can_shard(*state.port, mesh_));
  SHW_ASSIGN_OR_RETURN(std::vector<HostTensor> whole, gather({&state, 1}));
  return whole.empty() ? HostTensor{} : std::move(whole[0]);
}

}  // namespace shw::runtime
