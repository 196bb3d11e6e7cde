// The state that a strict device, its streams and its events share.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <random>
#include <string>

#include "strict/memory.h"
#include "support/status.h"

namespace shw::strict {

struct Options {
  int64_t memory_bytes = int64_t{64} << 20;
  uint64_t seed = 0;
  int delay_percent = 0;        // of commands that wait a little before they begin
  int64_t failing_launch = -1;  // number of the kernel launch that fails, from 0
  int64_t failing_allocation = -1;
};

struct Capture;

class Context {
 public:
  explicit Context(const Options& options)
      : memory(options.memory_bytes), options_(options), random_(options.seed) {}

  // What a call to the device begins with. Not OK: the call does nothing. To call from a stream's
  // callback loses the device.
  Status enter(const char* call);
  // The same, for calls that wait for the device or change its memory at once: they break a capture
  // of this thread.
  Status enter_and_wait(const char* call);

  void lose(Status error);
  bool lost() const { return lost_.load(); }
  Status status() const;

  void delay();         // before a command
  bool launch_fails();  // counts launches
  bool allocation_fails();

  Memory memory;

 private:
  const Options options_;
  mutable std::mutex mutex_;
  std::mt19937_64 random_;
  Status error_;
  std::atomic<bool> lost_{false};
  std::atomic<int64_t> launches_{0}, allocations_{0};
};

// What this thread is doing.
struct ThreadState {
  bool in_callback = false;
  Capture* capture = nullptr;
};
ThreadState& this_thread();

}  // namespace shw::strict
