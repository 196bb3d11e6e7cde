// cuDNN: what is called of it, with declarations of our own (tests/cuda compares them). Only
// convolutions use it, and only where it is there: its functions of one convolution each, which
// version 9 calls deprecated and still has.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/cuda/plugin/driver.h"

struct cudnnContext;

namespace shw::runtime::cuda {

using CudnnError = int;  // cudnnStatus_t
using CudnnHandle = cudnnContext*;

// Descriptors are opaque: cuDNN makes and destroys them.
using CudnnTensor = void*;
using CudnnFilter = void*;
using CudnnConvolution = void*;
using CudnnActivation = void*;

enum CudnnType : int { kCudnnF32 = 0, kCudnnF16 = 2, kCudnnBF16 = 9 };
enum CudnnFormat : int { kCudnnRowMajor = 0 };
enum CudnnMode : int { kCudnnCrossCorrelation = 1 };
enum CudnnMath : int { kCudnnTensorCores = 1, kCudnnMultiplyAdd = 3 };
enum CudnnDeterminism : int { kCudnnDeterministic = 1 };
enum CudnnIdentity : int { kCudnnIdentity = 5 };
enum CudnnNan : int { kCudnnPropagateNan = 1 };

// An algorithm that cuDNN proposes, the best first.
struct CudnnProposal {
  int algorithm;
  CudnnError status;
  float milliseconds;
  size_t workspace_bytes;
  CudnnDeterminism determinism;
  CudnnMath math;
  int reserved[3];
};

#define SHW_CUDA_CUDNN(X)                                                                        \
  X(size_t(), version, "cudnnGetVersion")                                                        \
  X(CudnnError(CudnnHandle*), create, "cudnnCreate")                                             \
  X(CudnnError(CudnnHandle), destroy, "cudnnDestroy")                                            \
  X(CudnnError(CudnnHandle, StreamHandle), set_stream, "cudnnSetStream")                         \
  X(CudnnError(CudnnTensor*), create_tensor, "cudnnCreateTensorDescriptor")                      \
  X(CudnnError(CudnnTensor), destroy_tensor, "cudnnDestroyTensorDescriptor")                     \
  X(CudnnError(CudnnTensor, CudnnType, int, const int*, const int*), set_tensor,                 \
    "cudnnSetTensorNdDescriptor")                                                                \
  X(CudnnError(CudnnFilter*), create_filter, "cudnnCreateFilterDescriptor")                      \
  X(CudnnError(CudnnFilter), destroy_filter, "cudnnDestroyFilterDescriptor")                     \
  X(CudnnError(CudnnFilter, CudnnType, CudnnFormat, int, const int*), set_filter,                \
    "cudnnSetFilterNdDescriptor")                                                                \
  X(CudnnError(CudnnConvolution*), create_convolution, "cudnnCreateConvolutionDescriptor")       \
  X(CudnnError(CudnnConvolution), destroy_convolution, "cudnnDestroyConvolutionDescriptor")      \
  X(CudnnError(CudnnConvolution, int, const int*, const int*, const int*, CudnnMode, CudnnType), \
    set_convolution, "cudnnSetConvolutionNdDescriptor")                                          \
  X(CudnnError(CudnnConvolution, int), set_groups, "cudnnSetConvolutionGroupCount")              \
  X(CudnnError(CudnnConvolution, CudnnMath), set_math, "cudnnSetConvolutionMathType")            \
  X(CudnnError(CudnnActivation*), create_activation, "cudnnCreateActivationDescriptor")          \
  X(CudnnError(CudnnActivation), destroy_activation, "cudnnDestroyActivationDescriptor")         \
  X(CudnnError(CudnnActivation, CudnnIdentity, CudnnNan, double), set_activation,                \
    "cudnnSetActivationDescriptor")                                                              \
  X(CudnnError(CudnnHandle, CudnnTensor, CudnnFilter, CudnnConvolution, CudnnTensor, int, int*,  \
               CudnnProposal*),                                                                  \
    propose_result, "cudnnGetConvolutionForwardAlgorithm_v7")                                    \
  X(CudnnError(CudnnHandle, CudnnFilter, CudnnTensor, CudnnConvolution, CudnnTensor, int, int*,  \
               CudnnProposal*),                                                                  \
    propose_input, "cudnnGetConvolutionBackwardDataAlgorithm_v7")                                \
  X(CudnnError(CudnnHandle, CudnnTensor, CudnnTensor, CudnnConvolution, CudnnFilter, int, int*,  \
               CudnnProposal*),                                                                  \
    propose_weight, "cudnnGetConvolutionBackwardFilterAlgorithm_v7")                             \
  X(CudnnError(CudnnHandle, const void*, CudnnTensor, const void*, CudnnFilter, const void*,     \
               CudnnConvolution, int, void*, size_t, const void*, CudnnTensor, void*),           \
    to_result, "cudnnConvolutionForward")                                                        \
  X(CudnnError(CudnnHandle, const void*, CudnnTensor, const void*, CudnnFilter, const void*,     \
               CudnnConvolution, int, void*, size_t, const void*, CudnnTensor, const void*,      \
               CudnnTensor, const void*, CudnnActivation, CudnnTensor, void*),                   \
    to_biased_result, "cudnnConvolutionBiasActivationForward")                                   \
  X(CudnnError(CudnnHandle, const void*, CudnnFilter, const void*, CudnnTensor, const void*,     \
               CudnnConvolution, int, void*, size_t, const void*, CudnnTensor, void*),           \
    to_input, "cudnnConvolutionBackwardData")                                                    \
  X(CudnnError(CudnnHandle, const void*, CudnnTensor, const void*, CudnnTensor, const void*,     \
               CudnnConvolution, int, void*, size_t, const void*, CudnnFilter, void*),           \
    to_weight, "cudnnConvolutionBackwardFilter")

struct Cudnn {
  SHW_CUDA_CUDNN(SHW_ENTRY_MEMBER)
  Status check(CudnnError error, const char* what, SourceLoc loc = SourceLoc::current()) const;
};

Result<Cudnn> open_cudnn(const std::string& folder);

// The library as a device's kernels share it.
class SharedCudnn {
 public:
  // Null: it is not there, or too old. Any thread. The device's context must be current.
  static std::unique_ptr<SharedCudnn> open(const std::string& folder);
  ~SharedCudnn();  // the device's context must be current
  SharedCudnn(const SharedCudnn&) = delete;
  SharedCudnn& operator=(const SharedCudnn&) = delete;

  const Cudnn& api() const { return api_; }

  // The handle, for one thread at a time.
  class Handle {
   public:
    explicit Handle(SharedCudnn& shared) : lock_(shared.mutex_), handle_(shared.handle_) {}
    operator CudnnHandle() const { return handle_; }

   private:
    std::lock_guard<std::mutex> lock_;
    CudnnHandle handle_;
  };

 private:
  SharedCudnn(const Cudnn& api, CudnnHandle handle) : api_(api), handle_(handle) {}

  const Cudnn api_;
  std::mutex mutex_;
  const CudnnHandle handle_;
};

}  // namespace shw::runtime::cuda
