// Compares our declarations of cuDNN's functions with its headers, if they are installed.
#include <gtest/gtest.h>

#if __has_include(<cudnn.h>)
#include <cudnn.h>

#include "cuda/alike.h"
#include "runtime/cuda/plugin/cudnn.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // version 9 says so, and has them

namespace shw::runtime::cuda {
namespace {

SHW_SAME(cudnnGetVersion, Cudnn, version);
SHW_SAME(cudnnCreate, Cudnn, create);
SHW_SAME(cudnnDestroy, Cudnn, destroy);
SHW_SAME(cudnnSetStream, Cudnn, set_stream);
SHW_SAME(cudnnCreateTensorDescriptor, Cudnn, create_tensor);
SHW_SAME(cudnnDestroyTensorDescriptor, Cudnn, destroy_tensor);
SHW_SAME(cudnnSetTensorNdDescriptor, Cudnn, set_tensor);
SHW_SAME(cudnnCreateFilterDescriptor, Cudnn, create_filter);
SHW_SAME(cudnnDestroyFilterDescriptor, Cudnn, destroy_filter);
SHW_SAME(cudnnSetFilterNdDescriptor, Cudnn, set_filter);
SHW_SAME(cudnnCreateConvolutionDescriptor, Cudnn, create_convolution);
SHW_SAME(cudnnDestroyConvolutionDescriptor, Cudnn, destroy_convolution);
SHW_SAME(cudnnSetConvolutionNdDescriptor, Cudnn, set_convolution);
SHW_SAME(cudnnSetConvolutionGroupCount, Cudnn, set_groups);
SHW_SAME(cudnnSetConvolutionMathType, Cudnn, set_math);
SHW_SAME(cudnnCreateActivationDescriptor, Cudnn, create_activation);
SHW_SAME(cudnnDestroyActivationDescriptor, Cudnn, destroy_activation);
SHW_SAME(cudnnSetActivationDescriptor, Cudnn, set_activation);
SHW_SAME(cudnnGetConvolutionForwardAlgorithm_v7, Cudnn, propose_result);
SHW_SAME(cudnnGetConvolutionBackwardDataAlgorithm_v7, Cudnn, propose_input);
SHW_SAME(cudnnGetConvolutionBackwardFilterAlgorithm_v7, Cudnn, propose_weight);
SHW_SAME(cudnnConvolutionForward, Cudnn, to_result);
SHW_SAME(cudnnConvolutionBiasActivationForward, Cudnn, to_biased_result);
SHW_SAME(cudnnConvolutionBackwardData, Cudnn, to_input);
SHW_SAME(cudnnConvolutionBackwardFilter, Cudnn, to_weight);
SHW_SAME(cudnnBackendCreateDescriptor, Cudnn, create_node);
SHW_SAME(cudnnBackendDestroyDescriptor, Cudnn, destroy_node);
SHW_SAME(cudnnBackendFinalize, Cudnn, finish_node);
SHW_SAME(cudnnBackendSetAttribute, Cudnn, set);
SHW_SAME(cudnnBackendGetAttribute, Cudnn, get);
SHW_SAME(cudnnBackendExecute, Cudnn, execute);

template <class Theirs>
constexpr bool is_proposal() {
  return sizeof(CudnnProposal) == sizeof(Theirs) &&
         offsetof(CudnnProposal, algorithm) == offsetof(Theirs, algo) &&
         offsetof(CudnnProposal, status) == offsetof(Theirs, status) &&
         offsetof(CudnnProposal, workspace_bytes) == offsetof(Theirs, memory) &&
         offsetof(CudnnProposal, determinism) == offsetof(Theirs, determinism) &&
         offsetof(CudnnProposal, math) == offsetof(Theirs, mathType);
}
static_assert(is_proposal<cudnnConvolutionFwdAlgoPerf_t>() &&
              is_proposal<cudnnConvolutionBwdDataAlgoPerf_t>() &&
              is_proposal<cudnnConvolutionBwdFilterAlgoPerf_t>());
static_assert(int{kCudnnF32} == CUDNN_DATA_FLOAT && int{kCudnnF16} == CUDNN_DATA_HALF &&
              int{kCudnnBF16} == CUDNN_DATA_BFLOAT16 && int{kCudnnI32} == CUDNN_DATA_INT32 &&
              int{kCudnnBool} == CUDNN_DATA_BOOLEAN && int{kCudnnRowMajor} == CUDNN_TENSOR_NCHW &&
              int{kCudnnCrossCorrelation} == CUDNN_CROSS_CORRELATION &&
              int{kCudnnTensorCores} == CUDNN_TENSOR_OP_MATH &&
              int{kCudnnMultiplyAdd} == CUDNN_FMA_MATH &&
              int{kCudnnDeterministic} == CUDNN_DETERMINISTIC &&
              int{kCudnnIdentity} == CUDNN_ACTIVATION_IDENTITY &&
              int{kCudnnPropagateNan} == CUDNN_PROPAGATE_NAN);
// The algorithms that add products in a fixed order (convolution_cudnn.cc).
static_assert(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM == 0 &&
              CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM == 1 &&
              CUDNN_CONVOLUTION_FWD_ALGO_GEMM == 2 && CUDNN_CONVOLUTION_FWD_ALGO_DIRECT == 3 &&
              CUDNN_CONVOLUTION_FWD_ALGO_FFT == 4 && CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 == 0 &&
              CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 == 1 && CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT == 2 &&
              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 == 0 &&
              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 == 1 &&
              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT == 2);

// Graphs (cudnn_graph.h).
static_assert(int{kCudnnPointwise} == CUDNN_BACKEND_POINTWISE_DESCRIPTOR &&
              int{kCudnnEngineConfig} == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR &&
              int{kCudnnHeuristic} == CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR &&
              int{kCudnnPlan} == CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR &&
              int{kCudnnDoPointwise} == CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR &&
              int{kCudnnOperations} == CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR &&
              int{kCudnnPack} == CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR &&
              int{kCudnnTensor} == CUDNN_BACKEND_TENSOR_DESCRIPTOR &&
              int{kCudnnMatmul} == CUDNN_BACKEND_MATMUL_DESCRIPTOR &&
              int{kCudnnDoMatmul} == CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR &&
              int{kCudnnReduction} == CUDNN_BACKEND_REDUCTION_DESCRIPTOR &&
              int{kCudnnDoReduction} == CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR &&
              int{kCudnnDoReshape} == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR &&
              int{kPointwiseMode} == CUDNN_ATTR_POINTWISE_MODE &&
              int{kPointwiseCompute} == CUDNN_ATTR_POINTWISE_MATH_PREC &&
              int{kPointwiseAxis} == CUDNN_ATTR_POINTWISE_AXIS &&
              int{kHeuristicMode} == CUDNN_ATTR_ENGINEHEUR_MODE &&
              int{kHeuristicOperations} == CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH &&
              int{kHeuristicResults} == CUDNN_ATTR_ENGINEHEUR_RESULTS &&
              int{kPlanHandle} == CUDNN_ATTR_EXECUTION_PLAN_HANDLE &&
              int{kPlanConfig} == CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG &&
              int{kPlanWorkspace} == CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE &&
              int{kDoPointwiseWhat} == CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR &&
              int{kDoPointwiseX} == CUDNN_ATTR_OPERATION_POINTWISE_XDESC &&
              int{kDoPointwiseB} == CUDNN_ATTR_OPERATION_POINTWISE_BDESC &&
              int{kDoPointwiseY} == CUDNN_ATTR_OPERATION_POINTWISE_YDESC &&
              int{kDoPointwiseT} == CUDNN_ATTR_OPERATION_POINTWISE_TDESC &&
              int{kOperationsHandle} == CUDNN_ATTR_OPERATIONGRAPH_HANDLE &&
              int{kOperationsAll} == CUDNN_ATTR_OPERATIONGRAPH_OPS &&
              int{kTensorAlignment} == CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT &&
              int{kTensorType} == CUDNN_ATTR_TENSOR_DATA_TYPE &&
              int{kTensorSizes} == CUDNN_ATTR_TENSOR_DIMENSIONS &&
              int{kTensorStrides} == CUDNN_ATTR_TENSOR_STRIDES &&
              int{kTensorId} == CUDNN_ATTR_TENSOR_UNIQUE_ID &&
              int{kTensorIsVirtual} == CUDNN_ATTR_TENSOR_IS_VIRTUAL &&
              int{kTensorIsByValue} == CUDNN_ATTR_TENSOR_IS_BY_VALUE &&
              int{kPackIds} == CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS &&
              int{kPackPointers} == CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS &&
              int{kPackWorkspace} == CUDNN_ATTR_VARIANT_PACK_WORKSPACE &&
              int{kMatmulCompute} == CUDNN_ATTR_MATMUL_COMP_TYPE &&
              int{kDoMatmulA} == CUDNN_ATTR_OPERATION_MATMUL_ADESC &&
              int{kDoMatmulB} == CUDNN_ATTR_OPERATION_MATMUL_BDESC &&
              int{kDoMatmulC} == CUDNN_ATTR_OPERATION_MATMUL_CDESC &&
              int{kDoMatmulWhat} == CUDNN_ATTR_OPERATION_MATMUL_DESC &&
              int{kReductionMode} == CUDNN_ATTR_REDUCTION_OPERATOR &&
              int{kReductionCompute} == CUDNN_ATTR_REDUCTION_COMP_TYPE &&
              int{kDoReductionX} == CUDNN_ATTR_OPERATION_REDUCTION_XDESC &&
              int{kDoReductionY} == CUDNN_ATTR_OPERATION_REDUCTION_YDESC &&
              int{kDoReductionWhat} == CUDNN_ATTR_OPERATION_REDUCTION_DESC &&
              int{kDoReshapeX} == CUDNN_ATTR_OPERATION_RESHAPE_XDESC &&
              int{kDoReshapeY} == CUDNN_ATTR_OPERATION_RESHAPE_YDESC &&
              int{kCudnnHandles} == CUDNN_TYPE_HANDLE && int{kCudnnTypes} == CUDNN_TYPE_DATA_TYPE &&
              int{kCudnnBools} == CUDNN_TYPE_BOOLEAN && int{kCudnnInts} == CUDNN_TYPE_INT64 &&
              int{kCudnnPointers} == CUDNN_TYPE_VOID_PTR &&
              int{kCudnnHeuristicModes} == CUDNN_TYPE_HEUR_MODE &&
              int{kCudnnPointwiseModes} == CUDNN_TYPE_POINTWISE_MODE &&
              int{kCudnnNodes} == CUDNN_TYPE_BACKEND_DESCRIPTOR &&
              int{kCudnnReductionModes} == CUDNN_TYPE_REDUCTION_OPERATOR_TYPE &&
              int{kCudnnAdd} == CUDNN_POINTWISE_ADD && int{kCudnnMul} == CUDNN_POINTWISE_MUL &&
              int{kCudnnDiv} == CUDNN_POINTWISE_DIV && int{kCudnnSub} == CUDNN_POINTWISE_SUB &&
              int{kCudnnExp} == CUDNN_POINTWISE_EXP && int{kCudnnLog} == CUDNN_POINTWISE_LOG &&
              int{kCudnnCopy} == CUDNN_POINTWISE_IDENTITY &&
              int{kCudnnGreaterOrEqual} == CUDNN_POINTWISE_CMP_GE &&
              int{kCudnnIndex} == CUDNN_POINTWISE_GEN_INDEX &&
              int{kCudnnSelect} == CUDNN_POINTWISE_BINARY_SELECT &&
              int{kCudnnSum} == CUDNN_REDUCE_TENSOR_ADD &&
              int{kCudnnMax} == CUDNN_REDUCE_TENSOR_MAX && int{kCudnnByModel} == CUDNN_HEUR_MODE_A);

}  // namespace
}  // namespace shw::runtime::cuda
#else
TEST(CudnnHeadersTest, OurDeclarationsAreTheirs) {
  GTEST_SKIP() << "not run: cuDNN's headers are not installed";
}
#endif
