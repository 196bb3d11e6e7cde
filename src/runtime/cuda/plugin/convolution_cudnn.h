// A convolution, or one of its gradients, by cuDNN.
#pragma once
#include <memory>

#include "runtime/convolution_shape.h"
#include "runtime/cuda/plugin/cudnn.h"
#include "runtime/cuda/plugin/stream.h"

namespace shw::runtime::cuda {

// Which operand of a convolution is computed.
enum class ConvolutionTo { kResult, kInput, kWeight };

struct ConvolutionTypes {
  const TensorType &input, &weight, &result;
  const TensorType* bias = nullptr;  // added to the result
};
// Addresses of element 0. The operand that is computed is written.
struct ConvolutionBuffers {
  void *input, *weight, *result;
  const void* bias = nullptr;
};

class ConvolutionByCudnn {
 public:
  // Null: cuDNN is missing, or has no algorithm that meets this library's requirements. They are:
  // f32, f16 or bf16 in all operands, a dense weight, sums in f32 with the same order in each run,
  // and no transforms with larger rounding errors.
  static std::unique_ptr<ConvolutionByCudnn> create(const Context& context, ConvolutionTo to,
                                                    const ConvolutionShape& shape,
                                                    const ConvolutionTypes& types);
  ~ConvolutionByCudnn();
  ConvolutionByCudnn(const ConvolutionByCudnn&) = delete;
  ConvolutionByCudnn& operator=(const ConvolutionByCudnn&) = delete;

  int64_t workspace_bytes() const { return workspace_bytes_; }
  // Whether it supports operands at these addresses.
  static bool takes(const ConvolutionBuffers& at);
  Status run(CudaStream& stream, const ConvolutionBuffers& at, void* workspace) const;

 private:
  ConvolutionByCudnn(const Context& context, SharedCudnn& cudnn, ConvolutionTo to)
      : context_(context), cudnn_(cudnn), to_(to) {}
  Status describe(const ConvolutionShape& shape, const ConvolutionTypes& types);
  Status describe_bias(const TensorType& bias, int dims);
  Status describe_tensor(CudnnTensor& made, const TensorType& type) const;
  bool choose();

  const Context& context_;
  SharedCudnn& cudnn_;
  const ConvolutionTo to_;
  CudnnTensor input_ = nullptr, result_ = nullptr, bias_ = nullptr;
  CudnnFilter weight_ = nullptr;
  CudnnConvolution convolution_ = nullptr;
  CudnnActivation identity_ = nullptr;
  int algorithm_ = 0;
  int64_t workspace_bytes_ = 0;
};

}  // namespace shw::runtime::cuda
