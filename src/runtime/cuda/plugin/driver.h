// The part of the CUDA driver (libcuda) that is used, with our own declarations. tests/cuda
// compares them with the vendor's header if that is installed.
#pragma once
#include <cstddef>
#include <cstdint>

#include "runtime/cuda/plugin/library.h"

// The struct tags of the driver's handles, as in its headers.
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;

namespace shw::runtime::cuda {

using DriverError = int;  // CUresult
using Ordinal = int;      // CUdevice
using DevicePointer = unsigned long long;
using ContextHandle = CUctx_st*;
using ModuleHandle = CUmod_st*;
using FunctionHandle = CUfunc_st*;
using StreamHandle = CUstream_st*;
using EventHandle = CUevent_st*;
using GraphHandle = CUgraph_st*;
using GraphExecHandle = CUgraphExec_st*;
using HostFunction = void(void*);

enum : DriverError {
  kDriverSuccess = 0,
  kDriverOutOfMemory = 2,
  kDriverNotFound = 500,
  kDriverNotReady = 600,
  kDriverNotSupported = 801,
  kDriverCaptureUnsupported = 900,  // first of the errors of an invalid capture
  kDriverCaptureInvalidated = 901,
  kDriverCaptureUnjoined = 904,
  kDriverCaptureWrongThread = 908,  // last of these errors
  kDriverGraphUpdateFailed = 910,
};
enum DeviceAttribute : int {
  kMaxThreadsPerBlock = 1,
  kNumMultiprocessors = 16,
  kUnifiedAddressing = 41,
  kCapabilityMajor = 75,
  kCapabilityMinor = 76,
  kMemoryPoolsSupported = 115,
};
enum : unsigned {
  kStreamNonBlocking = 1,
  kEventDisableTiming = 2,
  kHostMemoryPortable = 1,
  kHostMemoryMapped = 2,
};
// Which calls invalidate a capture: unsafe calls of the capturing thread only.
// (CUstreamCaptureMode)
enum CaptureMode : int { kCaptureThreadLocal = 1 };
// Why a graph could not be updated. (CUgraphExecUpdateResultInfo)
struct GraphUpdateResult {
  int result;
  void *error_node, *error_from_node;
};

// If a function has several versions, the symbol names the version.
#define SHW_CUDA_DRIVER(X)                                                                         \
  X(DriverError(unsigned), init, "cuInit")                                                         \
  X(DriverError(int*), driver_version, "cuDriverGetVersion")                                       \
  X(DriverError(DriverError, const char**), error_name, "cuGetErrorName")                          \
  X(DriverError(DriverError, const char**), error_text, "cuGetErrorString")                        \
  X(DriverError(int*), device_count, "cuDeviceGetCount")                                           \
  X(DriverError(Ordinal*, int), device_get, "cuDeviceGet")                                         \
  X(DriverError(char*, int, Ordinal), device_name, "cuDeviceGetName")                              \
  X(DriverError(int*, DeviceAttribute, Ordinal), device_attribute, "cuDeviceGetAttribute")         \
  X(DriverError(ContextHandle*, Ordinal), retain_context, "cuDevicePrimaryCtxRetain")              \
  X(DriverError(Ordinal), release_context, "cuDevicePrimaryCtxRelease_v2")                         \
  X(DriverError(ContextHandle), push_context, "cuCtxPushCurrent_v2")                               \
  X(DriverError(ContextHandle*), pop_context, "cuCtxPopCurrent_v2")                                \
  X(DriverError(int*, int*), priority_range, "cuCtxGetStreamPriorityRange")                        \
  X(DriverError(ModuleHandle*, const void*), load_module, "cuModuleLoadData")                      \
  X(DriverError(ModuleHandle), unload_module, "cuModuleUnload")                                    \
  X(DriverError(FunctionHandle*, ModuleHandle, const char*), find_function, "cuModuleGetFunction") \
  X(DriverError(FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,        \
                unsigned, StreamHandle, void**, void**),                                           \
    launch, "cuLaunchKernel")                                                                      \
  X(DriverError(StreamHandle, HostFunction*, void*), launch_host, "cuLaunchHostFunc")              \
  X(DriverError(DevicePointer*, size_t), allocate, "cuMemAlloc_v2")                                \
  X(DriverError(DevicePointer), free, "cuMemFree_v2")                                              \
  X(DriverError(void**, size_t, unsigned), allocate_host, "cuMemHostAlloc")                        \
  X(DriverError(void*), free_host, "cuMemFreeHost")                                                \
  X(DriverError(DevicePointer*, size_t, StreamHandle), allocate_async, "cuMemAllocAsync")          \
  X(DriverError(DevicePointer, StreamHandle), free_async, "cuMemFreeAsync")                        \
  X(DriverError(DevicePointer, const void*, size_t, StreamHandle), copy_to_device,                 \
    "cuMemcpyHtoDAsync_v2")                                                                        \
  X(DriverError(void*, DevicePointer, size_t, StreamHandle), copy_to_host, "cuMemcpyDtoHAsync_v2") \
  X(DriverError(DevicePointer, DevicePointer, size_t, StreamHandle), copy_on_device,               \
    "cuMemcpyDtoDAsync_v2")                                                                        \
  X(DriverError(DevicePointer, unsigned char, size_t, StreamHandle), fill, "cuMemsetD8Async")      \
  X(DriverError(StreamHandle*, unsigned, int), create_stream, "cuStreamCreateWithPriority")        \
  X(DriverError(StreamHandle), destroy_stream, "cuStreamDestroy_v2")                               \
  X(DriverError(StreamHandle), synchronize_stream, "cuStreamSynchronize")                          \
  X(DriverError(StreamHandle), query_stream, "cuStreamQuery")                                      \
  X(DriverError(StreamHandle, EventHandle, unsigned), wait_event, "cuStreamWaitEvent")             \
  X(DriverError(StreamHandle, DevicePointer, unsigned, unsigned), write_value,                     \
    "cuStreamWriteValue32_v2")                                                                     \
  X(DriverError(EventHandle*, unsigned), create_event, "cuEventCreate")                            \
  X(DriverError(EventHandle), destroy_event, "cuEventDestroy_v2")                                  \
  X(DriverError(EventHandle, StreamHandle), record_event, "cuEventRecord")                         \
  X(DriverError(EventHandle), query_event, "cuEventQuery")                                         \
  X(DriverError(float*, EventHandle, EventHandle), elapsed_time, "cuEventElapsedTime")             \
  X(DriverError(StreamHandle, CaptureMode), begin_capture, "cuStreamBeginCapture_v2")              \
  X(DriverError(StreamHandle, GraphHandle*), end_capture, "cuStreamEndCapture")                    \
  X(DriverError(GraphExecHandle*, GraphHandle, unsigned long long), instantiate_graph,             \
    "cuGraphInstantiateWithFlags")                                                                 \
  X(DriverError(GraphExecHandle, GraphHandle, GraphUpdateResult*), update_graph,                   \
    "cuGraphExecUpdate_v2")                                                                        \
  X(DriverError(GraphExecHandle, StreamHandle), launch_graph, "cuGraphLaunch")                     \
  X(DriverError(GraphHandle), destroy_graph, "cuGraphDestroy")                                     \
  X(DriverError(GraphExecHandle), destroy_graph_exec, "cuGraphExecDestroy")

struct Driver {
  SHW_CUDA_DRIVER(SHW_ENTRY_MEMBER)

  // RESOURCE_EXHAUSTED: out of memory; INTERNAL: all other errors, with the driver's name and text
  // of the error. `what`: the operation that failed.
  Status check(DriverError error, const char* what, SourceLoc loc = SourceLoc::current()) const;
};

// UNAVAILABLE: the driver is missing or too old, or it finds no device.
Result<Driver> open_driver(const std::string& folder);

}  // namespace shw::runtime::cuda
