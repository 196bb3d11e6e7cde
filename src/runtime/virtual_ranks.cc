#include "runtime/virtual_ranks.h"

#include <string>

#include "runtime/collective/local.h"
#include "runtime/cpu/device.h"
#include "runtime/whole_outputs.h"

namespace shw::runtime {

Result<std::unique_ptr<VirtualRanks>> VirtualRanks::create(std::shared_ptr<const Plan> plan,
                                                           const ExecutorOptions& options) {
  if (plan == nullptr) return invalid_argument("virtual ranks need a plan");
  SHW_ASSIGN_OR_RETURN(Mesh mesh, Mesh::create(plan->program.mesh));
  const std::shared_ptr<LocalHub> hub = LocalHub::create(mesh);
  std::unique_ptr<VirtualRanks> ranks(new VirtualRanks(plan, mesh));
  for (int64_t r = 0; r < mesh.num_ranks(); ++r) {
    auto device = std::make_shared<cpu::CpuDevice>();
    SHW_ASSIGN_OR_RETURN(auto executor, Executor::create(plan, device, hub->provider(r), options));
    ranks->devices_.push_back(std::move(device));
    ranks->executors_.push_back(std::move(executor));
  }
  return ranks;
}

Result<VirtualRanks::RankBuffers> VirtualRanks::shard_inputs(
    const ProgramEntry& entry, std::span<const HostTensorView> inputs) {
  RankBuffers buffers(executors_.size());
  for (int64_t r = 0; r < num_ranks(); ++r) {
    std::vector<BufferRef>& mine = buffers[static_cast<size_t>(r)];
    mine.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      const Port& port = entry.inputs[i];
      if (!port.value.valid()) continue;
      SHW_ASSIGN_OR_RETURN(
          mine[i], Buffer::allocate(devices_[static_cast<size_t>(r)], port_bytes(program(), port)));
      const ProgramValue& value = program().values[port.value];
      SHW_RETURN_IF_ERROR(shard(port, mesh_, r, inputs[i], value.type,
                                static_cast<std::byte*>(mine[i]->data()) + value.offset_bytes));
    }
  }
  return buffers;
}

Result<std::vector<HostTensor>> VirtualRanks::run(std::string_view entry_name,
                                                  std::span<const HostTensorView> inputs) {
  const ProgramEntry* entry = executors_[0]->find_entry(entry_name);
  if (entry == nullptr)
    return Status(Code::kNotFound, "the plan has no entry '" + std::string(entry_name) + "'");
  if (inputs.size() != entry->inputs.size())
    return invalid_argument("entry '" + entry->name + "' has " +
                            std::to_string(entry->inputs.size()) + " inputs, not " +
                            std::to_string(inputs.size()));
  for (const Port& port : entry->outputs)
    if (port.value.valid()) SHW_RETURN_IF_ERROR(check_can_shard(port, mesh_));
  SHW_ASSIGN_OR_RETURN(const RankBuffers in, shard_inputs(*entry, inputs));
  RankBuffers out(executors_.size());
  std::vector<Completion> done;
  Status first;
  for (size_t r = 0; r < executors_.size(); ++r) {
    out[r].resize(entry->outputs.size());
    auto completion = executors_[r]->enqueue(*entry, in[r], out[r]);
    if (completion.ok()) {
      done.push_back(*completion);
      continue;
    }
    // The ranks that have begun would wait for this one for ever.
    first = completion.status();
    executors_[r]->abort();
    break;
  }
  // The cause is with one rank; the others only say that they were stopped.
  for (const Completion& completion : done)
    if (Status s = completion.wait(); !s.ok() && (first.ok() || first.code() == Code::kAborted))
      if (first.ok() || s.code() != Code::kAborted) first = std::move(s);
  if (!first.ok()) return first;
  return whole_outputs(program(), *entry, mesh_, [&](int64_t rank, size_t output) {
    return static_cast<const std::byte*>(out[static_cast<size_t>(rank)][output]->data());
  });
}

void VirtualRanks::reset() {
  for (const auto& executor : executors_) executor->reset();
}

}  // namespace shw::runtime
