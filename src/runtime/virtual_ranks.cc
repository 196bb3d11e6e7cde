#include "runtime/virtual_ranks.h"

#include <string>

#include "runtime/collective/local.h"
#include "runtime/entry.h"
#include "runtime/on_each_rank.h"
#include "runtime/port_memory.h"
#include "runtime/whole_tensor.h"

namespace shw::runtime {

Result<std::unique_ptr<VirtualRanks>> VirtualRanks::create(std::shared_ptr<const Plan> plan,
                                                           const ExecutorOptions& options,
                                                           const RankBackend& on) {
  if (plan == nullptr) return invalid_argument("virtual ranks need a plan");
  SHW_ASSIGN_OR_RETURN(Mesh mesh, Mesh::create(plan->program.mesh));
  const std::shared_ptr<LocalHub> hub = LocalHub::create(mesh);
  std::unique_ptr<VirtualRanks> ranks(new VirtualRanks(plan, mesh));
  const RankBackend backend = on.or_cpu();
  for (int64_t r = 0; r < mesh.num_ranks(); ++r) {
    std::shared_ptr<Device> device = backend.device(r);
    SHW_ASSIGN_OR_RETURN(auto channels, backend.connect(hub->provider(r), *device));
    SHW_ASSIGN_OR_RETURN(auto executor,
                         Executor::create(plan, device, std::move(channels), options));
    ranks->devices_.push_back(std::move(device));
    ranks->executors_.push_back(std::move(executor));
  }
  return ranks;
}

Result<BufferRef> VirtualRanks::shard_input(const Port& port, int64_t rank,
                                            const HostTensorView& whole) {
  const std::shared_ptr<Device>& device = devices_[static_cast<size_t>(rank)];
  SHW_ASSIGN_OR_RETURN(auto buffer, Buffer::allocate(device, {port_bytes(program(), port),
                                                              arena_alignment(program())}));
  SHW_RETURN_IF_ERROR(write_piece(program(), port, mesh_, rank, whole, *device, *buffer));
  return buffer;
}

Result<VirtualRanks::RankBuffers> VirtualRanks::shard_inputs(
    const ProgramEntry& entry, std::span<const HostTensorView> inputs) {
  RankBuffers buffers(executors_.size());
  for (int64_t r = 0; r < num_ranks(); ++r) {
    std::vector<BufferRef>& mine = buffers[static_cast<size_t>(r)];
    mine.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Port& port = program().input(entry, i);
      if (!port.value.valid()) continue;
      SHW_ASSIGN_OR_RETURN(mine[i], shard_input(port, r, inputs[i]));
    }
  }
  return buffers;
}

// Assembles the whole tensor of a port from the ranks' buffers.
Result<HostTensor> VirtualRanks::gather_port(const Port& port,
                                             std::span<const BufferRef> buffers) const {
  std::vector<const std::byte*> pieces(executors_.size());
  std::vector<std::vector<std::byte>> staged(executors_.size());
  for (size_t r = 0; r < executors_.size(); ++r) {
    SHW_ASSIGN_OR_RETURN(pieces[r], read_piece(*devices_[r], *buffers[r], staged[r]));
  }
  return whole_tensor(program(), port, mesh_,
                      [&](int64_t rank) { return pieces[static_cast<size_t>(rank)]; });
}

Result<std::vector<HostTensor>> VirtualRanks::gather_outputs(const ProgramEntry& entry,
                                                             const RankBuffers& outputs) {
  std::vector<HostTensor> whole(entry.outputs.size());
  std::vector<BufferRef> buffers(outputs.size());
  for (size_t i = 0; i < whole.size(); ++i) {
    const Port& port = program().output(entry, i);
    if (!port.value.valid()) continue;
    for (size_t r = 0; r < buffers.size(); ++r) buffers[r] = outputs[r][i];
    SHW_ASSIGN_OR_RETURN(whole[i], gather_port(port, buffers));
  }
  return whole;
}

