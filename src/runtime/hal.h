// What a backend provides: memory, streams, events, and kernels prepared for a step.
//
// Shaped by CUDA so that a GPU backend is a thin layer. Everything that runs is put on a stream and
// happens later, in order. Events order streams among each other, and tell the host how far they
// are. Kernels are looked up and prepared once, when a plan is loaded. After preparation nothing
// here allocates or looks up a name, and nothing waits for the device unless its comment says so.
//
// Errors. A call that enqueues work cannot fail. What goes wrong later *poisons* the stream:
//   - Work that has not begun may be left out, or it may run and find any values in its inputs.
//     The CPU backend leaves work out; a GPU cannot.
//   - A wait may end before its event is reached. Events that are recorded later still complete.
//   - So a poisoned stream drains, once collectives that wait for other ranks have been aborted
//     (channel.h). What the work has written is lost.
// A stream is poisoned by an error of its own work, by its Fault when anybody raises it, and by an
// error of the whole device. An error is raised in the Fault where the backend learns of it in
// time; otherwise Stream::status() tells when asked. Clearing the Fault, after everything has
// drained, makes the stream usable again unless status() still reports an error: then the device is
// lost, as a CUDA context is after a sticky error.
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

// What a backend can do beyond what every backend must.
struct Capabilities {
  bool computes = true;         // kernels write their outputs. False: a dry run
  bool host_access = false;     // the host can read and write device memory
  bool prompt_errors = false;   // an error of a stream's work is in the fault before host work that
                                // follows it begins, and that work is left out
  bool native_streams = false;  // StreamOptions::native
  bool priorities = false;      // StreamOptions::priority has an effect
  bool graphs = false;          // Stream::begin_capture()
  bool counts = false;          // Stream::count()
  bool slices = false;          // kernels are host kernels (host_kernel.h), also of parts of steps
};

// A backend. There is one object of it, whose address identifies the backend: events and memory of
// devices of one class can be used together.
struct DeviceClass {
  std::string_view name;
  Capabilities can;
};

// A point in a stream's order. Reusable: what is said of an event is said of its latest record
// before the call. An event that was never recorded counts as reached.
class Event {
 public:
  explicit Event(const DeviceClass& device_class) : class_(&device_class) {}
  virtual ~Event() = default;
  const DeviceClass& device_class() const { return *class_; }

  // Whether the stream has reached the event. Any thread.
  virtual bool query() const = 0;
  // Blocks the host until then, at most for `limit`. Any thread.
  virtual bool wait_for(std::chrono::nanoseconds limit) const = 0;
  // The time between two events that have been reached, both made with `timing`.
  // INVALID_ARGUMENT: one was made without. FAILED_PRECONDITION: one has not been reached.
  virtual Result<std::chrono::nanoseconds> time_since(const Event& earlier) const = 0;

 private:
  const DeviceClass* class_;
};

struct EventOptions {
  bool timing = false;
};

enum class CopyKind : uint8_t { kHostToDevice, kDeviceToHost, kDeviceToDevice };

enum class MemoryKind : uint8_t {
  kDevice,      // what kernels work on
  kHost,        // of the host, and fast to copy to and from ("pinned")
  kRegistered,  // of the device, and registered with the transport of collectives
};

struct MemorySpec {
  int64_t bytes = 0;
  int64_t alignment = 64;  // a power of two
  MemoryKind kind = MemoryKind::kDevice;
};

// What a stream was given between begin_capture() and end_capture(), ready to be launched again and
// again, with the pointers that were in the kernels' `buffers` at the capture.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void launch(Stream& stream) = 0;
  // False: what it holds has ended, as collectives end with an abort; it must be captured again.
  virtual bool is_usable() const { return true; }
};

// A queue of work on a device, done in order. Calls that enqueue are from one thread at a time and
// return at once; they block only while the queue is full (StreamOptions::capacity).
class Stream {
 public:
  // Does what is queued, then ends; a stream of the caller (StreamOptions::native) is left alone.
  virtual ~Stream() = default;

