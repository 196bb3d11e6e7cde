#include "strict/device.h"

#include "strict/stream.h"

namespace shw::strict {

using runtime::MemorySpec;
using runtime::PreparedKernel;

const runtime::DeviceClass& device_class() {
  static const runtime::DeviceClass kClass{"strict", {.native_streams = true, .graphs = true}};
  return kClass;
}

StrictDevice::StrictDevice(const Options& options) : context_(std::make_shared<Context>(options)) {}

Result<void*> StrictDevice::allocate(const MemorySpec& spec) {
  SHW_RETURN_IF_ERROR(context_->enter_and_wait("Device::allocate"));
  if (context_->allocation_fails()) return Status(Code::kResourceExhausted, "injected");
  SHW_ASSIGN_OR_RETURN(void* memory, context_->memory.reserve(spec));
  context_->memory.make_live(memory);
  return memory;
}

void StrictDevice::free(void* memory, const MemorySpec& spec) {
  if (!context_->enter_and_wait("Device::free").ok() && !context_->lost()) return;
  if (Status s = context_->memory.release(memory, spec); !s.ok()) context_->lose(std::move(s));
}

Status StrictDevice::copy(void* to, const void* from, int64_t bytes, runtime::CopyKind kind) {
  SHW_RETURN_IF_ERROR(context_->enter_and_wait("Device::copy"));
  Status s = copy_now(*context_, to, from, bytes, kind);
  if (!s.ok()) context_->lose(s);
  return s;
}

Result<std::unique_ptr<runtime::Stream>> StrictDevice::create_stream(
    const runtime::StreamOptions& options) {
  SHW_RETURN_IF_ERROR(context_->enter("Device::create_stream"));
  const bool is_own = options.native == nullptr;
  auto queue = is_own ? std::make_shared<Queue>(context_)
                      : static_cast<Queue*>(options.native)->shared_from_this();
  return std::unique_ptr<runtime::Stream>(
      std::make_unique<StrictStream>(std::move(queue), *options.fault, is_own));
}

Result<std::unique_ptr<runtime::Event>> StrictDevice::create_event(
    const runtime::EventOptions& options) {
  SHW_RETURN_IF_ERROR(context_->enter("Device::create_event"));
  return std::unique_ptr<runtime::Event>(std::make_unique<StrictEvent>(context_, options));
}

Result<std::unique_ptr<PreparedKernel>> StrictDevice::prepare(std::string_view name,
                                                              const runtime::KernelArgs& args) {
  SHW_RETURN_IF_ERROR(context_->enter("Device::prepare"));
  SHW_ASSIGN_OR_RETURN(auto kernel, cpu_.prepare(name, args));
  return make_strict_kernel(context_, std::move(kernel),
                            args.inputs.size() + args.outputs.size() + 1,
                            [context = context_](Status s) { context->lose(std::move(s)); });
}

}  // namespace shw::strict
