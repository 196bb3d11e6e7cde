// Streams, events and graphs of a strict device.
#pragma once
#include "runtime/hal.h"
#include "strict/queue.h"

namespace shw::strict {

class StrictEvent final : public runtime::Event {
 public:
  StrictEvent(std::shared_ptr<Context> context, const runtime::EventOptions& options);
  bool query() const override;
  bool wait_for(std::chrono::nanoseconds limit) const override;
  Result<std::chrono::nanoseconds> time_since(const runtime::Event& earlier) const override;
  const std::shared_ptr<EventState>& state() const { return state_; }

 private:
  const std::shared_ptr<Context> context_;
  const bool timing_;
  const std::shared_ptr<EventState> state_ = std::make_shared<EventState>();
};

class StrictStream final : public runtime::Stream {
 public:
  StrictStream(std::shared_ptr<Queue> queue, runtime::Fault& fault, bool is_own);
  ~StrictStream() override;

  void record(runtime::Event& event) override;
  void wait(const runtime::Event& event) override;
  void host(runtime::HostWork& work, void* const* buffers) override;
  void copy(void* to, const void* from, int64_t bytes, runtime::CopyKind kind) override;
  void fill(void* to, std::byte value, int64_t bytes) override;
  Result<void*> allocate(const runtime::MemorySpec& spec) override;
  void free(void* memory, const runtime::MemorySpec& spec) override;
  void flush() override {}
  Status synchronize() override;
  Status status() const override { return queue_->context().status(); }
  Status begin_capture() override;
  Result<std::unique_ptr<runtime::Graph>> end_capture(
      std::unique_ptr<runtime::Graph> known) override;
  void* native() const override { return queue_.get(); }

 private:
  const std::shared_ptr<Queue> queue_;
  runtime::Fault& fault_;
  const bool is_own_;
};

// Copies at once between device and host memory, as `kind` says. Fails if the device memory is not
// live.
Status copy_now(Context& context, void* to, const void* from, int64_t bytes,
                runtime::CopyKind kind);

}  // namespace shw::strict
