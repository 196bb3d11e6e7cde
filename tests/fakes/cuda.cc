// A fake libcuda.so.1. It provides devices, memory, streams and events on the host and enforces
// what CUDA enforces (see ../strict/README.md). Each rank of a test has one device.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "fakes/block.h"
#include "fakes/driver.h"
#include "fakes/generated.h"
#include "fakes/inject.h"
#include "fakes/kernels.h"
#include "fakes/nvrtc.h"
#include "runtime/cuda/plugin/driver.h"

namespace {

using namespace shw::fakes;
using shw::Code;
using shw::Status;
using shw::runtime::MemoryKind;
using shw::runtime::MemorySpec;
using namespace shw::runtime::cuda;
using shw::strict::EventState;
using shw::strict::Pointers;
using shw::strict::Queue;

constexpr int kDevices = 8, kVersion = 13000;
constexpr int kInvalidValue = 1, kInvalidContext = 201, kInvalidHandle = 400, kIllegalAddress = 700,
              kLaunchFailed = 719, kNotPermitted = 800, kIllegalState = 401,
              kCaptureUnsupported = 900, kCapturedEvent = 907;
// Few threads, since each is a fiber, but enough for kernels whose threads cooperate.
constexpr int kThreads = 16, kMultiprocessors = 1;
constexpr unsigned kMostThreads = 1024;  // limit for kernels with a fixed number of threads

// The primary context of a device. The first retain creates it, and the last release destroys it
// together with its sticky error.
struct Slot {
  std::mutex mutex;
  int retained = 0;
  std::unique_ptr<FakeDevice> device;
};
Slot& slot(int number) {
  static Slot slots[kDevices];
  return slots[number];
}
std::atomic<int> leaks{0};

thread_local std::vector<FakeDevice*> current;

// The error code of a lost device.
DriverError sticky(const shw::strict::Context& context) {
  switch (context.status().code()) {
    case Code::kOk:
      return kDriverSuccess;
    case Code::kOutOfRange:
      return kIllegalAddress;
    case Code::kFailedPrecondition:
      return kNotPermitted;
    default:
      return kLaunchFailed;
  }
}

// Every call begins with this: it finds the current device, or the error that the call returns.
struct Call {
  Call(const char* function, bool waits = false) {
    error = injected(function);
    if (error != 0) return;
    if (current.empty()) {
      error = kInvalidContext;
      return;
    }
    device = current.back();
    (void)(waits ? device->context.enter_and_wait(function) : device->context.enter(function));
    error = sticky(device->context);
  }
  FakeDevice* device = nullptr;
  DriverError error = 0;
};
#define BEGIN(...)              \
  const Call call(__VA_ARGS__); \
  if (call.error != 0) return call.error

void* address(DevicePointer p) { return reinterpret_cast<void*>(p); }

DriverError allocate(FakeDevice& device, const MemorySpec& spec, void** memory) {
  auto reserved = device.context.memory.reserve(spec);
  if (!reserved.ok()) return kDriverOutOfMemory;
  *memory = *reserved;
  std::lock_guard lock(device.mutex);
  device.allocated[*memory] = spec;
  return kDriverSuccess;
}

bool forget(FakeDevice& device, void* memory, MemorySpec& spec) {
  std::lock_guard lock(device.mutex);
  const auto it = device.allocated.find(memory);
  if (it == device.allocated.end()) return false;
  spec = it->second;
  device.allocated.erase(it);
  return true;
}

// Runs `work` when the stream reaches it. If `work` fails, the device is lost.
template <class F>
void push(CUstream_st* stream, F work) {
  stream->queue->push({[device = stream->device, work](const Pointers&) {
    if (Status s = work(device->context.memory); !s.ok()) device->context.lose(std::move(s));
  }});
}

}  // namespace

#define FAKE SHW_FAKE_API DriverError

