// Where a program's bytes lie on one rank: the arena, the workspaces, host memory, what the
// executor keeps, the session, and the caller's ports.
#pragma once
#include <memory>
#include <vector>

#include "plan/program.h"
#include "runtime/buffer.h"
#include "runtime/hal.h"

namespace shw::runtime {

// Memory of a device for as long as this object lives.
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
  std::byte* address = nullptr;  // kFixed: known when the plan is loaded; null: without memory
  PortId port = {};              // kPort: the buffer that a run is given for it
  int64_t offset_bytes = 0;      // within that buffer, or that memory of the run's session
};

class ProgramMemory {
 public:
  // `workspace_bytes`: by stream, the largest that a step on it needs. State begins as zeros; of a
  // constant each rank has its piece. `group_bytes`: of the memory of groups, from its beginning.
  static Result<ProgramMemory> create(const std::shared_ptr<Device>& device, const Program& program,
                                      const Mesh& mesh, int64_t rank,
                                      const std::vector<int64_t>& workspace_bytes,
                                      int64_t group_bytes);

  // The one place that knows where storages of each kind lie.
  StorageBase base_of(const ProgramStorage& storage) const;
  // Steps of a stream follow each other, and so share one.
  void* workspace(size_t stream) const { return workspaces_[stream].data(); }
  // Of state and constants; null for other ports.
  const BufferRef& kept(PortId port) const { return kept_[port]; }

 private:
  DeviceMemory arena_, host_, groups_;
  std::vector<DeviceMemory> workspaces_;  // by stream
  IndexVec<PortId, BufferRef> kept_;
};

}  // namespace shw::runtime
