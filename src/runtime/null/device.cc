#include "runtime/null/device.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace shw::runtime::null {
namespace {

class NullEvent final : public Event {
 public:
  explicit NullEvent(const EventOptions& options)
      : Event(null::device_class()), timing_(options.timing) {}
  bool query() const override { return true; }
  bool wait_for(std::chrono::nanoseconds) const override { return true; }
  Result<std::chrono::nanoseconds> time_since(const Event& earlier) const override {
    if (!is_ours(earlier) || !timing_ || !static_cast<const NullEvent&>(earlier).timing_)
      return invalid_argument(
          "time is measured between two events of one backend made with timing");
    if (!recorded_ || !static_cast<const NullEvent&>(earlier).recorded_)
      return failed_precondition("one of the events has not been reached yet");
    return std::chrono::nanoseconds(0);  // all work takes no time
  }
  static bool is_ours(const Event& e) { return &e.device_class() == &null::device_class(); }
  void record() { recorded_ = true; }

 private:
  const bool timing_;
  std::atomic<bool> recorded_{false};
};

class NullStream final : public Stream {
 public:
  NullStream(NullDevice& device, Fault& fault)
      : device_(device), tally_(device.tally()), fault_(fault) {}

  void record(Event& event) override {
    if (!NullEvent::is_ours(event))
      return fault_.raise(invalid_argument("an event of another backend was recorded"));
    static_cast<NullEvent&>(event).record();
  }
  void wait(const Event& event) override {
    if (!NullEvent::is_ours(event))
      fault_.raise(invalid_argument("a stream was to wait for an event of another backend"));
  }
  void host(HostWork& work, void* const* buffers) override {
    if (fault_.raised()) return;
    if (Status s = work.run(buffers); !s.ok()) fault_.raise(std::move(s));
  }
  void copy(void*, const void*, int64_t bytes, CopyKind) override {
    tally_->copies += 1;
    tally_->copied_bytes += bytes;
  }
  void fill(void*, std::byte, int64_t) override {}
  Result<void*> allocate(const MemorySpec& spec) override { return device_.allocate(spec); }
  void free(void* memory, const MemorySpec& spec) override { device_.free(memory, spec); }
  void flush() override {}
  Status synchronize() override { return fault_.status(); }
  Status status() const override { return {}; }

 private:
  NullDevice& device_;
  const std::shared_ptr<Tally> tally_;
  Fault& fault_;
};

class NullKernel final : public PreparedKernel {
 public:
  explicit NullKernel(std::shared_ptr<Tally> tally) : tally_(std::move(tally)) {}
  void launch(Stream&, void* const*) override { tally_->launches += 1; }

 private:
  const std::shared_ptr<Tally> tally_;
};

}  // namespace

const DeviceClass& device_class() {
  static const DeviceClass kClass{"null", {.computes = false, .prompt_errors = true}};
  return kClass;
}

Counts NullDevice::counts() const {
  const Tally& t = *tally_;
  return {t.launches,     t.collectives,  t.collective_bytes, t.copies,
          t.copied_bytes, t.memory_bytes, t.peak_memory_bytes};
}

// Returns addresses without memory, except for memory that the host uses, which is real.
Result<void*> NullDevice::allocate(const MemorySpec& spec) {
  const auto refuse = [&] {
    return Status(Code::kResourceExhausted, "out of memory");  // stored without the heap
  };
  const int64_t now = tally_->memory_bytes += spec.bytes;
  const auto alignment = static_cast<uintptr_t>(spec.alignment);
  const auto bytes = (static_cast<uintptr_t>(spec.bytes) / alignment + 1) * alignment;
  void* memory = nullptr;
  if (now <= memory_bytes_)
    memory =
        spec.kind == MemoryKind::kHost
            ? std::aligned_alloc(alignment, bytes)
            : reinterpret_cast<void*>(
                  (tally_->next_address.fetch_add(bytes + alignment) / alignment + 1) * alignment);
  if (memory == nullptr) {
    tally_->memory_bytes -= spec.bytes;
    return refuse();
  }
  int64_t peak = tally_->peak_memory_bytes;
  while (peak < now && !tally_->peak_memory_bytes.compare_exchange_weak(peak, now)) {
  }
  return memory;
}

void NullDevice::free(void* memory, const MemorySpec& spec) {
  tally_->memory_bytes -= spec.bytes;
  if (spec.kind == MemoryKind::kHost) std::free(memory);
}

// Copies from the device give zeros.
Status NullDevice::copy(void* to, const void*, int64_t bytes, CopyKind kind) {
  tally_->copies += 1;
  tally_->copied_bytes += bytes;
  if (kind == CopyKind::kDeviceToHost && bytes > 0) std::memset(to, 0, static_cast<size_t>(bytes));
  return {};
}

Result<std::unique_ptr<Stream>> NullDevice::create_stream(const StreamOptions& options) {
  if (options.native != nullptr)
    return unimplemented("a dry run has no streams of the caller: leave the native stream empty");
  return std::unique_ptr<Stream>(std::make_unique<NullStream>(*this, *options.fault));
}

Result<std::unique_ptr<Event>> NullDevice::create_event(const EventOptions& options) {
  return std::unique_ptr<Event>(std::make_unique<NullEvent>(options));
}

Result<std::unique_ptr<PreparedKernel>> NullDevice::prepare(std::string_view name,
                                                            const KernelArgs&) {
  if (!has_kernel(name)) return unimplemented("a kernel without a name");
  return std::unique_ptr<PreparedKernel>(std::make_unique<NullKernel>(tally_));
}

}  // namespace shw::runtime::null
