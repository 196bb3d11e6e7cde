// The strict device: see README.md.
#pragma once
#include <functional>

#include "runtime/channel.h"
#include "runtime/cpu/device.h"
#include "strict/context.h"

namespace shw::strict {

const runtime::DeviceClass& device_class();

class StrictDevice final : public runtime::Device {
 public:
  explicit StrictDevice(const Options& options = {});

  const runtime::DeviceClass& device_class() const override { return strict::device_class(); }
  Result<void*> allocate(const runtime::MemorySpec& spec) override;
  void free(void* memory, const runtime::MemorySpec& spec) override;
  Status copy(void* to, const void* from, int64_t bytes, runtime::CopyKind kind) override;
  Result<std::unique_ptr<runtime::Stream>> create_stream(
      const runtime::StreamOptions& options) override;
  Result<std::unique_ptr<runtime::Event>> create_event(
      const runtime::EventOptions& options) override;
  bool has_kernel(std::string_view name) const override { return cpu_.has_kernel(name); }
  Result<std::unique_ptr<runtime::PreparedKernel>> prepare(
      std::string_view kernel, const runtime::KernelArgs& args) override;

  Status status() const { return context_->status(); }
  int64_t bytes_in_use() const { return context_->memory.bytes_in_use(); }
  const std::shared_ptr<Context>& context() const { return context_; }

 private:
  std::shared_ptr<Context> context_;
  runtime::cpu::CpuDevice cpu_;
};

// Makes `kernel`, which works on host memory, run on a strict device. `num_buffers`: how many of a
// launch's buffers it reads.
std::unique_ptr<runtime::PreparedKernel> make_strict_kernel(
    std::shared_ptr<Context> context, std::unique_ptr<runtime::PreparedKernel> kernel,
    size_t num_buffers, std::function<void(Status)> on_error);

// Makes the channels of `provider`, which work on host memory, run on a strict device.
std::unique_ptr<runtime::ChannelProvider> make_strict_channels(
    std::shared_ptr<Context> context, std::unique_ptr<runtime::ChannelProvider> provider);

}  // namespace shw::strict