FAKE cuInit(unsigned) {
  static const bool told = std::fputs(
                               "FAKE: this libcuda.so.1 is Shardwise's fake driver for tests; "
                               "nothing runs on a GPU, and no "
                               "time means anything\n",
                               stderr) >= 0;
  return told ? injected("cuInit") : kInvalidValue;
}
FAKE cuDriverGetVersion(int* version) {
  const int other = injected("cuDriverGetVersion");
  *version = other != 0 ? other : kVersion;
  return kDriverSuccess;
}
FAKE cuGetErrorName(DriverError error, const char** name) {
  *name = error == kDriverOutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == kIllegalAddress  ? "CUDA_ERROR_ILLEGAL_ADDRESS"
          : error == kLaunchFailed    ? "CUDA_ERROR_LAUNCH_FAILED"
                                      : "an error of the fake driver";
  return kDriverSuccess;
}
FAKE cuGetErrorString(DriverError error, const char** text) {
  thread_local std::string words;
  words = "the fake driver says so";
  if (!current.empty() && error == sticky(current.back()->context))
    words += ": " + current.back()->context.status().message();
  *text = words.c_str();
  return kDriverSuccess;
}
FAKE cuDeviceGetCount(int* count) {
  const int other = injected("cuDeviceGetCount");
  *count = other < 0 ? 0 : other > 0 ? other : kDevices;
  return kDriverSuccess;
}
FAKE cuDeviceGet(Ordinal* ordinal, int number) {
  if (number < 0 || number >= kDevices) return kInvalidValue;
  *ordinal = number;
  return kDriverSuccess;
}
FAKE cuDeviceGetName(char* name, int bytes, Ordinal) {
  std::snprintf(name, static_cast<size_t>(bytes), "%s",
                "a FAKE of Shardwise's tests: no time means anything");
  return injected("cuDeviceGetName");
}
FAKE cuDeviceGetAttribute(int* value, DeviceAttribute which, Ordinal) {
  switch (which) {
    case kMaxThreadsPerBlock:
      *value = kThreads;
      return kDriverSuccess;
    case kNumMultiprocessors:
      *value = kMultiprocessors;
      return kDriverSuccess;
    case kUnifiedAddressing:
    case kMemoryPoolsSupported:
      *value = 1;
      return kDriverSuccess;
    case kCapabilityMajor: {
      const int other = injected("compute capability");
      *value = other != 0 ? other : 9;
      return kDriverSuccess;
    }
    case kCapabilityMinor:
      *value = 0;
      return kDriverSuccess;
  }
  return kInvalidValue;
}
FAKE cuDevicePrimaryCtxRetain(ContextHandle* context, Ordinal ordinal) {
  if (const int code = injected("cuDevicePrimaryCtxRetain"); code != 0) return code;
  Slot& primary = slot(ordinal);
  std::lock_guard lock(primary.mutex);
  if (primary.retained++ == 0) primary.device = std::make_unique<FakeDevice>();
  *context = reinterpret_cast<ContextHandle>(primary.device.get());
  return kDriverSuccess;
}
FAKE cuDevicePrimaryCtxRelease_v2(Ordinal ordinal) {
  Slot& primary = slot(ordinal);
  std::lock_guard lock(primary.mutex);
  if (--primary.retained > 0) return kDriverSuccess;
  // The memory of a lost device cannot be released, so it does not count as a leak.
  if (!primary.device->context.lost()) leaks += static_cast<int>(primary.device->allocated.size());
  primary.device.reset();
  return kDriverSuccess;
}
SHW_FAKE_API int shw_fake_leaks() { return leaks; }
SHW_FAKE_API int shw_fake_alive() { return Counted::alive(); }
FAKE cuCtxPushCurrent_v2(ContextHandle context) {
  current.push_back(reinterpret_cast<FakeDevice*>(context));
  return kDriverSuccess;
}
FAKE cuCtxPopCurrent_v2(ContextHandle* context) {
  if (current.empty()) return kInvalidContext;
  *context = reinterpret_cast<ContextHandle>(current.back());
  current.pop_back();
  return kDriverSuccess;
}
FAKE cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return kDriverSuccess;
}

// ---- Modules and launches ----

