// The part of cuDNN that is used, with our own declarations (tests/cuda compares them with the
// vendor's header).
//
// cuDNN is optional. Convolutions call its functions for single convolutions, which version 9
// deprecates but still has. Attention uses graphs (cudnn_graph.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

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
using CudnnNode = void*;

enum CudnnType : int {
  kCudnnF32 = 0,
  kCudnnF16 = 2,
  kCudnnI32 = 4,
  kCudnnBF16 = 9,
  kCudnnBool = 11,
};
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

// The nodes that graphs are made of, their attributes, and the types of these.
enum CudnnKind : int {
  kCudnnPointwise = 0,
  kCudnnEngineConfig = 3,
  kCudnnHeuristic = 4,
  kCudnnPlan = 5,
  kCudnnDoPointwise = 13,
  kCudnnOperations = 15,
  kCudnnPack = 16,
  kCudnnTensor = 17,
  kCudnnMatmul = 18,
  kCudnnDoMatmul = 19,
  kCudnnReduction = 21,
  kCudnnDoReduction = 22,
  kCudnnDoReshape = 31,
};
enum CudnnAttribute : int {
  kPointwiseMode = 0,
  kPointwiseCompute = 1,
  kPointwiseAxis = 9,
  kHeuristicMode = 200,
  kHeuristicOperations = 201,
  kHeuristicResults = 202,
  kPlanHandle = 400,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kDoPointwiseWhat = 750,
  kDoPointwiseX = 751,
  kDoPointwiseB = 752,
  kDoPointwiseY = 753,
  kDoPointwiseT = 758,
  kOperationsHandle = 800,
  kOperationsAll = 801,
  kTensorAlignment = 900,
  kTensorType = 901,
  kTensorSizes = 902,
  kTensorStrides = 903,
  kTensorId = 906,
  kTensorIsVirtual = 907,
  kTensorIsByValue = 908,
  kPackIds = 1000,
  kPackPointers = 1001,
  kPackWorkspace = 1003,
  kMatmulCompute = 1500,
  kDoMatmulA = 1520,
  kDoMatmulB = 1521,
  kDoMatmulC = 1522,
  kDoMatmulWhat = 1523,
  kReductionMode = 1600,
  kReductionCompute = 1601,
  kDoReductionX = 1610,
  kDoReductionY = 1611,
  kDoReductionWhat = 1612,
  kDoReshapeX = 2200,
  kDoReshapeY = 2201,
};
enum CudnnAttributeType : int {
  kCudnnHandles = 0,
  kCudnnTypes = 1,
  kCudnnBools = 2,
  kCudnnInts = 3,
  kCudnnPointers = 6,
  kCudnnHeuristicModes = 8,
  kCudnnPointwiseModes = 14,
  kCudnnNodes = 15,
  kCudnnReductionModes = 18,
};
enum CudnnPointwiseMode : int {
  kCudnnAdd = 0,
  kCudnnMul = 1,
  kCudnnDiv = 6,
  kCudnnSub = 9,
  kCudnnExp = 13,
  kCudnnLog = 15,
  kCudnnCopy = 21,
  kCudnnGreaterOrEqual = 303,
  kCudnnIndex = 501,
  kCudnnSelect = 601,
};
enum CudnnReductionMode : int { kCudnnSum = 0, kCudnnMax = 3 };
enum CudnnHeuristicMode : int { kCudnnByModel = 3 };

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
    to_weight, "cudnnConvolutionBackwardFilter")                                                 \
  X(CudnnError(CudnnKind, CudnnNode*), create_node, "cudnnBackendCreateDescriptor")              \
  X(CudnnError(CudnnNode), destroy_node, "cudnnBackendDestroyDescriptor")                        \
  X(CudnnError(CudnnNode), finish_node, "cudnnBackendFinalize")                                  \
  X(CudnnError(CudnnNode, CudnnAttribute, CudnnAttributeType, int64_t, const void*), set,        \
    "cudnnBackendSetAttribute")                                                                  \
  X(CudnnError(const CudnnNode, CudnnAttribute, CudnnAttributeType, int64_t, int64_t*, void*),   \
    get, "cudnnBackendGetAttribute")                                                             \
  X(CudnnError(CudnnHandle, CudnnNode, CudnnNode), execute, "cudnnBackendExecute")

struct Cudnn {
  SHW_CUDA_CUDNN(SHW_ENTRY_MEMBER)
  Status check(CudnnError error, const char* what, SourceLoc loc = SourceLoc::current()) const;
};

Result<Cudnn> open_cudnn(const std::string& folder);

class CudnnGraph;

// A device's kernels share this object.
class SharedCudnn {
 public:
  // Null: cuDNN is missing or too old. Any thread. The device's context must be current.
  static std::unique_ptr<SharedCudnn> open(const std::string& folder);
  ~SharedCudnn();  // the device's context must be current
  SharedCudnn(const SharedCudnn&) = delete;
  SharedCudnn& operator=(const SharedCudnn&) = delete;

  const Cudnn& api() const { return api_; }

  // The handle, for one thread at a time.
  class Handle {
   public:
    explicit Handle(SharedCudnn& shared) : lock_(shared.mutex_), shared_(shared) {}
    operator CudnnHandle() const { return shared_.handle_; }
    // The graph for a problem, if one exists; it exists as long as somebody holds it.
    std::weak_ptr<const CudnnGraph>& graph(const std::vector<int64_t>& problem) const {
      return shared_.graphs_[problem];
    }

   private:
    std::lock_guard<std::mutex> lock_;
    SharedCudnn& shared_;
  };

 private:
  SharedCudnn(const Cudnn& api, CudnnHandle handle) : api_(api), handle_(handle) {}

  const Cudnn api_;
  std::mutex mutex_;
  const CudnnHandle handle_;
  std::map<std::vector<int64_t>, std::weak_ptr<const CudnnGraph>> graphs_;
};

}  // namespace shw::runtime::cuda
