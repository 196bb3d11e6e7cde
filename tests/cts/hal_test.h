// Helpers of the suites of streams, events and memory.
#pragma once
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>
#include <vector>

#include "cts/backends.h"

namespace shw::cts {

using runtime::CopyKind;
using runtime::Event;
using runtime::Fault;
using runtime::HostWork;
using runtime::MemoryKind;
using runtime::MemorySpec;
using runtime::Stream;

class Work final : public HostWork {
 public:
  template <class F>  // F returns a Status or nothing
  explicit Work(F f)
      : f_([f = std::move(f)]() mutable {
          if constexpr (std::is_same_v<decltype(f()), Status>) {
            return f();
          } else {
            f();
            return Status();
          }
        }) {}
  Status run(void* const*) noexcept override { return f_(); }

 private:
  std::function<Status()> f_;
};

// Blocks the threads that wait until it is opened; it opens only once.
class Gate {
 public:
  void open() {
    {
      std::lock_guard lock(mutex_);
      open_ = true;
    }
    changed_.notify_all();
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

class HalTest : public BackendTest {
 protected:
  std::unique_ptr<Stream> stream(int64_t capacity = 64) {
    return std::move(*device_->create_stream({.fault = &fault_, .capacity = capacity}));
  }
  std::unique_ptr<Event> event(bool timing = false) {
    return std::move(*device_->create_event({.timing = timing}));
  }
  // Allocates device memory with `values`. It is freed at the end of the test.
  void* upload(const std::vector<float>& values) {
    const auto bytes = static_cast<int64_t>(values.size() * sizeof(float));
    void* memory = *device_->allocate({bytes});
    memory_.push_back({memory, bytes});
    EXPECT_TRUE(device_->copy(memory, values.data(), bytes, CopyKind::kHostToDevice).ok());
    return memory;
  }
  std::vector<float> download(const void* memory, size_t count) {
    std::vector<float> values(count);
    EXPECT_TRUE(device_
                    ->copy(values.data(), memory, static_cast<int64_t>(count * sizeof(float)),
                           CopyKind::kDeviceToHost)
                    .ok());
    return values;
  }
  void TearDown() override {
    for (const auto& [memory, bytes] : memory_) device_->free(memory, {bytes});
  }

  Fault fault_;

 private:
  std::vector<std::pair<void*, int64_t>> memory_;
};

}  // namespace shw::cts
