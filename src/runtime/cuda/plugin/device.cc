#include "runtime/cuda/plugin/device.h"

#include <algorithm>

#include "runtime/cuda/plugin/fused_kernel.h"
#include "runtime/cuda/plugin/kernel.h"
#include "runtime/cuda/plugin/stream.h"

namespace shw::runtime::cuda {
namespace {

constexpr size_t kPage = 4096;  // alignment of pinned memory; minimum alignment of NCCL's

}  // namespace

Result<std::shared_ptr<CudaDevice>> CudaDevice::open(const Options& options) {
  SHW_ASSIGN_OR_RETURN(auto context, Context::open(options));
  const Current current(*context);
  StreamHandle copies = nullptr;
  SHW_RETURN_IF_ERROR(context->driver().check(
      context->driver().create_stream(&copies, kStreamNonBlocking, 0), "making a CUDA stream"));
  return std::shared_ptr<CudaDevice>(new CudaDevice(std::move(context), copies));
}

CudaDevice::~CudaDevice() {
  const Current current(*context_);
  (void)context_->driver().destroy_stream(copies_);
}

Result<DevicePointer> CudaDevice::allocate_aligned(size_t bytes, size_t alignment) {
  const size_t more = alignment > kMemoryAlignment ? alignment : 0;
  DevicePointer memory = 0;
  SHW_RETURN_IF_ERROR(context_->driver().check(
      context_->driver().allocate(&memory, std::max<size_t>(bytes, 1) + more),
      "allocating device memory"));
  if (more == 0) return memory;
  const DevicePointer aligned = (memory + alignment - 1) / alignment * alignment;
  std::lock_guard lock(mutex_);
  larger_[reinterpret_cast<void*>(aligned)] = memory;
  return aligned;
}

Result<void*> CudaDevice::allocate_registered(size_t bytes, size_t alignment) {
  RegisteredMemory& registered = context_->registered();
  void* memory = alignment <= kPage ? registered.allocate(bytes) : nullptr;
  const bool is_of_nccl = memory != nullptr;
  if (!is_of_nccl) {
    SHW_ASSIGN_OR_RETURN(const DevicePointer given, allocate_aligned(bytes, alignment));
    memory = reinterpret_cast<void*>(given);
  }
  registered.add({memory, bytes, is_of_nccl});
  return memory;
}

Result<void*> CudaDevice::allocate(const MemorySpec& spec) {
  const Current current(*context_);
  const auto bytes = static_cast<size_t>(std::max<int64_t>(spec.bytes, 1));
  const auto alignment = static_cast<size_t>(spec.alignment);
  if (spec.kind == MemoryKind::kRegistered) return allocate_registered(bytes, alignment);
  if (spec.kind != MemoryKind::kHost) {
    SHW_ASSIGN_OR_RETURN(const DevicePointer memory, allocate_aligned(bytes, alignment));
    return reinterpret_cast<void*>(memory);
  }
  if (alignment > kPage) return unimplemented("pinned memory aligned to more than 4096 bytes");
  void* memory = nullptr;
  SHW_RETURN_IF_ERROR(context_->driver().check(
      context_->driver().allocate_host(&memory, bytes, kHostMemoryPortable | kHostMemoryMapped),
      "allocating pinned memory"));
  return memory;
}

void CudaDevice::free(void* memory, const MemorySpec& spec) {
  const Current current(*context_);
  if (spec.kind == MemoryKind::kHost) {
    (void)context_->driver().free_host(memory);
    return;
  }
  if (spec.kind == MemoryKind::kRegistered && context_->registered().remove(memory)) return;
  auto given = reinterpret_cast<DevicePointer>(memory);
  {
    std::lock_guard lock(mutex_);
    if (const auto it = larger_.find(memory); it != larger_.end()) {
      given = it->second;
      larger_.erase(it);
    }
  }
  (void)context_->driver().free(given);
}

Status CudaDevice::copy(void* to, const void* from, int64_t bytes, CopyKind kind) {
  if (bytes == 0) return {};
  const Current current(*context_);
  const Driver& d = context_->driver();
  SHW_RETURN_IF_ERROR(copy_on(d, copies_, to, from, bytes, kind));
  return d.check(d.synchronize_stream(copies_), "copying");
}

Result<std::unique_ptr<Stream>> CudaDevice::create_stream(const StreamOptions& options) {
  return CudaStream::create(context_, options);
}

Result<std::unique_ptr<Event>> CudaDevice::create_event(const EventOptions& options) {
  return CudaEvent::create(context_, options);
}

Result<GroupKernel> CudaDevice::prepare_group(std::span<const GroupStep> steps) {
  return prepare_fused_group(*context_, steps);
}

bool CudaDevice::has_kernel(std::string_view name) const { return find_kernel(name) != nullptr; }

Result<std::unique_ptr<PreparedKernel>> CudaDevice::prepare(std::string_view name,
                                                            const KernelArgs& args) {
  const Kernel* kernel = find_kernel(name);
  if (kernel == nullptr)
    return unimplemented("the CUDA backend has no kernel '" + std::string(name) +
                         "' yet: run the plan on the CPU, or plan without this operation");
  SHW_RETURN_IF_ERROR(check_float8(*kernel, args));
  SHW_RETURN_IF_ERROR(context_->load(kernel->programs));
  SHW_ASSIGN_OR_RETURN(auto prepared, kernel->prepare(*context_, args));
  SHW_RETURN_IF_ERROR(context_->load(static_cast<const CudaKernel&>(*prepared).programs()));
  return prepared;
}

}  // namespace shw::runtime::cuda
