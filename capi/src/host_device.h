// The CPU as the runtime sees it, with the memory of the caller's allocator.
#pragma once
#include "context.h"
#include "runtime/cpu/device.h"

namespace shw::capi {

class HostDevice final : public runtime::Device {
 public:
  explicit HostDevice(ContextRef context) : context_(std::move(context)) {}

  Result<void*> allocate(int64_t bytes, int64_t alignment) override {
    return context_->allocate(static_cast<size_t>(bytes), static_cast<size_t>(alignment));
  }
  void free(void* memory, int64_t bytes, int64_t alignment) override {
    context_->free(memory, static_cast<size_t>(bytes), static_cast<size_t>(alignment));
  }
  Status copy_from_host(void* device, const void* host, int64_t bytes) override {
    return cpu_.copy_from_host(device, host, bytes);
  }
  Status copy_to_host(void* host, const void* device, int64_t bytes) override {
    return cpu_.copy_to_host(host, device, bytes);
  }
  Result<std::unique_ptr<runtime::Stream>> create_stream(runtime::Fault& fault,
                                                         int64_t capacity) override {
    return cpu_.create_stream(fault, capacity);
  }
  Result<std::unique_ptr<runtime::Event>> create_event() override { return cpu_.create_event(); }
  const runtime::Kernel* find_kernel(std::string_view name) const override {
    return cpu_.find_kernel(name);
  }

 private:
  ContextRef context_;
  runtime::cpu::CpuDevice cpu_;
};

}  // namespace shw::capi
