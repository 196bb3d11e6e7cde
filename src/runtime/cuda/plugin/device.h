// A CUDA device as the runtime sees it (hal.h).
#pragma once
#include <map>
#include <memory>
#include <mutex>

#include "runtime/cuda/plugin/context.h"
#include "runtime/cuda/plugin/event.h"

namespace shw::runtime::cuda {

class CudaDevice final : public Device {
 public:
  static Result<std::shared_ptr<CudaDevice>> open(const Options& options);
  ~CudaDevice() override;

  const DeviceClass& device_class() const override { return cuda::device_class(); }
  std::string model() const override { return context_->name(); }
  Result<void*> allocate(const MemorySpec& spec) override;
  void free(void* memory, const MemorySpec& spec) override;
  Status copy(void* to, const void* from, int64_t bytes, CopyKind kind) override;
  Result<std::unique_ptr<Stream>> create_stream(const StreamOptions& options) override;
  Result<std::unique_ptr<Event>> create_event(const EventOptions& options = {}) override;
  bool has_kernel(std::string_view name) const override;
  Result<GroupKernel> prepare_group(std::span<const GroupStep> steps) override;
  Result<std::unique_ptr<PreparedKernel>> prepare(std::string_view kernel,
                                                  const KernelArgs& args) override;

  const std::shared_ptr<Context>& context() const { return context_; }

 private:
  CudaDevice(std::shared_ptr<Context> context, StreamHandle copies)
      : context_(std::move(context)), copies_(copies) {}
  Result<DevicePointer> allocate_aligned(size_t bytes, size_t alignment);
  Result<void*> allocate_registered(size_t bytes, size_t alignment);

  const std::shared_ptr<Context> context_;
  const StreamHandle copies_;  // for synchronous copies
  std::mutex mutex_;
  // The driver's allocation, by aligned address, where the two differ.
  std::map<void*, DevicePointer> larger_;
};

}  // namespace shw::runtime::cuda
