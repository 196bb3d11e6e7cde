// What a backend provides: memory, streams, events, and kernels prepared for a step.
//
// Modelled on CUDA, so that a GPU backend is a thin layer. All work is enqueued on a stream and
// runs later, in order. Events order streams relative to each other, and tell the host how far they
// are. Kernels are looked up and prepared once, when a plan is loaded. After preparation no call
// here allocates or looks up a name, and none waits for the device unless its comment says so.
//
// Errors. A call that enqueues work cannot fail. A later error *poisons* the stream:
//   - Work that has not begun may be skipped, or it may run on inputs with arbitrary values.
//     The CPU backend skips work; a GPU cannot.
//   - A wait may end before its event is reached. Events that are recorded later still complete.
//   - So a poisoned stream drains, once collectives that wait for other ranks have been aborted
//     (channel.h). The results of the work are lost.
// A stream is poisoned by an error of its own work, by a raise() of its Fault from any thread, and
// by an error of the whole device. If the backend detects an error in time, it raises the error in
// the Fault; otherwise Stream::status() reports it when called. Clearing the Fault, after
// everything has drained, makes the stream usable again, unless status() still reports an error:
// then the device is lost, as a CUDA context is after a sticky error.
//
// Plug-ins. A backend in a shared object of its own implements these C++ classes, so it must be
// built by the same compiler from the same sources; plugin.h checks that before it is used.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/fault.h"
#include "runtime/host_work.h"
#include "runtime/kernel.h"
#include "support/status.h"

namespace shw::runtime {

// Optional features of a backend.
struct Capabilities {
  bool computes = true;      // kernels write their outputs; false: a dry run
  bool host_access = false;  // the host can read and write device memory
  // An error of a stream's work is in the fault before host work that follows it would begin, and
  // that host work is skipped.
  bool prompt_errors = false;
  bool native_streams = false;  // StreamOptions::native
  bool priorities = false;      // StreamOptions::priority has an effect
  bool graphs = false;          // Stream::begin_capture()
  bool counts = false;          // Stream::count()
  bool slices = false;          // kernels are host kernels (host_kernel.h); steps can be split
};

// A backend. There is one object per backend, and its address identifies the backend. Events and
// memory of devices of one class can be used together.
struct DeviceClass {
  std::string_view name;
  Capabilities can;
};

// A point in a stream's order. An event can be recorded again and again: every call refers to the
// latest record before it. An event that was never recorded counts as reached.
class Event {
 public:
  explicit Event(const DeviceClass& device_class) : class_(&device_class) {}
  virtual ~Event() = default;
  const DeviceClass& device_class() const { return *class_; }

  // Whether the stream has reached the event. Any thread.
  virtual bool query() const = 0;
  // Blocks the host until the event is reached, at most for `limit`. Any thread.
  virtual bool wait_for(std::chrono::nanoseconds limit) const = 0;
  // The time between two events that have been reached. Both need EventOptions::timing.
  // INVALID_ARGUMENT: one was created without it. FAILED_PRECONDITION: one has not been reached.
  virtual Result<std::chrono::nanoseconds> time_since(const Event& earlier) const = 0;

 private:
  const DeviceClass* class_;
};

struct EventOptions {
  bool timing = false;
};

enum class CopyKind : uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice };

enum class MemoryKind : uint8_t {
  kDevice,      // memory for kernels
  kHost,        // host memory that is fast to copy to and from ("pinned")
  kRegistered,  // device memory that is registered with the transport of collectives
};

struct MemorySpec {
  int64_t bytes = 0;
  int64_t alignment = 64;  // a power of two
  MemoryKind kind = MemoryKind::kDevice;
};

// The work that was enqueued between begin_capture() and end_capture(). It can be launched
// repeatedly, with the pointers that the kernels' `buffers` held at the capture.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void launch(Stream& stream) = 0;
  // False: work in the graph has ended for good, as collectives do after an abort. The graph must
  // be captured again.
  virtual bool is_usable() const { return true; }
};

// A queue of work on a device, executed in order. Calls that enqueue must come from one thread at a
// time. They return at once, and block only while the queue is full (StreamOptions::capacity).
class Stream {
 public:
  // Completes the queued work. A stream of the caller (StreamOptions::native) is not destroyed.
  virtual ~Stream() = default;

