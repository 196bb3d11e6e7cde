// CUDA's events.
#pragma once
#include <atomic>
#include <memory>

#include "runtime/cuda/plugin/context.h"
#include "runtime/hal.h"

namespace shw::runtime::cuda {

const DeviceClass& device_class();
struct Capture;

class CudaEvent final : public Event {
 public:
  static Result<std::unique_ptr<Event>> create(std::shared_ptr<Context> context,
                                               const EventOptions& options);
  ~CudaEvent() override;

  bool query() const override;
  bool wait_for(std::chrono::nanoseconds limit) const override;
  Result<std::chrono::nanoseconds> time_since(const Event& earlier) const override;

  // `capture`: the capture that the stream takes part in; null: none.
  Status record(StreamHandle stream, std::shared_ptr<Capture> capture);
  // The capture that the latest record belongs to. Only for the thread that records and waits.
  const std::shared_ptr<Capture>& capture() const { return capture_; }
  EventHandle handle() const { return handle_; }

 private:
  CudaEvent(std::shared_ptr<Context> context, bool timing, EventHandle handle)
      : Event(cuda::device_class()),
        context_(std::move(context)),
        timing_(timing),
        handle_(handle) {}

  const std::shared_ptr<Context> context_;
  const bool timing_;
  const EventHandle handle_;
  std::atomic<bool> was_recorded_{false};
  std::shared_ptr<Capture> capture_;
};

}  // namespace shw::runtime::cuda
