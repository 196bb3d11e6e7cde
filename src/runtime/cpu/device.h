// The CPU as a device: host memory, threads as streams, the kernels of kernels/.
#pragma once
#include "runtime/hal.h"

namespace shw::runtime::cpu {

class CpuDevice final : public Device {
 public:
  Result<void*> allocate(int64_t bytes, int64_t alignment) override;
  void free(void* memory, int64_t bytes, int64_t alignment) override;
  Status copy_from_host(void* device, const void* host, int64_t bytes) override;
  Status copy_to_host(void* host, const void* device, int64_t bytes) override;
  Result<std::unique_ptr<Stream>> create_stream(Fault& fault, int64_t capacity) override;
  Result<std::unique_ptr<Event>> create_event() override;
  const Kernel* find_kernel(std::string_view name) const override;
};

// The backend's kernels, by name: the table of kernel_table.cc.
std::span<const Kernel* const> kernel_table();

}  // namespace shw::runtime::cpu
