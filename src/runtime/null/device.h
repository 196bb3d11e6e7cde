// A device that executes nothing and counts the requests.
#pragma once
#include <atomic>
#include <memory>

#include "runtime/hal.h"

namespace shw::runtime::null {

const DeviceClass& device_class();

// Totals since the device was created. `collective_bytes` counts the contribution of one member, as
// CollectiveSpec does.
struct Counts {
  int64_t launches = 0;  // of kernels
  int64_t collectives = 0, collective_bytes = 0;
  int64_t copies = 0, copied_bytes = 0;
  int64_t memory_bytes = 0, peak_memory_bytes = 0;
};

// The same counts, updated by several threads.
struct Tally {
  std::atomic<int64_t> launches{0}, collectives{0}, collective_bytes{0}, copies{0}, copied_bytes{0};
  std::atomic<int64_t> memory_bytes{0}, peak_memory_bytes{0};
  std::atomic<uintptr_t> next_address{1 << 20};
};

class NullDevice final : public Device {
 public:
  // `memory_bytes`: the device's capacity. Larger allocations fail.
  explicit NullDevice(int64_t memory_bytes = int64_t{1} << 47) : memory_bytes_(memory_bytes) {}
  Counts counts() const;
  const std::shared_ptr<Tally>& tally() const { return tally_; }

  const DeviceClass& device_class() const override { return null::device_class(); }
  Result<void*> allocate(const MemorySpec& spec) override;
  void free(void* memory, const MemorySpec& spec) override;
  Status copy(void* to, const void* from, int64_t bytes, CopyKind kind) override;
  Result<std::unique_ptr<Stream>> create_stream(const StreamOptions& options) override;
  Result<std::unique_ptr<Event>> create_event(const EventOptions& options = {}) override;
  bool has_kernel(std::string_view name) const override { return !name.empty(); }
  Result<std::unique_ptr<PreparedKernel>> prepare(std::string_view kernel,
                                                  const KernelArgs& args) override;

 private:
  const int64_t memory_bytes_;
  const std::shared_ptr<Tally> tally_ = std::make_shared<Tally>();
};

}  // namespace shw::runtime::null
