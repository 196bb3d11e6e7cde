#include "runtime/program_memory.h"

#include <algorithm>
#include <utility>

#include "runtime/program_layout.h"

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

Result<ProgramMemory> ProgramMemory::create(const std::shared_ptr<Device>& device,
                                            const Program& program,
                                            const std::vector<int64_t>& workspace_bytes) {
  ProgramMemory memory;
  SHW_ASSIGN_OR_RETURN(memory.arena_, DeviceMemory::allocate(
                                          device, {program.arena_bytes, arena_alignment(program)}));
  for (const int64_t bytes : workspace_bytes) {
    SHW_ASSIGN_OR_RETURN(auto workspace,
                         DeviceMemory::allocate(device, {bytes, kWorkspaceAlignment}));
    memory.workspaces_.push_back(std::move(workspace));
  }
  return memory;
}

StorageBase ProgramMemory::base_of(const ProgramStorage& storage) const {
  switch (storage.kind) {
    case StorageKind::kArena:
      return {StorageBase::Kind::kFixed, arena_.data() + storage.offset_bytes};
    case StorageKind::kInput:
      return {StorageBase::Kind::kInput, nullptr, storage.port};
    case StorageKind::kOutput:
      return {StorageBase::Kind::kOutput, nullptr, storage.port};
  }
  return {StorageBase::Kind::kFixed};
}

int64_t port_bytes(const Program& program, const Port& port) {
  return port.value.valid() ? program.storages[program.values[port.value].storage].bytes : 0;
}

}  // namespace shw::runtime
