#include "runtime/cpu/device.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <system_error>

#include "runtime/cpu/compiled_group.h"
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/stream.h"
#include "support/large_memory.h"

namespace shw::runtime::cpu {
namespace {

class Heap final : public HostAllocator {
 public:
  void* allocate(size_t bytes, size_t alignment) noexcept override {
    void* memory = ::operator new(bytes, large_alignment(bytes, alignment), std::nothrow);
    advise_huge_pages(memory, bytes);
    return memory;
  }
  void free(void* memory, size_t bytes, size_t alignment) noexcept override {
    ::operator delete(memory, large_alignment(bytes, alignment), std::nothrow);
  }
};

// At least one byte, so that an empty tensor has its own address.
size_t real_bytes(const MemorySpec& spec) {
  return static_cast<size_t>(spec.bytes < 1 ? 1 : spec.bytes);
}

Status no_memory(int64_t bytes) noexcept {
  try {
    return Status(Code::kResourceExhausted,
                  "no host memory for " + std::to_string(bytes) + " bytes of tensors");
  } catch (const std::bad_alloc&) {
    return Status(Code::kResourceExhausted, "out of memory");  // stored without the heap
  }
}

const Kernel* find_kernel(std::string_view name) {
  for (const Kernel* kernel : kernel_table())
    if (kernel->name == name) return kernel;
  return nullptr;
}

Prepared prepare_kernel(std::string_view name, const KernelArgs& args) {
  const Kernel* kernel = find_kernel(name);
  if (kernel == nullptr)
    return unimplemented("the CPU backend has no kernel '" + std::string(name) + "'");
  return kernel->prepare(args);
}

}  // namespace

const DeviceClass& cpu_device_class() {
  static const DeviceClass kClass{"cpu",
                                  {.host_access = true, .prompt_errors = true, .slices = true}};
  return kClass;
}

std::shared_ptr<Workers> make_workers() { return std::make_shared<Workers>(); }

CpuDevice::CpuDevice(std::shared_ptr<HostAllocator> allocator, std::shared_ptr<Workers> workers)
    : allocator_(allocator != nullptr ? std::move(allocator) : std::make_shared<Heap>()),
      workers_(workers != nullptr ? std::move(workers) : make_workers()) {}

Result<void*> allocate(HostAllocator& allocator, const MemorySpec& spec) {
  // Some allocators treat larger sizes as a bug.
  constexpr int64_t kAddressSpace = int64_t{1} << 47;
  void* memory = spec.bytes > kAddressSpace
                     ? nullptr
                     : allocator.allocate(real_bytes(spec), static_cast<size_t>(spec.alignment));
  if (memory == nullptr) return no_memory(spec.bytes);
  return memory;
}

void free(HostAllocator& allocator, void* memory, const MemorySpec& spec) noexcept {
  allocator.free(memory, real_bytes(spec), static_cast<size_t>(spec.alignment));
}

Status CpuDevice::copy(void* to, const void* from, int64_t bytes, CopyKind) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
  return {};
}

Result<std::unique_ptr<Stream>> CpuDevice::create_stream(const StreamOptions& options) {
  if (options.native != nullptr)
    return unimplemented("the CPU has no streams of the caller: leave the native stream empty");
  try {
    return std::unique_ptr<Stream>(
        std::make_unique<CpuStream>(*options.fault, options.capacity, allocator_, workers_));
  } catch (const std::system_error& e) {
    return Status(Code::kResourceExhausted, std::string("no thread for a stream: ") + e.what());
  }
}

Result<std::unique_ptr<Event>> CpuDevice::create_event(const EventOptions& options) {
  return std::unique_ptr<Event>(std::make_unique<CpuEvent>(options));
}

bool CpuDevice::has_kernel(std::string_view name) const { return find_kernel(name) != nullptr; }

Result<std::unique_ptr<PreparedKernel>> CpuDevice::prepare(std::string_view name,
                                                           const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(auto prepared, prepare_kernel(name, args));
  prepared->set_never_blocks();
  return std::unique_ptr<PreparedKernel>(std::move(prepared));
}

Result<GroupKernel> CpuDevice::prepare_group(std::span<const GroupStep> steps) {
  return compile_group(steps, prepare_kernel);
}

}  // namespace shw::runtime::cpu
