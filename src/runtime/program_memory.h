// The memory of a program on one rank: the arena, the workspaces, host memory, kept ports (state
// and constants), the session, and the caller's ports.
#pragma once
#include <memory>
#include <vector>

#include "plan/program.h"
#include "runtime/buffer.h"
#include "runtime/hal.h"

namespace shw::runtime {

// Owns an allocation of device memory.
class DeviceMemory {
 public:
  static Result<DeviceMemory> allocate(std::shared_ptr<Device> device, const MemorySpec& spec);
  DeviceMemory() = default;
  DeviceMemory(DeviceMemory&& other) noexcept { swap(other); }
  DeviceMemory& operator=(DeviceMemory&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DeviceMemory();
  std::byte* data() const { return static_cast<std::byte*>(data_); }
  int64_t bytes() const { return spec_.bytes; }

 private:
  void swap(DeviceMemory& other) noexcept;
  std::shared_ptr<Device> device_;
  void* data_ = nullptr;
  MemorySpec spec_;
};

// Where byte 0 of a storage is.
struct StorageBase {
  enum class Kind : uint8_t { kFixed, kPort, kSession, kHostSession } kind;
  std::byte* address = nullptr;  // kFixed: the address; null: no memory
  PortId port = {};              // kPort: the port whose buffer the run supplies
  int64_t offset_bytes = 0;      // within the port's buffer, or the session's memory
};

class ProgramMemory {
 public:
  // `workspace_bytes`: by stream, the largest workspace of its steps. State is initialised with
  // zeros, constants with the rank's piece. `group_bytes`: how much of the memory of groups is
  // needed, from its beginning.
  static Result<ProgramMemory> create(const std::shared_ptr<Device>& device, const Program& program,
                                      const Mesh& mesh, int64_t rank,
                                      const std::vector<int64_t>& workspace_bytes,
                                      int64_t group_bytes);

  // The single place that maps storages of each kind to memory.
  StorageBase base_of(const ProgramStorage& storage) const;
  // The steps of a stream do not overlap, so they share one workspace.
  void* workspace(size_t stream) const { return workspaces_[stream].data(); }
  // The memory of state and constants; null for other ports.
  const BufferRef& kept(PortId port) const { return kept_[port]; }

 private:
  DeviceMemory arena_, host_, groups_;
  std::vector<DeviceMemory> workspaces_;  // by stream
  IndexVec<PortId, BufferRef> kept_;
};

}  // namespace shw::runtime
