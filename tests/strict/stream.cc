#include "strict/stream.h"

#include <cstring>

#include "strict/device.h"

namespace shw::strict {

using runtime::CopyKind;
using runtime::MemorySpec;

StrictEvent::StrictEvent(std::shared_ptr<Context> context, const runtime::EventOptions& options)
    : Event(strict::device_class()), context_(std::move(context)), timing_(options.timing) {}

bool StrictEvent::query() const {
  if (!context_->enter("Event::query").ok()) return true;
  std::lock_guard lock(state_->mutex);
  return state_->completed >= state_->recorded;
}

bool StrictEvent::wait_for(std::chrono::nanoseconds limit) const {
  if (!context_->enter_and_wait("Event::wait_for").ok()) return true;
  const auto until = std::chrono::steady_clock::now() +
                     std::min<std::chrono::nanoseconds>(limit, std::chrono::hours(1));
  std::unique_lock lock(state_->mutex);
  const uint64_t record = state_->recorded;
  while (state_->completed < record && !context_->lost()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    state_->changed.wait_for(lock, std::chrono::milliseconds(1));
  }
  return true;
}

Result<std::chrono::nanoseconds> StrictEvent::time_since(const runtime::Event& earlier) const {
  SHW_RETURN_IF_ERROR(context_->enter("Event::time_since"));
  if (&earlier.device_class() != &strict::device_class() || !timing_ ||
      !static_cast<const StrictEvent&>(earlier).timing_)
    return invalid_argument("time is measured between two events of one backend made with timing");
  const auto reached = [](EventState& state) {
    std::lock_guard lock(state.mutex);
    return std::pair(state.recorded > 0 && state.completed >= state.recorded, state.reached_at);
  };
  const auto [begun, from] = reached(*static_cast<const StrictEvent&>(earlier).state_);
  const auto [ended, to] = reached(*state_);
  if (!begun || !ended) return failed_precondition("one of the events has not been reached yet");
  return std::chrono::nanoseconds(to - from);
}

StrictStream::StrictStream(std::shared_ptr<Queue> queue, runtime::Fault& fault, bool is_own)
    : queue_(std::move(queue)), fault_(fault), is_own_(is_own) {}

StrictStream::~StrictStream() {
  if (is_own_) queue_->drain();
}

void StrictStream::record(runtime::Event& event) {
  (void)queue_->context().enter("Stream::record");
  if (&event.device_class() != &strict::device_class())
    return fault_.raise(invalid_argument("an event of another backend was recorded"));
  queue_->record(static_cast<StrictEvent&>(event).state());
}

void StrictStream::wait(const runtime::Event& event) {
  (void)queue_->context().enter("Stream::wait");
  if (&event.device_class() != &strict::device_class())
    return fault_.raise(invalid_argument("a stream was to wait for an event of another backend"));
  queue_->wait(static_cast<const StrictEvent&>(event).state());
}

void StrictStream::host(runtime::HostWork& work, void* const* buffers) {
  (void)queue_->context().enter("Stream::host");
  queue_->push({[&work, buffers, &fault = fault_](const Pointers&) {
    this_thread().in_callback = true;
    Status s = work.run(buffers);
    this_thread().in_callback = false;
    if (!s.ok()) fault.raise(std::move(s));
  }});
}

Status copy_now(Context& context, void* to, const void* from, int64_t bytes, CopyKind kind) {
  if (bytes == 0) return {};
  if (kind != CopyKind::kHostToDevice) {
    SHW_ASSIGN_OR_RETURN(from, context.memory.for_kernels(from));
  }
  if (kind != CopyKind::kDeviceToHost) {
    SHW_ASSIGN_OR_RETURN(to, context.memory.for_kernels(to));
  }
  std::memcpy(to, from, static_cast<size_t>(bytes));
  return {};
}

void StrictStream::copy(void* to, const void* from, int64_t bytes, CopyKind kind) {
  (void)queue_->context().enter("Stream::copy");
  queue_->push({[=, &context = queue_->context()](const Pointers&) {
    if (Status s = copy_now(context, to, from, bytes, kind); !s.ok()) context.lose(std::move(s));
  }});
}

void StrictStream::fill(void* to, std::byte value, int64_t bytes) {
  (void)queue_->context().enter("Stream::fill");
  queue_->push({[=, &context = queue_->context()](const Pointers&) {
    if (bytes == 0) return;
    auto target = context.memory.for_kernels(to);
    if (!target.ok()) return context.lose(target.status());
    std::memset(*target, static_cast<int>(value), static_cast<size_t>(bytes));
  }});
}

Result<void*> StrictStream::allocate(const MemorySpec& spec) {
  Context& context = queue_->context();
  SHW_RETURN_IF_ERROR(context.enter("Stream::allocate"));
  if (context.allocation_fails()) return Status(Code::kResourceExhausted, "injected");
  SHW_ASSIGN_OR_RETURN(void* memory, context.memory.reserve(spec));
  queue_->push({[&context, memory](const Pointers&) { context.memory.make_live(memory); }});
  return memory;
}

void StrictStream::free(void* memory, const MemorySpec& spec) {
  Context& context = queue_->context();
  (void)context.enter("Stream::free");
  queue_->push({[&context, memory, spec](const Pointers&) {
    if (Status s = context.memory.release(memory, spec); !s.ok()) context.lose(std::move(s));
  }});
}

Status StrictStream::synchronize() {
  SHW_RETURN_IF_ERROR(queue_->context().enter_and_wait("Stream::synchronize"));
  if (this_thread().capture != nullptr) return failed_precondition("the stream is being captured");
  queue_->drain();
  SHW_RETURN_IF_ERROR(queue_->context().status());
  return fault_.status();
}

Status StrictStream::begin_capture() {
  SHW_RETURN_IF_ERROR(queue_->context().enter("Stream::begin_capture"));
  return queue_->begin_capture();
}

namespace {

class StrictGraph final : public runtime::Graph {
 public:
  explicit StrictGraph(std::shared_ptr<Capture> capture) : capture_(std::move(capture)) {}

  void launch(runtime::Stream& stream) override {
    auto* queue = static_cast<Queue*>(stream.native());
    Context& context = queue->context();
    (void)context.enter("Graph::launch");
    queue->push({[commands = capture_->commands, &context](const Pointers&) {
      for (const Command& c : commands) {
        context.delay();
        if (!context.lost()) c.run(c.pointers);
      }
    }});
  }

 private:
  const std::shared_ptr<Capture> capture_;
};

}  // namespace

Result<std::unique_ptr<runtime::Graph>> StrictStream::end_capture(std::unique_ptr<runtime::Graph>) {
  SHW_ASSIGN_OR_RETURN(auto capture, queue_->end_capture());
  SHW_RETURN_IF_ERROR(queue_->context().enter("Stream::end_capture"));
  return std::unique_ptr<runtime::Graph>(std::make_unique<StrictGraph>(std::move(capture)));
}

}  // namespace shw::strict
