// The part of NCCL that is used, with our own declarations (tests/cuda compares them with the
// vendor's header).
#pragma once
#include <climits>
#include <cstddef>

#include "runtime/cuda/plugin/driver.h"

struct ncclComm;

namespace shw::runtime::cuda {

using NcclError = int;  // ncclResult_t
using NcclCommunicator = ncclComm*;

enum : NcclError {
  kNcclSuccess = 0,
  kNcclInvalidUsage = 5,
  kNcclRemoteError = 6,
  kNcclInProgress = 7
};
enum NcclType : int {
  kNcclI8 = 0,
  kNcclU8 = 1,
  kNcclI32 = 2,
  kNcclI64 = 4,
  kNcclF16 = 6,
  kNcclF32 = 7,
  kNcclF64 = 8,
  kNcclBF16 = 9,
};
enum NcclOperation : int {
  kNcclSum = 0,
  kNcclProduct = 1,
  kNcclMax = 2,
  kNcclMin = 3,
  kNcclAverage = 4,
};

struct NcclId {
  char bytes[128];
};

// The oldest layout that contains the fields set here; later fields keep NCCL's defaults.
struct NcclConfig {
  size_t size = sizeof(NcclConfig);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;  // 2.18: of this layout
  int blocking = 0;
  int cluster_size = INT_MIN, least_blocks = INT_MIN, most_blocks = INT_MIN;
  const char* network = nullptr;
  int split_share = INT_MIN;
};

#define SHW_CUDA_NCCL(X)                                                                           \
  X(NcclError(int*), version, "ncclGetVersion")                                                    \
  X(const char*(NcclError), error_text, "ncclGetErrorString")                                      \
  X(NcclError(NcclId*), make_id, "ncclGetUniqueId")                                                \
  X(NcclError(NcclCommunicator*, int, NcclId, int, NcclConfig*), join, "ncclCommInitRankConfig")   \
  X(NcclError(NcclCommunicator, int, int, NcclCommunicator*, NcclConfig*), split, "ncclCommSplit") \
  X(NcclError(NcclCommunicator, NcclError*), async_error, "ncclCommGetAsyncError")                 \
  X(NcclError(NcclCommunicator), abort, "ncclCommAbort")                                           \
  X(NcclError(), begin_group, "ncclGroupStart")                                                    \
  X(NcclError(), end_group, "ncclGroupEnd")                                                        \
  X(NcclError(const void*, void*, size_t, NcclType, NcclOperation, NcclCommunicator,               \
              StreamHandle),                                                                       \
    all_reduce, "ncclAllReduce")                                                                   \
  X(NcclError(const void*, void*, size_t, NcclType, NcclOperation, NcclCommunicator,               \
              StreamHandle),                                                                       \
    reduce_scatter, "ncclReduceScatter")                                                           \
  X(NcclError(const void*, void*, size_t, NcclType, NcclCommunicator, StreamHandle), all_gather,   \
    "ncclAllGather")                                                                               \
  X(NcclError(const void*, size_t, NcclType, int, NcclCommunicator, StreamHandle), send,           \
    "ncclSend")                                                                                    \
  X(NcclError(void*, size_t, NcclType, int, NcclCommunicator, StreamHandle), receive, "ncclRecv")

struct Nccl {
  SHW_CUDA_NCCL(SHW_ENTRY_MEMBER)
  // Operations in progress count as success.
  Status check(NcclError error, const char* what, SourceLoc loc = SourceLoc::current()) const;
};

Result<Nccl> open_nccl(const std::string& folder);

#define SHW_CUDA_NCCL_REGISTRATION(X)                                            \
  X(NcclError(NcclCommunicator, void*, size_t, void**), add, "ncclCommRegister") \
  X(NcclError(NcclCommunicator, void*), remove, "ncclCommDeregister")            \
  X(NcclError(void**, size_t), allocate, "ncclMemAlloc")                         \
  X(NcclError(void*), free, "ncclMemFree")

// In NCCL 2.19 and newer; all null in older versions.
struct NcclRegistration {
  SHW_CUDA_NCCL_REGISTRATION(SHW_ENTRY_MEMBER)
};
NcclRegistration open_nccl_registration(const std::string& folder);

}  // namespace shw::runtime::cuda