FAKE cuModuleLoadData(ModuleHandle* module, const void* image) {
  BEGIN("cuModuleLoadData");
  const std::string_view text = static_cast<const char*>(image);
  if (!text.starts_with(kFakeBinary)) return kInvalidValue;
  const std::string name(text.substr(std::strlen(kFakeBinary)));
  auto made = std::make_unique<CUmod_st>(name);
  if (name == kGenerated) {
    made->generated =
        load_generated(static_cast<const char*>(image) + text.size() + 1, made->library);
    if (made->generated == nullptr) return kInvalidValue;
  }
  *module = made.release();
  return kDriverSuccess;
}
FAKE cuModuleUnload(ModuleHandle module) {
  if (module->library != nullptr) dlclose(module->library);
  delete module;
  return kDriverSuccess;
}
FAKE cuModuleGetFunction(FunctionHandle* function, ModuleHandle module, const char* name) {
  BEGIN("cuModuleGetFunction");
  const FakeKernel* kernel = module->generated != nullptr && module->generated->name == name
                                 ? module->generated.get()
                                 : find_kernel(name);
  if (kernel == nullptr || kernel->program != module->program) return kDriverNotFound;
  *function = reinterpret_cast<FunctionHandle>(const_cast<FakeKernel*>(kernel));
  return kDriverSuccess;
}
FAKE cuLaunchKernel(FunctionHandle function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned,
                    StreamHandle stream, void** parameters, void**) {
  BEGIN("cuLaunchKernel");
  if (grid_x == 0 || grid_y != 1 || grid_z != 1 || block_x == 0 || block_x > kMostThreads ||
      block_y != 1 || block_z != 1)
    return kInvalidValue;
  const auto* kernel = reinterpret_cast<const FakeKernel*>(function);
  auto bound = kernel->bind(parameters);
  push(stream, [=, name = kernel->name](shw::strict::Memory& memory) -> Status {
    if (const int code = injected("a kernel"); code != 0)
      return shw::internal_error("a kernel failed, as it was told to");
    SHW_ASSIGN_OR_RETURN(const BoundKernel run,
                         bound([&](const void* p) { return memory.for_kernels(p); }));
    if (run_grid({grid_x, 1, 1}, {block_x, 1, 1}, run)) return {};
    return shw::internal_error(std::string(name) + ": the threads of a block parted at a barrier");
  });
  return kDriverSuccess;
}
FAKE cuLaunchHostFunc(StreamHandle stream, HostFunction* function, void* data) {
  BEGIN("cuLaunchHostFunc");
  stream->queue->push({[=](const Pointers&) {
    shw::strict::this_thread().in_callback = true;
    function(data);
    shw::strict::this_thread().in_callback = false;
  }});
  return kDriverSuccess;
}

// ---- Memory ----

FAKE cuMemAlloc_v2(DevicePointer* memory, size_t bytes) {
  BEGIN("cuMemAlloc_v2", true);
  if (bytes == 0) return kInvalidValue;
  void* made = nullptr;
  const DriverError error = allocate(*call.device, {static_cast<int64_t>(bytes), 256}, &made);
  if (error != 0) return error;
  call.device->context.memory.make_live(made);
  *memory = reinterpret_cast<DevicePointer>(made);
  return kDriverSuccess;
}
FAKE cuMemFree_v2(DevicePointer memory) {
  BEGIN("cuMemFree_v2", true);
  MemorySpec spec;
  if (!forget(*call.device, address(memory), spec)) return kInvalidValue;
  return call.device->context.memory.release(address(memory), spec).ok() ? kDriverSuccess
                                                                         : kInvalidValue;
}
FAKE cuMemHostAlloc(void** memory, size_t bytes, unsigned) {
  BEGIN("cuMemHostAlloc", true);
  const DriverError error =
      allocate(*call.device, {static_cast<int64_t>(bytes), 4096, MemoryKind::kHost}, memory);
  if (error != 0) return error;
  call.device->context.memory.make_live(*memory);
  return kDriverSuccess;
}
FAKE cuMemFreeHost(void* memory) {
  if (current.empty()) return kInvalidContext;
  MemorySpec spec;  // runs also after a sticky error, so that sanitizers find no leak
  if (!forget(*current.back(), memory, spec)) return kInvalidValue;
  (void)current.back()->context.memory.release(memory, spec);
  return kDriverSuccess;
}
FAKE cuMemAllocAsync(DevicePointer* memory, size_t bytes, StreamHandle stream) {
  BEGIN("cuMemAllocAsync");
  void* made = nullptr;
  const DriverError error = allocate(*call.device, {static_cast<int64_t>(bytes), 256}, &made);
  if (error != 0) return error;
  push(stream, [made](shw::strict::Memory& of) {
    of.make_live(made);
    return Status();
  });
  *memory = reinterpret_cast<DevicePointer>(made);
  return kDriverSuccess;
}
FAKE cuMemFreeAsync(DevicePointer memory, StreamHandle stream) {
  BEGIN("cuMemFreeAsync");
  MemorySpec spec;
  if (!forget(*call.device, address(memory), spec)) return kInvalidValue;
  push(stream, [=](shw::strict::Memory& of) { return of.release(address(memory), spec); });
  return kDriverSuccess;
}

