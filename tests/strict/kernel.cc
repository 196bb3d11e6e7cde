// Kernels and collectives that work on host memory, on a strict device.
#include "strict/device.h"
#include "strict/queue.h"

namespace shw::strict {
namespace {

using runtime::CollectiveSpec;
using runtime::PreparedKernel;

// The stream on which a strict stream's thread launches a CPU kernel. It executes the kernel's host
// work immediately.
class AtOnce final : public runtime::Stream {
 public:
  Status result;
  void host(runtime::HostWork& work, void* const* buffers) override { result = work.run(buffers); }

  // CPU kernels enqueue only host work, so all other commands are refused.
  void record(runtime::Event&) override { refuse(); }
  void wait(const runtime::Event&) override { refuse(); }
  void copy(void*, const void*, int64_t, runtime::CopyKind) override { refuse(); }
  void fill(void*, std::byte, int64_t) override { refuse(); }
  Result<void*> allocate(const runtime::MemorySpec&) override {
    return internal_error("no memory");
  }
  void free(void*, const runtime::MemorySpec&) override { refuse(); }
  void flush() override {}
  Status synchronize() override { return {}; }
  Status status() const override { return {}; }

 private:
  void refuse() { result = internal_error("a host kernel used its stream"); }
};

class StrictKernel final : public PreparedKernel {
 public:
  StrictKernel(std::shared_ptr<Context> context, std::unique_ptr<PreparedKernel> kernel,
               size_t num_buffers, std::function<void(Status)> on_error)
      : context_(std::move(context)),
        kernel_(std::move(kernel)),
        num_buffers_(num_buffers),
        on_error_(std::move(on_error)) {}

  int64_t workspace_bytes() const override { return kernel_->workspace_bytes(); }
  void launch(runtime::Stream& stream, void* const* buffers) override {
    (void)context_->enter("PreparedKernel::launch");
    if (!told_origin_) kernel_->origin = origin;
    told_origin_ = true;
    auto* queue = static_cast<Queue*>(stream.native());
    if (queue == nullptr)
      return context_->lose(invalid_argument("a launch on a stream of another backend"));
    queue->launch([this](const Pointers& pointers) { run(pointers); }, buffers, num_buffers_);
  }

 private:
  void run(const Pointers& pointers) {
    if (context_->launch_fails())
      return context_->lose(internal_error("a launch failed, as it was told to"));
    std::vector<void*> translated;
    for (void* p : pointers) {
      translated.push_back(nullptr);
      if (p == nullptr) continue;
      auto at = context_->memory.for_kernels(p);
      if (!at.ok()) {
        Status s = at.status();
        return context_->lose(s.at_node(origin.node, origin.kernel));
      }
      translated.back() = *at;
    }
    AtOnce now;
    kernel_->launch(now, translated.data());
    if (!now.result.ok()) on_error_(std::move(now.result));
  }

  const std::shared_ptr<Context> context_;
  const std::unique_ptr<PreparedKernel> kernel_;
  const size_t num_buffers_;
  const std::function<void(Status)> on_error_;
  // set by the first launch, since later launches may run concurrently with the kernel
  bool told_origin_ = false;
};

// Keeps the errors of collectives for async_status().
struct AsyncStatus {
  std::mutex mutex;
  Status status;
};

class StrictChannel final : public runtime::Channel {
 public:
  StrictChannel(std::shared_ptr<Context> context, std::unique_ptr<runtime::Channel> channel,
                std::shared_ptr<AsyncStatus> async)
      : context_(std::move(context)), channel_(std::move(channel)), async_(std::move(async)) {}
  int64_t member() const override { return channel_->member(); }
  int64_t size() const override { return channel_->size(); }
  Result<std::unique_ptr<PreparedKernel>> prepare(const CollectiveSpec& spec) override {
    SHW_ASSIGN_OR_RETURN(auto kernel, channel_->prepare(spec));
    return make_strict_kernel(context_, std::move(kernel), 3, [async = async_](Status s) {
      std::lock_guard lock(async->mutex);
      if (async->status.ok()) async->status = std::move(s);
    });
  }

 private:
  const std::shared_ptr<Context> context_;
  const std::unique_ptr<runtime::Channel> channel_;
  const std::shared_ptr<AsyncStatus> async_;
};

class StrictProvider final : public runtime::ChannelProvider {
 public:
  StrictProvider(std::shared_ptr<Context> context,
                 std::unique_ptr<runtime::ChannelProvider> provider)
      : context_(std::move(context)), provider_(std::move(provider)) {}
  int64_t rank() const override { return provider_->rank(); }
  const Mesh& mesh() const override { return provider_->mesh(); }
  Result<std::unique_ptr<runtime::Channel>> channel(std::span<const uint8_t> axes) override {
    SHW_ASSIGN_OR_RETURN(auto channel, provider_->channel(axes));
    return std::unique_ptr<runtime::Channel>(
        std::make_unique<StrictChannel>(context_, std::move(channel), async_));
  }
  void abort(const Status& cause) override { provider_->abort(cause); }
  void reset() override {
    provider_->reset();
    std::lock_guard lock(async_->mutex);
    async_->status = {};
  }
  Status async_status() const override {
    std::lock_guard lock(async_->mutex);
    return async_->status;
  }

 private:
  const std::shared_ptr<Context> context_;
  const std::unique_ptr<runtime::ChannelProvider> provider_;
  const std::shared_ptr<AsyncStatus> async_ = std::make_shared<AsyncStatus>();
};

}  // namespace

std::unique_ptr<PreparedKernel> make_strict_kernel(std::shared_ptr<Context> context,
                                                   std::unique_ptr<PreparedKernel> kernel,
                                                   size_t num_buffers,
                                                   std::function<void(Status)> on_error) {
  return std::make_unique<StrictKernel>(std::move(context), std::move(kernel), num_buffers,
                                        std::move(on_error));
}

std::unique_ptr<runtime::ChannelProvider> make_strict_channels(
    std::shared_ptr<Context> context, std::unique_ptr<runtime::ChannelProvider> provider) {
  return std::make_unique<StrictProvider>(std::move(context), std::move(provider));
}

}  // namespace shw::strict
