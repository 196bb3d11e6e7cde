// Our declarations of cuDNN's functions against its headers, where these are installed.
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
              int{kCudnnBF16} == CUDNN_DATA_BFLOAT16 && int{kCudnnRowMajor} == CUDNN_TENSOR_NCHW &&
              int{kCudnnCrossCorrelation} == CUDNN_CROSS_CORRELATION &&
              int{kCudnnTensorCores} == CUDNN_TENSOR_OP_MATH &&
              int{kCudnnMultiplyAdd} == CUDNN_FMA_MATH &&
              int{kCudnnDeterministic} == CUDNN_DETERMINISTIC &&
              int{kCudnnIdentity} == CUDNN_ACTIVATION_IDENTITY &&
              int{kCudnnPropagateNan} == CUDNN_PROPAGATE_NAN);
// Which algorithms add up products, in a fixed order (convolution_cudnn.cc).
static_assert(CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM == 0 &&
              CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM == 1 &&
              CUDNN_CONVOLUTION_FWD_ALGO_GEMM == 2 && CUDNN_CONVOLUTION_FWD_ALGO_DIRECT == 3 &&
              CUDNN_CONVOLUTION_FWD_ALGO_FFT == 4 && CUDNN_CONVOLUTION_BWD_DATA_ALGO_0 == 0 &&
              CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 == 1 && CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT == 2 &&
              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0 == 0 &&
              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_1 == 1 &&
              CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT == 2);

}  // namespace
}  // namespace shw::runtime::cuda
#else
TEST(CudnnHeadersTest, OurDeclarationsAreTheirs) {
  GTEST_SKIP() << "not run: cuDNN's headers are not installed";
}
#endif
