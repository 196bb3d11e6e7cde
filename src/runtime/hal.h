// What a backend provides: memory, streams, events and kernels. Channels between ranks: channel.h.
//
// Shaped by CUDA and NCCL so that a GPU backend is a thin layer: everything that runs is put on a
// stream and happens later, in order; events order streams among each other; kernels are looked up
// and prepared once, when a plan is loaded. (IREE's HAL showed that this much is enough.) Nothing
// here allocates or looks up a name after preparation, and nothing waits for the device unless its
// comment says so.
//
// What goes wrong on a stream is not returned by the call that enqueued it: it is raised in the
// Fault that the stream was created with (fault.h). From then on the stream only drains.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "plan/program.h"
#include "runtime/fault.h"
#include "sharding/layout.h"
#include "support/status.h"
#include "tensor/attrs.h"
#include "tensor/tensor_type.h"

namespace shw::runtime {

// Work that the host does when a stream comes to it. It may block only on what a fault interrupts.
class HostWork {
 public:
  virtual ~HostWork() = default;
  // `buffers`: as given to Stream::host(). An error is raised in the stream's fault.
  virtual Status run(void* const* buffers) noexcept = 0;
};

// A point in a stream's order that other streams can wait for. Reusable: a wait is for the latest
// record before it, and for nothing when there was none. Always recorded on the same stream.
class Event {
 public:
  virtual ~Event() = default;
};

enum class AfterFault : uint8_t { kSkip, kRun };

// A queue of work on a device, done in order. Calls are from one thread at a time and return at
// once; they block only while the queue is full (create_stream's `capacity`).
//
// After a fault is raised, waits return and work is skipped, except for what asked to be done;
// records still happen. So a stream always drains, and whoever waits for it gets on.
class Stream {
 public:
  // Does what is queued, then ends. Raise the fault first to end soon.
  virtual ~Stream() = default;
  virtual void record(Event& event) = 0;
  // kRun: waits even after a fault. For events of streams with the same fault, which drain too.
  virtual void wait(Event& event, AfterFault after_fault = AfterFault::kSkip) = 0;
  // `work` and what `buffers` points to must live, unchanged, until the work is done.
  virtual void host(HostWork& work, void* const* buffers,
                    AfterFault after_fault = AfterFault::kSkip) = 0;
  // Commands may be held back until this call.
  virtual void flush() = 0;
};

// The step that a prepared kernel serves, for error messages.
struct StepOrigin {
  int64_t node = -1;
  std::string kernel;
};

// A kernel with types and attributes fixed. Launches from several streams do not overlap.
class PreparedKernel {
 public:
  virtual ~PreparedKernel() = default;
  virtual int64_t workspace_bytes() const { return 0; }
  // `buffers`: element 0 of each input, then of each output (null: absent), then a workspace of
  // workspace_bytes(), aligned to kArenaAlignment. Inputs may overlap each other, never an output.
  virtual void launch(Stream& stream, void* const* buffers) = 0;
  StepOrigin origin;
};

// What is known of a step when it is prepared.
struct KernelArgs {
  std::span<const TensorType* const> inputs;   // null: absent
  std::span<const TensorType* const> outputs;  // null: nobody wants it
  const Attrs& attrs;
  const Mesh& mesh;
  int64_t rank;
};

struct Kernel {
  std::string_view name;
  // INVALID_ARGUMENT: the types or attributes are not those of such a step. UNIMPLEMENTED: they
  // are, but this backend cannot do it.
  Result<std::unique_ptr<PreparedKernel>> (*prepare)(const KernelArgs& args);
};

// Memory and kernels of one rank. Any thread.
class Device {
 public:
  virtual ~Device() = default;
  // `alignment`: a power of two. RESOURCE_EXHAUSTED when there is no memory.
  virtual Result<void*> allocate(int64_t bytes, int64_t alignment) = 0;
  virtual void free(void* memory, int64_t bytes, int64_t alignment) = 0;
  // Both are done when they return; neither waits for any stream.
  virtual Status copy_from_host(void* device, const void* host, int64_t bytes) = 0;
  virtual Status copy_to_host(void* host, const void* device, int64_t bytes) = 0;
  // `capacity`: commands that fit without blocking, at least. `fault` outlives the stream.
  virtual Result<std::unique_ptr<Stream>> create_stream(Fault& fault, int64_t capacity) = 0;
  virtual Result<std::unique_ptr<Event>> create_event() = 0;
  virtual const Kernel* find_kernel(std::string_view name) const = 0;  // null: none
};

}  // namespace shw::runtime
