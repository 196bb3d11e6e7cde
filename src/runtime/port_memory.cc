#include "runtime/port_memory.h"

namespace shw::runtime {

Status write_piece(const Program& program, const Port& port, const Mesh& mesh, int64_t rank,
                   const HostTensorView& whole, Device& device, const Buffer& memory) {
  const ProgramValue& value = program.values[port.value];
  const auto cut_into = [&](void* piece) {
    return shard(port, mesh, rank, whole, value.type,
                 static_cast<std::byte*>(piece) + value.offset_bytes);
  };
  if (device.can().host_access) return cut_into(memory.data());
  std::vector<std::byte> staged(static_cast<size_t>(memory.bytes()));
  SHW_RETURN_IF_ERROR(cut_into(staged.data()));
  return device.copy(memory.data(), staged.data(), memory.bytes(), CopyKind::kHostToDevice);
}

Result<const std::byte*> read_piece(Device& device, const Buffer& memory,
                                    std::vector<std::byte>& staged) {
  if (device.can().host_access) return static_cast<const std::byte*>(memory.data());
  staged.resize(static_cast<size_t>(memory.bytes()));
  SHW_RETURN_IF_ERROR(
      device.copy(staged.data(), memory.data(), memory.bytes(), CopyKind::kDeviceToHost));
  return staged.data();
}

}  // namespace shw::runtime
