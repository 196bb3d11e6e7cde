#include "runtime/program_memory.h"

#include <algorithm>
#include <utility>

#include "runtime/host_tensor.h"
#include "runtime/program_layout.h"
#include "runtime/validate.h"

namespace shw::runtime {

Result<DeviceMemory> DeviceMemory::allocate(std::shared_ptr<Device> device,
                                            const MemorySpec& spec) {
  DeviceMemory memory;
  SHW_ASSIGN_OR_RETURN(memory.data_, device->allocate(spec));
  memory.device_ = std::move(device);
  memory.spec_ = spec;
  return memory;
}

DeviceMemory::~DeviceMemory() {
  if (device_ != nullptr) device_->free(data_, spec_);
}

void DeviceMemory::swap(DeviceMemory& other) noexcept {
  std::swap(device_, other.device_);
  std::swap(data_, other.data_);
  std::swap(spec_, other.spec_);
}

namespace {

Result<BufferRef> keep(const std::shared_ptr<Device>& device, const Program& program,
                       const Port& port, const Mesh& mesh, int64_t rank) {
  const ProgramValue& value = program.values[port.value];
  const int64_t bytes = program.storages[value.storage].bytes;
  SHW_ASSIGN_OR_RETURN(auto buffer, Buffer::allocate(device, {bytes, arena_alignment(program)}));
  if (!device->can().computes) return buffer;  // device memory has no contents
  std::vector<std::byte> piece(static_cast<size_t>(bytes));
  if (port.role == PortRole::kConstant)
    SHW_RETURN_IF_ERROR(
        shard(port, mesh, rank, {port.global, port.data.data()}, value.type, piece.data()));
  SHW_RETURN_IF_ERROR(device->copy(buffer->data(), piece.data(), bytes, CopyKind::kHostToDevice));
  return buffer;
}

// The planner's memory limit does not include this memory.
Result<DeviceMemory> allocate_groups(const std::shared_ptr<Device>& device, const Program& program,
                                     int64_t bytes) {
  Result<DeviceMemory> memory = DeviceMemory::allocate(device, {bytes, arena_alignment(program)});
  if (memory.ok() || memory.status().code() != Code::kResourceExhausted) return memory;
  return Status(Code::kResourceExhausted,
                memory.status().message() +
                    ": this device runs the steps of some fused groups one by one, which takes "
                    "memory (group_bytes) beyond what the plan needs otherwise; use a device that "
                    "runs groups, or plan with a lower memory limit");
}

}  // namespace

Result<ProgramMemory> ProgramMemory::create(const std::shared_ptr<Device>& device,
                                            const Program& program, const Mesh& mesh, int64_t rank,
                                            const std::vector<int64_t>& workspace_bytes,
                                            int64_t group_bytes) {
  ProgramMemory memory;
  // Collectives use the arena in every run, so it is registered with their transport.
  const MemoryKind kind = mesh.num_ranks() > 1 ? MemoryKind::kRegistered : MemoryKind::kDevice;
  SHW_ASSIGN_OR_RETURN(
      memory.arena_,
      DeviceMemory::allocate(device, {program.arena_bytes, arena_alignment(program), kind}));
  if (program.host_bytes > 0) {
    SHW_ASSIGN_OR_RETURN(
        memory.host_, DeviceMemory::allocate(device, {program.host_bytes, arena_alignment(program),
                                                      MemoryKind::kHost}));
  }
  if (group_bytes > 0) {
    SHW_ASSIGN_OR_RETURN(memory.groups_, allocate_groups(device, program, group_bytes));
  }
  for (const int64_t bytes : workspace_bytes) {
    SHW_ASSIGN_OR_RETURN(auto workspace,
                         DeviceMemory::allocate(device, {bytes, kWorkspaceAlignment}));
    memory.workspaces_.push_back(std::move(workspace));
  }
  memory.kept_ = IndexVec<PortId, BufferRef>(program.ports.size());
  for (uint32_t i = 0; i < program.ports.size(); ++i) {
    const Port& port = program.ports[PortId{i}];
    const bool kept =
        program.lies_in(port, StorageKind::kState) || program.lies_in(port, StorageKind::kConstant);
    if (kept && is_input(port.role)) {
      SHW_ASSIGN_OR_RETURN(memory.kept_[PortId{i}], keep(device, program, port, mesh, rank));
    }
  }
  return memory;
}

StorageBase ProgramMemory::base_of(const ProgramStorage& storage) const {
  switch (storage.kind) {
    case StorageKind::kArena:
      return {StorageBase::Kind::kFixed, arena_.data() + storage.offset_bytes};
    case StorageKind::kHost:
      return {StorageBase::Kind::kFixed, host_.data() + storage.offset_bytes};
    case StorageKind::kGroup:
      if (storage.offset_bytes + storage.bytes > groups_.bytes())
        return {StorageBase::Kind::kFixed};  // has no memory
      return {StorageBase::Kind::kFixed, groups_.data() + storage.offset_bytes};
    case StorageKind::kState:
    case StorageKind::kConstant:
      return {StorageBase::Kind::kFixed,
              static_cast<std::byte*>(kept_[PortId{storage.port}]->data())};
    case StorageKind::kInput:
    case StorageKind::kOutput:
      return {StorageBase::Kind::kPort, nullptr, PortId{storage.port}};
    case StorageKind::kInOutput:
      return {StorageBase::Kind::kPort, nullptr, PortId{storage.port}, storage.offset_bytes};
    case StorageKind::kSession:
      return {StorageBase::Kind::kSession, nullptr, {}, storage.offset_bytes};
    case StorageKind::kHostSession:
      return {StorageBase::Kind::kHostSession, nullptr, {}, storage.offset_bytes};
  }
  return {StorageBase::Kind::kFixed};
}

PortAlignments port_alignments(const Program& program) {
  PortAlignments alignments(program.ports.size(), 1);
  for (uint32_t i = 0; i < program.ports.size(); ++i)
    alignments[PortId{i}] = element_alignment(program.ports[PortId{i}].global.dtype);
  for (const ProgramStorage& s : program.storages)
    if (s.kind == StorageKind::kInOutput) alignments[PortId{s.port}] = arena_alignment(program);
  return alignments;
}

int64_t port_bytes(const Program& program, const Port& port) {
  return port.value.valid() ? program.storages[program.values[port.value].storage].bytes : 0;
}

}  // namespace shw::runtime
