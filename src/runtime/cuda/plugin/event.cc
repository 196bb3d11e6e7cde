#include "runtime/cuda/plugin/event.h"

#include <algorithm>
#include <thread>

namespace shw::runtime::cuda {

const DeviceClass& device_class() {
  static const DeviceClass kClass{
      "cuda", {.native_streams = true, .priorities = true, .graphs = true, .counts = true}};
  return kClass;
}

Result<std::unique_ptr<Event>> CudaEvent::create(std::shared_ptr<Context> context,
                                                 const EventOptions& options) {
  const Current current(*context);
  EventHandle handle = nullptr;
  SHW_RETURN_IF_ERROR(context->driver().check(
      context->driver().create_event(&handle, options.timing ? 0u : unsigned{kEventDisableTiming}),
      "making a CUDA event"));
  return std::unique_ptr<Event>(new CudaEvent(std::move(context), options.timing, handle));
}

CudaEvent::~CudaEvent() {
  const Current current(*context_);
  (void)context_->driver().destroy_event(handle_);
}

Status CudaEvent::record(StreamHandle stream, std::shared_ptr<Capture> capture) {
  was_recorded_ = true;
  capture_ = std::move(capture);
  return context_->driver().check(context_->driver().record_event(handle_, stream),
                                  "recording a CUDA event");
}

// A lost device does not reach events any more, so the event then counts as reached.
bool CudaEvent::query() const {
  const Current current(*context_);
  return context_->driver().query_event(handle_) != kDriverNotReady;
}

// The driver has no wait with a time limit, so this polls, at short intervals first.
bool CudaEvent::wait_for(std::chrono::nanoseconds limit) const {
  using Clock = std::chrono::steady_clock;
  const auto until =
      Clock::now() + std::min<std::chrono::nanoseconds>(limit, std::chrono::hours(1));
  std::chrono::microseconds pause{5};
  while (!query()) {
    if (Clock::now() >= until) return false;
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::microseconds(500));
  }
  return true;
}

Result<std::chrono::nanoseconds> CudaEvent::time_since(const Event& earlier) const {
  if (&earlier.device_class() != &cuda::device_class())
    return invalid_argument("time is measured between two events of one backend");
  const auto& from = static_cast<const CudaEvent&>(earlier);
  if (!timing_ || !from.timing_)
    return invalid_argument("time is measured between two events made with timing");
  const Current current(*context_);
  float ms = 0;
  const bool recorded = was_recorded_ && from.was_recorded_;
  const DriverError error =
      recorded ? context_->driver().elapsed_time(&ms, from.handle_, handle_) : kDriverNotReady;
  if (error == kDriverNotReady)
    return failed_precondition("one of the events has not been reached yet");
  SHW_RETURN_IF_ERROR(context_->driver().check(error, "measuring time"));
  return std::chrono::nanoseconds(static_cast<int64_t>(static_cast<double>(ms) * 1e6));
}

}  // namespace shw::runtime::cuda