  virtual void record(Event& event) = 0;
  // The work that follows begins after the event is reached. Of a device of the same class:
  // otherwise INVALID_ARGUMENT is raised in the fault.
  virtual void wait(const Event& event) = 0;
  // `work` and what `buffers` points to must live, unchanged, until the work is done. An error of
  // the work is raised in the fault.
  virtual void host(HostWork& work, void* const* buffers) = 0;
  // Host memory of a copy must stay valid until it is done. The ranges do not overlap. Host memory
  // that is not MemoryKind::kHost may be read in the call, and the call may wait for the stream.
  virtual void copy(void* to, const void* from, int64_t bytes, CopyKind kind) = 0;
  virtual void fill(void* to, std::byte value, int64_t bytes) = 0;
  // Memory in the stream's order: work that follows may use it; it is given back after the work
  // before. Otherwise as Device::allocate() and free().
  virtual Result<void*> allocate(const MemorySpec& spec) = 0;
  virtual void free(void* memory, const MemorySpec& spec) = 0;
  // Commands may be held back until this call.
  virtual void flush() = 0;

  // Blocks the host until everything enqueued is done. The thread that enqueues.
  virtual Status synchronize() = 0;
  // An error of the stream or its device that the fault may not know yet. Any thread.
  virtual Status status() const = 0;

  // Where Capabilities::counts: the stream counts the places at which this was called, and how many
  // of them it has reached. The counts outlive the device's loss: so an error that comes to light
  // late is known to be of the work behind the last place reached. A place in a capture is none.
  virtual void count() {}
  struct Counts {
    uint64_t put = 0, reached = 0;
    bool are_known = true;  // false: this device turned out to be unable
  };
  virtual Counts counts() const { return {}; }  // any thread

  // Where Capabilities::graphs: what follows is noted down, not done. Another stream joins when it
  // waits for an event recorded in the capture; it must be waited for before the end. In between,
  // nothing may wait for the device. UNIMPLEMENTED elsewhere.
  virtual Status begin_capture();
  // `known`: of an earlier capture of the same commands, none of whose launches is under way; it is
  // changed to these pointers where the device can do that. FAILED_PRECONDITION: the capture broke
  // one of these rules. Otherwise the error of a call in between that failed.
  virtual Result<std::unique_ptr<Graph>> end_capture(std::unique_ptr<Graph> known = nullptr);

  // What the vendor's interface calls this stream; null where there is no such thing.
  virtual void* native() const { return nullptr; }
};

struct StreamOptions {
  Fault* fault = nullptr;   // required; outlives the stream
  int64_t capacity = 1024;  // commands that fit without blocking, at least
  int priority = 0;         // higher: its work goes first
  void* native = nullptr;   // a stream of the caller to use, instead of a new one
};

// One rank's accelerator. Any thread.
class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceClass& device_class() const = 0;
  const Capabilities& can() const { return device_class().can; }
  // What its maker calls it; empty where the class says it all.
  virtual std::string model() const { return {}; }

  // Not filled. RESOURCE_EXHAUSTED when there is no memory; throws nothing.
  virtual Result<void*> allocate(const MemorySpec& spec) = 0;
  // The memory must not be in use. `spec`: as it was allocated.
  virtual void free(void* memory, const MemorySpec& spec) = 0;
  // Done when it returns. Waits for no stream.
  virtual Status copy(void* to, const void* from, int64_t bytes, CopyKind kind) = 0;

  virtual Result<std::unique_ptr<Stream>> create_stream(const StreamOptions& options) = 0;
  virtual Result<std::unique_ptr<Event>> create_event(const EventOptions& options = {}) = 0;

  virtual bool has_kernel(std::string_view name) const = 0;
  // The kernel has the use of this device: its handles, its caches, its memory. INVALID_ARGUMENT:
  // the types or attributes are not those of such a step. UNIMPLEMENTED: they are, but this backend
  // cannot do it, or has no kernel of this name.
  virtual Result<std::unique_ptr<PreparedKernel>> prepare(std::string_view kernel,
                                                          const KernelArgs& args) = 0;
  // One kernel for the first few of steps that run together. The buffers of its launches are the
  // operands of the steps that it does, one step after another: inputs, then outputs. A temporary
  // that no step after those reads may have no memory. UNIMPLEMENTED: the first step has to run by
  // itself. A device that runs slices is asked about those of one slice, with memory for all
  // temporaries, and its kernel is a host kernel.
  virtual Result<GroupKernel> prepare_group(std::span<const GroupStep> steps);
};

}  // namespace shw::runtime