namespace {

// On either side the host pointer or the device address is null. As in the driver, pageable host
// memory is read during the call, and a copy to pageable host memory waits for the stream.
DriverError copy(StreamHandle stream, DevicePointer to, void* to_host, DevicePointer from,
                 const void* from_host, size_t bytes) {
  const shw::strict::Memory& known = stream->device->context.memory;
  std::shared_ptr<std::string> staged;
  if (from_host != nullptr && !known.for_kernels(from_host).ok()) {
    staged = std::make_shared<std::string>(static_cast<const char*>(from_host), bytes);
    from_host = staged->data();
  }
  push(stream, [=, held = staged](shw::strict::Memory& memory) -> Status {
    void* target = to_host;
    const void* source = from_host;
    if (to_host == nullptr) {
      SHW_ASSIGN_OR_RETURN(target, memory.for_kernels(address(to)));
    }
    if (from_host == nullptr) {
      SHW_ASSIGN_OR_RETURN(source, memory.for_kernels(address(from)));
    }
    std::memcpy(target, source, bytes);
    return {};
  });
  if (to_host != nullptr && !known.for_kernels(to_host).ok() && !stream->queue->is_capturing())
    stream->queue->drain();
  return kDriverSuccess;
}

}  // namespace

FAKE cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, size_t bytes, StreamHandle stream) {
  BEGIN("cuMemcpyHtoDAsync_v2");
  return copy(stream, to, nullptr, 0, from, bytes);
}
FAKE cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, size_t bytes, StreamHandle stream) {
  BEGIN("cuMemcpyDtoHAsync_v2");
  return copy(stream, 0, to, from, nullptr, bytes);
}
FAKE cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, size_t bytes, StreamHandle stream) {
  BEGIN("cuMemcpyDtoDAsync_v2");
  return copy(stream, to, nullptr, from, nullptr, bytes);
}
FAKE cuMemsetD8Async(DevicePointer to, unsigned char value, size_t bytes, StreamHandle stream) {
  BEGIN("cuMemsetD8Async");
  push(stream, [=](shw::strict::Memory& memory) -> Status {
    SHW_ASSIGN_OR_RETURN(void* target, memory.for_kernels(address(to)));
    std::memset(target, value, bytes);
    return {};
  });
  return kDriverSuccess;
}

// ---- Streams and events ----

