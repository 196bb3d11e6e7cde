// The state that a strict device shares with its streams and events.
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
  int delay_percent = 0;        // percentage of commands that are delayed before they begin
  int64_t failing_launch = -1;  // number of the kernel launch that fails, counted from 0; -1: none
  int64_t failing_allocation = -1;
};

struct Capture;

class Context {
 public:
  explicit Context(const Options& options)
      : memory(options.memory_bytes), options_(options), random_(options.seed) {}

  // Every call to the device begins with this. If the result is not OK, the call must do nothing. A
  // call from a stream's callback loses the device.
  Status enter(const char* call);
  // The same for calls that wait for the device or change its memory at once. Such a call
  // invalidates a capture of this thread.
  Status enter_and_wait(const char* call);

  void lose(Status error);
  bool lost() const { return lost_.load(); }
  Status status() const;

  void delay();         // called before each command
  bool launch_fails();  // counts the launches
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

// What the calling thread is doing.
struct ThreadState {
  bool in_callback = false;
  Capture* capture = nullptr;
};
ThreadState& this_thread();

}  // namespace shw::strict
