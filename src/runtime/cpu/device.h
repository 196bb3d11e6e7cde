// The CPU as a device: host memory, streams that share threads, and the kernels of kernels/.
#pragma once
#include <memory>

#include "runtime/hal.h"

namespace shw::runtime::cpu {

class Workers;
const DeviceClass& cpu_device_class();
// Threads for the streams of several devices. As many run at a time as there are cores.
std::shared_ptr<Workers> make_workers();

// Allocates the device's memory. Any thread.
class HostAllocator {
 public:
  virtual ~HostAllocator() = default;
  virtual void* allocate(size_t bytes, size_t alignment) noexcept = 0;  // null: out of memory
  virtual void free(void* memory, size_t bytes, size_t alignment) noexcept = 0;
};
Result<void*> allocate(HostAllocator& allocator, const MemorySpec& spec);
void free(HostAllocator& allocator, void* memory, const MemorySpec& spec) noexcept;

class CpuDevice final : public Device {
 public:
  // `allocator` null: the C++ heap. `workers` null: the device has its own threads.
  explicit CpuDevice(std::shared_ptr<HostAllocator> allocator = nullptr,
                     std::shared_ptr<Workers> workers = nullptr);

  const DeviceClass& device_class() const override { return cpu_device_class(); }
  Result<void*> allocate(const MemorySpec& spec) override {
    return cpu::allocate(*allocator_, spec);
  }
  void free(void* memory, const MemorySpec& spec) override { cpu::free(*allocator_, memory, spec); }
  Status copy(void* to, const void* from, int64_t bytes, CopyKind kind) override;
  Result<std::unique_ptr<Stream>> create_stream(const StreamOptions& options) override;
  Result<std::unique_ptr<Event>> create_event(const EventOptions& options = {}) override;
  bool has_kernel(std::string_view name) const override;
  Result<GroupKernel> prepare_group(std::span<const GroupStep> steps) override;
  Result<std::unique_ptr<PreparedKernel>> prepare(std::string_view kernel,
                                                  const KernelArgs& args) override;

 private:
  const std::shared_ptr<HostAllocator> allocator_;
  const std::shared_ptr<Workers> workers_;
};

}  // namespace shw::runtime::cpu
