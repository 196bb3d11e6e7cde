// shw_device.
#include "device.h"

#include "runtime/cpu/device.h"
#include "runtime/cpu/process_workers.h"
#include "runtime/cuda/cuda.h"
#include "runtime/null/device.h"

using namespace shw;
using namespace shw::capi;

namespace shw::capi {
namespace {

constexpr size_t kDeviceInfoSize_0_2 = SHW_SIZE_TO(shw_device_info, peak_memory_bytes);

class ContextAllocator final : public runtime::cpu::HostAllocator {
 public:
  explicit ContextAllocator(ContextRef c) : context_(std::move(c)) {}
  void* allocate(size_t bytes, size_t alignment) noexcept override {
    try {
      return context_->allocate(bytes, alignment);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  void free(void* memory, size_t bytes, size_t alignment) noexcept override {
    context_->free(memory, bytes, alignment);
  }

 private:
  ContextRef context_;
};

Result<DeviceRef> make_device(const ContextRef& context, shw_device_kind kind, int32_t index) {
  if (kind < SHW_DEVICE_CPU || kind > SHW_DEVICE_NULL)
    return invalid_argument("device kind " + std::to_string(kind) + " is unknown");
  if (kind == SHW_DEVICE_CUDA)
    return runtime::cuda::open_device(runtime::cuda::of_index(context->cuda(), index));
  if (index != 0)
    return invalid_argument("index is " + std::to_string(index) + "; there is only device 0");
  if (kind == SHW_DEVICE_NULL) return DeviceRef(std::make_shared<runtime::null::NullDevice>());
  return make_host_device(context);
}

}  // namespace

DeviceRef make_host_device(const ContextRef& context) {
  return std::make_shared<runtime::cpu::CpuDevice>(std::make_shared<ContextAllocator>(context),
                                                   context->workers().get());
}

shw_device_kind kind_of(const runtime::Device& device) {
  if (runtime::cuda::is_cuda(device)) return SHW_DEVICE_CUDA;
  return &device.device_class() == &runtime::null::device_class() ? SHW_DEVICE_NULL
                                                                  : SHW_DEVICE_CPU;
}

}  // namespace shw::capi

void shw_device_info_init(shw_device_info* info, size_t size) { init_struct(info, size); }

shw_status* shw_device_create(shw_context* context, shw_device_kind kind, int32_t index,
                              shw_device** out_device) {
  return make_handle(out_device, "out_device", [&]() -> Result<std::unique_ptr<shw_device>> {
    SHW_WANT(context);
    SHW_ASSIGN_OR_RETURN(DeviceRef device, make_device(context->ref, kind, index));
    return std::make_unique<shw_device>(shw_device{context->ref, std::move(device)});
  });
}

shw_status* shw_device_get_info(const shw_device* device, shw_device_info* out_info) {
  return fill_struct(out_info, "out_info", kDeviceInfoSize_0_2, [&](auto& out) -> Status {
    SHW_WANT(device);
    const runtime::DeviceClass& device_class = device->ref->device_class();
    out.name = device_class.name.data();  // a literal
    out.kind = kind_of(*device->ref);
    out.computes = device_class.can.computes;
    out.host_access = device_class.can.host_access;
    out.native_streams = device_class.can.native_streams;
    if (out.kind != SHW_DEVICE_NULL) return {};
    const auto counts = static_cast<const runtime::null::NullDevice&>(*device->ref).counts();
    out.num_launches = counts.launches;
    out.num_collectives = counts.collectives;
    out.memory_bytes = counts.memory_bytes;
    out.peak_memory_bytes = counts.peak_memory_bytes;
    return {};
  });
}

void shw_device_destroy(shw_device* device) { delete device; }
