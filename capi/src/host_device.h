// The CPU as a device, with the memory of the caller's allocator.
#pragma once
#include "context.h"
#include "runtime/cpu/device.h"

namespace shw::capi {

inline std::shared_ptr<runtime::Device> make_host_device(ContextRef context) {
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
  return std::make_shared<runtime::cpu::CpuDevice>(
      std::make_shared<ContextAllocator>(std::move(context)));
}

}  // namespace shw::capi
