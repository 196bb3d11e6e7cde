// Compares our declarations of NVIDIA's functions with NVIDIA's headers at compile time, if they
// are installed.
#include <gtest/gtest.h>

#if __has_include( \
    <cuda.h>) && __has_include(<nvrtc.h>) && __has_include(<cublasLt.h>) && __has_include(<nccl.h>)
#include <cublasLt.h>
#include <cuda.h>
#include <nccl.h>
#include <nvrtc.h>
// Included last, since the headers above define function names as macros with a version suffix.
#include "cuda/alike.h"
#include "runtime/cuda/plugin/cublaslt.h"
#include "runtime/cuda/plugin/driver.h"
#include "runtime/cuda/plugin/nccl.h"
#include "runtime/cuda/plugin/nvrtc.h"

namespace shw::runtime::cuda {
namespace {

SHW_SAME(cuInit, Driver, init);
SHW_SAME(cuDriverGetVersion, Driver, driver_version);
SHW_SAME(cuGetErrorName, Driver, error_name);
SHW_SAME(cuGetErrorString, Driver, error_text);
SHW_SAME(cuDeviceGetCount, Driver, device_count);
SHW_SAME(cuDeviceGet, Driver, device_get);
SHW_SAME(cuDeviceGetName, Driver, device_name);
SHW_SAME(cuDeviceGetAttribute, Driver, device_attribute);
SHW_SAME(cuDevicePrimaryCtxRetain, Driver, retain_context);
SHW_SAME(cuDevicePrimaryCtxRelease_v2, Driver, release_context);
SHW_SAME(cuCtxPushCurrent_v2, Driver, push_context);
SHW_SAME(cuCtxPopCurrent_v2, Driver, pop_context);
SHW_SAME(cuCtxGetStreamPriorityRange, Driver, priority_range);
SHW_SAME(cuModuleLoadData, Driver, load_module);
SHW_SAME(cuModuleUnload, Driver, unload_module);
SHW_SAME(cuModuleGetFunction, Driver, find_function);
SHW_SAME(cuLaunchKernel, Driver, launch);
SHW_SAME(cuLaunchHostFunc, Driver, launch_host);
SHW_SAME(cuMemAlloc_v2, Driver, allocate);
SHW_SAME(cuMemFree_v2, Driver, free);
SHW_SAME(cuMemHostAlloc, Driver, allocate_host);
SHW_SAME(cuMemFreeHost, Driver, free_host);
SHW_SAME(cuMemAllocAsync, Driver, allocate_async);
SHW_SAME(cuMemFreeAsync, Driver, free_async);
SHW_SAME(cuMemcpyHtoDAsync_v2, Driver, copy_to_device);
SHW_SAME(cuMemcpyDtoHAsync_v2, Driver, copy_to_host);
SHW_SAME(cuMemcpyDtoDAsync_v2, Driver, copy_on_device);
SHW_SAME(cuMemsetD8Async, Driver, fill);
SHW_SAME(cuStreamCreateWithPriority, Driver, create_stream);
SHW_SAME(cuStreamDestroy_v2, Driver, destroy_stream);
SHW_SAME(cuStreamSynchronize, Driver, synchronize_stream);
SHW_SAME(cuStreamQuery, Driver, query_stream);
SHW_SAME(cuStreamWriteValue32, Driver, write_value);
SHW_SAME(cuStreamWaitEvent, Driver, wait_event);
SHW_SAME(cuEventCreate, Driver, create_event);
SHW_SAME(cuEventDestroy_v2, Driver, destroy_event);
SHW_SAME(cuEventRecord, Driver, record_event);
SHW_SAME(cuEventQuery, Driver, query_event);
SHW_SAME(cuEventElapsedTime, Driver, elapsed_time);
static_assert(int{kDriverOutOfMemory} == CUDA_ERROR_OUT_OF_MEMORY &&
              int{kDriverNotFound} == CUDA_ERROR_NOT_FOUND &&
              int{kDriverNotReady} == CUDA_ERROR_NOT_READY &&
              int{kDriverNotSupported} == CUDA_ERROR_NOT_SUPPORTED);
static_assert(int{kMaxThreadsPerBlock} == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK &&
              int{kNumMultiprocessors} == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT &&
              int{kUnifiedAddressing} == CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING &&
              int{kCapabilityMajor} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR &&
              int{kCapabilityMinor} == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR &&
              int{kMemoryPoolsSupported} == CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
static_assert(unsigned{kStreamNonBlocking} == CU_STREAM_NON_BLOCKING &&
              unsigned{kEventDisableTiming} == CU_EVENT_DISABLE_TIMING &&
              kHostMemoryPortable == CU_MEMHOSTALLOC_PORTABLE &&
              kHostMemoryMapped == CU_MEMHOSTALLOC_DEVICEMAP);

SHW_SAME(nvrtcVersion, Nvrtc, version);
SHW_SAME(nvrtcGetErrorString, Nvrtc, error_text);
SHW_SAME(nvrtcCreateProgram, Nvrtc, create);
SHW_SAME(nvrtcDestroyProgram, Nvrtc, destroy);
SHW_SAME(nvrtcCompileProgram, Nvrtc, compile);
SHW_SAME(nvrtcGetCUBINSize, Nvrtc, binary_size);
SHW_SAME(nvrtcGetCUBIN, Nvrtc, binary);
SHW_SAME(nvrtcGetProgramLogSize, Nvrtc, log_size);
SHW_SAME(nvrtcGetProgramLog, Nvrtc, log);

SHW_SAME(cublasLtGetVersion, CublasLt, version);
SHW_SAME(cublasLtCreate, CublasLt, create);
SHW_SAME(cublasLtDestroy, CublasLt, destroy);
SHW_SAME(cublasLtMatmulDescCreate, CublasLt, create_matmul);
SHW_SAME(cublasLtMatmulDescDestroy, CublasLt, destroy_matmul);
SHW_SAME(cublasLtMatmulDescSetAttribute, CublasLt, set_matmul);
SHW_SAME(cublasLtMatrixLayoutCreate, CublasLt, create_layout);
SHW_SAME(cublasLtMatrixLayoutDestroy, CublasLt, destroy_layout);
SHW_SAME(cublasLtMatrixLayoutSetAttribute, CublasLt, set_layout);
SHW_SAME(cublasLtMatmulPreferenceCreate, CublasLt, create_preference);
SHW_SAME(cublasLtMatmulPreferenceDestroy, CublasLt, destroy_preference);
SHW_SAME(cublasLtMatmulPreferenceSetAttribute, CublasLt, set_preference);
SHW_SAME(cublasLtMatmulAlgoGetHeuristic, CublasLt, find_algorithm);
SHW_SAME(cublasLtMatmul, CublasLt, multiply);
static_assert(sizeof(MatmulAlgorithm) == sizeof(cublasLtMatmulAlgo_t) &&
              sizeof(MatmulHeuristic) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(MatmulHeuristic, workspace_bytes) ==
                  offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize) &&
              offsetof(MatmulHeuristic, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));
static_assert(int{kCudaF32} == CUDA_R_32F && int{kCudaF64} == CUDA_R_64F &&
              int{kCudaF16} == CUDA_R_16F && int{kCudaC32} == CUDA_C_32F &&
              int{kCudaBF16} == CUDA_R_16BF && int{kCudaF8E4M3} == CUDA_R_8F_E4M3 &&
              int{kCudaF8E5M2} == CUDA_R_8F_E5M2 && int{kCompute32F} == CUBLAS_COMPUTE_32F &&
              int{kCompute64F} == CUBLAS_COMPUTE_64F);
static_assert(int{kTransposeA} == CUBLASLT_MATMUL_DESC_TRANSA &&
              int{kTransposeB} == CUBLASLT_MATMUL_DESC_TRANSB &&
              int{kScaleOfA} == CUBLASLT_MATMUL_DESC_A_SCALE_POINTER &&
              int{kScaleOfB} == CUBLASLT_MATMUL_DESC_B_SCALE_POINTER &&
              int{kBatchCount} == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT &&
              int{kBatchStride} == CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET &&
              int{kMaxWorkspace} == CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES &&
              int{kAlignmentA} == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES &&
              int{kAlignmentD} == CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES &&
              int{kTransposed} == CUBLAS_OP_T);

SHW_SAME(ncclGetVersion, Nccl, version);
SHW_SAME(ncclGetErrorString, Nccl, error_text);
SHW_SAME(ncclGetUniqueId, Nccl, make_id);
SHW_SAME(ncclCommInitRankConfig, Nccl, join);
SHW_SAME(ncclCommSplit, Nccl, split);
SHW_SAME(ncclCommGetAsyncError, Nccl, async_error);
SHW_SAME(ncclCommAbort, Nccl, abort);
#if NCCL_VERSION_CODE >= 21900
SHW_SAME(ncclCommRegister, NcclRegistration, add);
SHW_SAME(ncclCommDeregister, NcclRegistration, remove);
SHW_SAME(ncclMemAlloc, NcclRegistration, allocate);
SHW_SAME(ncclMemFree, NcclRegistration, free);
#endif
SHW_SAME(ncclGroupStart, Nccl, begin_group);
SHW_SAME(ncclGroupEnd, Nccl, end_group);
SHW_SAME(ncclAllReduce, Nccl, all_reduce);
SHW_SAME(ncclReduceScatter, Nccl, reduce_scatter);
SHW_SAME(ncclAllGather, Nccl, all_gather);
SHW_SAME(ncclSend, Nccl, send);
SHW_SAME(ncclRecv, Nccl, receive);
static_assert(sizeof(NcclId) == sizeof(ncclUniqueId));
static_assert(offsetof(NcclConfig, blocking) == offsetof(ncclConfig_t, blocking) &&
              offsetof(NcclConfig, network) == offsetof(ncclConfig_t, netName) &&
              offsetof(NcclConfig, split_share) == offsetof(ncclConfig_t, splitShare));
static_assert(int{kNcclRemoteError} == ncclRemoteError && int{kNcclBF16} == ncclBfloat16 &&
              int{kNcclF16} == ncclFloat16 && int{kNcclF32} == ncclFloat32 &&
              int{kNcclF64} == ncclFloat64 && int{kNcclI64} == ncclInt64 &&
              int{kNcclU8} == ncclUint8 && int{kNcclAverage} == ncclAvg &&
              int{kNcclMin} == ncclMin && int{kNcclMax} == ncclMax &&
              int{kNcclInProgress} == ncclInProgress && int{kNcclInvalidUsage} == ncclInvalidUsage);

}  // namespace
}  // namespace shw::runtime::cuda
#else
TEST(CudaHeadersTest, OurDeclarationsAreTheirs) {
  GTEST_SKIP() << "not run: the headers of CUDA and NCCL are not installed";
}
#endif