std::vector<BufferRef> VirtualRanks::state_buffers(PortId port) const {
  std::vector<BufferRef> buffers;
  for (const auto& executor : executors_) buffers.push_back(executor->state(port));
  return buffers;
}

Status VirtualRanks::write_state(std::string_view name, const HostTensorView& whole) {
  SHW_ASSIGN_OR_RETURN(const PortId port, find_state_port(program(), name));
  const std::vector<BufferRef> buffers = state_buffers(port);
  for (int64_t r = 0; r < num_ranks(); ++r)
    SHW_RETURN_IF_ERROR(write_piece(program(), program().ports[port], mesh_, r, whole, device(r),
                                    *buffers[static_cast<size_t>(r)]));
  return {};
}

Result<HostTensor> VirtualRanks::read_state(std::string_view name) const {
  SHW_ASSIGN_OR_RETURN(const PortId port, find_state_port(program(), name));
  SHW_RETURN_IF_ERROR(check_can_shard(program().ports[port], mesh_));
  return gather_port(program().ports[port], state_buffers(port));
}

Result<VirtualRanks::Sessions> VirtualRanks::create_sessions() {
  Sessions sessions;
  for (const auto& executor : executors_) {
    SHW_ASSIGN_OR_RETURN(sessions.emplace_back(), executor->create_session());
  }
  return sessions;
}

Result<std::vector<HostTensor>> VirtualRanks::run(std::string_view entry_name,
                                                  std::span<const HostTensorView> inputs,
                                                  const Sessions& sessions) {
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry,
                       entry_to_run(program(), mesh_, entry_name, inputs.size()));
  SHW_ASSIGN_OR_RETURN(const RankBuffers out, run_whole(*entry, inputs, sessions));
  return gather_outputs(*entry, out);
}

Status VirtualRanks::run_only(std::string_view entry_name, std::span<const HostTensorView> inputs,
                              const Sessions& sessions) {
  SHW_ASSIGN_OR_RETURN(const ProgramEntry* entry,
                       entry_to_run(program(), mesh_, entry_name, inputs.size()));
  return run_whole(*entry, inputs, sessions).status();
}

// Returns the outputs of the ranks.
Result<VirtualRanks::RankBuffers> VirtualRanks::run_whole(const ProgramEntry& entry,
                                                          std::span<const HostTensorView> inputs,
                                                          const Sessions& sessions) {
  SHW_ASSIGN_OR_RETURN(const RankBuffers in, shard_inputs(entry, inputs));
  RankBuffers out(executors_.size(), std::vector<BufferRef>(entry.outputs.size()));
  SHW_RETURN_IF_ERROR(run_pieces(entry, in, out, sessions));
  return out;
}

Status VirtualRanks::run_pieces(const ProgramEntry& entry, const RankBuffers& inputs,
                                RankBuffers& outputs, const Sessions& sessions) {
  std::vector<Completion> done(executors_.size());
  Status first = on_each_rank(num_ranks(), device(0), [&](int64_t rank) -> Status {
    const auto r = static_cast<size_t>(rank);
    auto completion = executors_[r]->enqueue(entry, inputs[r], outputs[r], {},
                                             sessions.empty() ? nullptr : sessions[r].get());
    // Otherwise the ranks that have begun would wait for this one for ever.
    if (!completion.ok()) executors_[r]->abort();
    if (completion.ok()) done[r] = *completion;
    return completion.status();
  });
  // Only one rank has the cause; the errors of the others only say that they were stopped.
  for (const Completion& completion : done)
    if (Status s = completion.wait(); !s.ok() && (first.ok() || first.code() == Code::kAborted))
      if (first.ok() || s.code() != Code::kAborted) first = std::move(s);
  return first;
}

void VirtualRanks::reset() {
  for (const auto& executor : executors_) executor->reset();
}

}  // namespace shw::runtime
