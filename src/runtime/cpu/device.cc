#include "runtime/cpu/device.h"

#include <cstring>
#include <new>
#include <system_error>

#include "runtime/cpu/stream.h"

namespace shw::runtime::cpu {

Result<void*> CpuDevice::allocate(int64_t bytes, int64_t alignment) {
  constexpr int64_t kAddressSpace = int64_t{1} << 47;  // more, some allocators take for a bug
  // At least one byte, so that an empty tensor has an address of its own.
  void* p = bytes > kAddressSpace
                ? nullptr
                : ::operator new(static_cast<size_t>(bytes < 1 ? 1 : bytes),
                                 std::align_val_t(static_cast<size_t>(alignment)), std::nothrow);
  if (p == nullptr)
    return Status(Code::kResourceExhausted,
                  "no host memory for " + std::to_string(bytes) + " bytes of tensors");
  return p;
}

void CpuDevice::free(void* memory, int64_t, int64_t alignment) {
  ::operator delete(memory, std::align_val_t(static_cast<size_t>(alignment)), std::nothrow);
}

Status CpuDevice::copy_from_host(void* device, const void* host, int64_t bytes) {
  if (bytes > 0) std::memcpy(device, host, static_cast<size_t>(bytes));
  return {};
}

Status CpuDevice::copy_to_host(void* host, const void* device, int64_t bytes) {
  if (bytes > 0) std::memcpy(host, device, static_cast<size_t>(bytes));
  return {};
}

Result<std::unique_ptr<Stream>> CpuDevice::create_stream(Fault& fault, int64_t capacity) {
  try {
    return std::unique_ptr<Stream>(std::make_unique<CpuStream>(fault, capacity));
  } catch (const std::system_error& e) {
    return Status(Code::kResourceExhausted, std::string("no thread for a stream: ") + e.what());
  }
}

Result<std::unique_ptr<Event>> CpuDevice::create_event() {
  return std::unique_ptr<Event>(std::make_unique<CpuEvent>());
}

const Kernel* CpuDevice::find_kernel(std::string_view name) const {
  for (const Kernel* kernel : kernel_table())
    if (kernel->name == name) return kernel;
  return nullptr;
}

}  // namespace shw::runtime::cpu