  virtual void record(Event& event) = 0;
  // Work that is enqueued later begins after the event is reached. The event must belong to a
  // device of the same class; otherwise INVALID_ARGUMENT is raised in the fault.
  virtual void wait(const Event& event) = 0;
  // `work` and the array `buffers` must stay alive and unchanged until the work is done. An error
  // of the work is raised in the fault.
  virtual void host(HostWork& work, void* const* buffers) = 0;
  // Host memory must stay valid until the copy is done. The ranges must not overlap. Host memory
  // that is not MemoryKind::kHost may be read during the call, and the call may wait for the
  // stream.
  virtual void copy(void* to, const void* from, int64_t bytes, CopyKind kind) = 0;
  virtual void fill(void* to, std::byte value, int64_t bytes) = 0;
  // Stream-ordered memory: work that is enqueued after allocate() may use it, and free() returns it
  // after the work that was enqueued before. Otherwise like Device::allocate() and free().
  virtual Result<void*> allocate(const MemorySpec& spec) = 0;
  virtual void free(void* memory, const MemorySpec& spec) = 0;
  // Enqueued commands may be delayed until this call.
  virtual void flush() = 0;

  // Blocks the host until everything enqueued is done. Call it on the thread that enqueues.
  virtual Status synchronize() = 0;
  // An error of the stream or its device that may not be in the fault yet. Any thread.
  virtual Status status() const = 0;

  // With Capabilities::counts: marks a place in the stream. The stream counts the places that were
  // put and those that it has reached. The counts stay readable after the device is lost, so an
  // error that is reported late can be attributed to the work after the last place reached. A call
  // during a capture has no effect.
  virtual void count() {}
  struct Counts {
    uint64_t put = 0, reached = 0;
    bool are_known = true;  // false: this device cannot count after all
  };
  virtual Counts counts() const { return {}; }  // any thread

  // With Capabilities::graphs: work that is enqueued from here on is captured instead of executed.
  // Another stream joins the capture when it waits for an event that was recorded in the capture. A
  // captured stream must wait for every such stream before the capture ends. During the capture
  // nothing may wait for the device. UNIMPLEMENTED without the capability.
  virtual Status begin_capture();
  // `known`: the graph of an earlier capture of the same commands; no launch of it may be running.
  // It is updated to the new pointers if the device supports that. FAILED_PRECONDITION: the capture
  // broke one of the rules above. Otherwise, the error of a call during the capture.
  virtual Result<std::unique_ptr<Graph>> end_capture(std::unique_ptr<Graph> known = nullptr);

  // The vendor's handle of this stream; null if there is none.
  virtual void* native() const { return nullptr; }
};

struct StreamOptions {
  Fault* fault = nullptr;   // required; outlives the stream
  int64_t capacity = 1024;  // minimum number of commands that fit without blocking
  int priority = 0;         // higher values go first
  void* native = nullptr;   // a stream of the caller to use instead of a new one
};

// One rank's accelerator. Any thread.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceClass& device_class() const = 0;
  const Capabilities& can() const { return device_class().can; }
  // The vendor's name of the device; empty if the class name suffices.
  virtual std::string model() const { return {}; }

  // Uninitialised memory. RESOURCE_EXHAUSTED: out of memory. Throws nothing.
  virtual Result<void*> allocate(const MemorySpec& spec) = 0;
  // The memory must not be in use. `spec`: as it was allocated.
  virtual void free(void* memory, const MemorySpec& spec) = 0;
  // Synchronous: done on return. Does not wait for streams.
  virtual Status copy(void* to, const void* from, int64_t bytes, CopyKind kind) = 0;

  virtual Result<std::unique_ptr<Stream>> create_stream(const StreamOptions& options) = 0;
  virtual Result<std::unique_ptr<Event>> create_event(const EventOptions& options = {}) = 0;

  virtual bool has_kernel(std::string_view name) const = 0;
  // The kernel may use this device's handles, caches and memory. INVALID_ARGUMENT: the types or
  // attributes are invalid for such a step. UNIMPLEMENTED: they are valid, but this backend does
  // not support them, or has no kernel of this name.
  virtual Result<std::unique_ptr<PreparedKernel>> prepare(std::string_view kernel,
                                                          const KernelArgs& args) = 0;
  // Prepares one kernel for the first few of `steps`, which run together. Its launches take the
  // operands of the steps that it covers, step after step: inputs, then outputs. A temporary that
  // no later step reads may have no memory. UNIMPLEMENTED: the first step must run by itself. For a
  // device with Capabilities::slices, `steps` describe one slice, all temporaries have memory, and
  // the kernel is a host kernel.
  virtual Result<GroupKernel> prepare_group(std::span<const GroupStep> steps);
};

}  // namespace shw::runtime