FAKE cuStreamCreateWithPriority(StreamHandle* stream, unsigned flags, int) {
  BEGIN("cuStreamCreateWithPriority");
  // streams without this flag wait for the null stream
  if (flags != kStreamNonBlocking) return kInvalidValue;
  *stream =
      new CUstream_st(call.device, std::make_shared<Queue>(std::shared_ptr<shw::strict::Context>(
                                       std::shared_ptr<void>(), &call.device->context)));
  return kDriverSuccess;
}
FAKE cuStreamDestroy_v2(StreamHandle stream) {
  stream->queue->drain();
  delete stream;
  return kDriverSuccess;
}
FAKE cuStreamSynchronize(StreamHandle stream) {
  // This call reports earlier errors. So an error injected here loses the device.
  if (injected("cuStreamSynchronize") != 0)
    stream->device->context.lose(shw::internal_error("lost, as it was told to be"));
  if (stream->queue->refuses("cuStreamSynchronize")) return kCaptureUnsupported;
  BEGIN("", true);
  stream->queue->drain();
  return sticky(stream->device->context);
}
FAKE cuStreamQuery(StreamHandle stream) {
  BEGIN("cuStreamQuery");
  if (stream->queue->refuses("cuStreamQuery")) return kCaptureUnsupported;
  return stream->queue->idle() ? kDriverSuccess : kDriverNotReady;
}
FAKE cuStreamWaitEvent(StreamHandle stream, EventHandle event, unsigned) {
  BEGIN("cuStreamWaitEvent");
  stream->queue->wait(event->state);
  return kDriverSuccess;
}
FAKE cuStreamWriteValue32_v2(StreamHandle stream, DevicePointer to, unsigned value,
                             unsigned flags) {
  BEGIN("cuStreamWriteValue32_v2");
  if (flags != 0) return kDriverNotSupported;  // this version of the function has no flags
  push(stream, [=](shw::strict::Memory& memory) -> Status {
    SHW_ASSIGN_OR_RETURN(void* target, memory.for_kernels(address(to)));
    std::atomic_ref(*static_cast<unsigned*>(target)).store(value, std::memory_order_release);
    return {};
  });
  return kDriverSuccess;
}
FAKE cuEventCreate(EventHandle* event, unsigned flags) {
  BEGIN("cuEventCreate");
  *event = new CUevent_st(call.device, (flags & kEventDisableTiming) == 0);
  return kDriverSuccess;
}
FAKE cuEventDestroy_v2(EventHandle event) {
  delete event;
  return kDriverSuccess;
}
FAKE cuEventRecord(EventHandle event, StreamHandle stream) {
  BEGIN("cuEventRecord");
  stream->queue->record(event->state);
  return kDriverSuccess;
}
FAKE cuEventQuery(EventHandle event) {
  BEGIN("cuEventQuery");
  std::lock_guard lock(event->state->mutex);
  // a captured event marks a place in a graph and has no time
  if (event->state->capture != nullptr) {
    event->state->capture->broken = "cuEventQuery was called for an event of the capture";
    return kCapturedEvent;
  }
  return event->state->completed >= event->state->recorded ? kDriverSuccess : kDriverNotReady;
}
FAKE cuEventElapsedTime(float* ms, EventHandle from, EventHandle to) {
  BEGIN("cuEventElapsedTime");
  if (!from->timing || !to->timing) return kInvalidHandle;
  for (EventHandle event : {from, to}) {
    std::lock_guard lock(event->state->mutex);
    if (event->state->recorded == 0) return kInvalidHandle;
    if (event->state->completed < event->state->recorded) return kDriverNotReady;
  }
  *ms = std::chrono::duration<float, std::milli>(to->state->reached_at - from->state->reached_at)
            .count();
  return kDriverSuccess;
}

// ---- Graphs ----

FAKE cuStreamBeginCapture_v2(StreamHandle stream, CaptureMode mode) {
  BEGIN("cuStreamBeginCapture_v2");
  if (mode != kCaptureThreadLocal) return kInvalidValue;
  return stream->queue->begin_capture().ok() ? kDriverSuccess : kIllegalState;
}
FAKE cuStreamEndCapture(StreamHandle stream, GraphHandle* graph) {
  *graph = nullptr;
  auto capture =
      stream->queue->end_capture();  // ends also if the call fails: the stream no longer captures
  BEGIN("cuStreamEndCapture");
  if (!capture.ok())
    return capture.status().message().find("not waited for") != std::string::npos
               ? kDriverCaptureUnjoined
               : kDriverCaptureInvalidated;
  *graph = new CUgraph_st(*capture);
  return kDriverSuccess;
}
FAKE cuGraphInstantiateWithFlags(GraphExecHandle* exec, GraphHandle graph, unsigned long long) {
  BEGIN("cuGraphInstantiateWithFlags");
  *exec = new CUgraphExec_st(graph->capture->commands);
  return kDriverSuccess;
}
FAKE cuGraphExecUpdate_v2(GraphExecHandle exec, GraphHandle graph, GraphUpdateResult* result) {
  *result = {};
  BEGIN("cuGraphExecUpdate_v2");
  if (exec->commands.size() != graph->capture->commands.size()) return kDriverGraphUpdateFailed;
  exec->commands = graph->capture->commands;
  return kDriverSuccess;
}
FAKE cuGraphLaunch(GraphExecHandle exec, StreamHandle stream) {
  BEGIN("cuGraphLaunch");
  if (stream->queue->refuses("cuGraphLaunch")) return kCaptureUnsupported;
  std::vector<shw::strict::Command> launched = exec->commands;
  for (shw::strict::Command& c : launched)
    if (c.at_launch) c.run = c.at_launch();
  stream->queue->push(
      {[commands = std::move(launched), &context = stream->device->context](const Pointers&) {
        for (const shw::strict::Command& c : commands)
          if (!context.lost()) c.run(c.pointers);
      }});
  return kDriverSuccess;
}
FAKE cuGraphDestroy(GraphHandle graph) {
  delete graph;
  return kDriverSuccess;
}
FAKE cuGraphExecDestroy(GraphExecHandle exec) {
  delete exec;
  return kDriverSuccess;
}
