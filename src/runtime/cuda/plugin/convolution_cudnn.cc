#include "runtime/cuda/plugin/convolution_cudnn.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace shw::runtime::cuda {
namespace {

constexpr size_t kMostConvolutionBytes = 64u << 20;  // maximum workspace of an algorithm
constexpr uintptr_t kAlignment = 16;                 // required of operands, for vector loads
constexpr int kMostProposals = 8;
constexpr int kFewestSpatialDims = 2;  // cuDNN's minimum
constexpr float kTimesOne = 1, kAddNothing = 0;

// The cuDNN algorithms that add up products directly. Those of Fourier and Winograd are excluded,
// because they have larger rounding errors.
enum ToResult : int { kImplicit = 0, kImplicitPrecomputed = 1, kExplicit = 2, kDirect = 3 };
enum ToOperand : int { kAtomic = 0, kInOrder = 1 };

bool adds_products(ConvolutionTo to, int algorithm) {
  return to == ConvolutionTo::kResult ? algorithm <= kDirect : algorithm <= kInOrder;
}

CudnnType cudnn_type(Dtype dtype) {
  return dtype == Dtype::kF16 ? kCudnnF16 : dtype == Dtype::kBF16 ? kCudnnBF16 : kCudnnF32;
}

bool fits_int(const TensorType& type) {
  const auto fits = [](int64_t n) { return n > 0 && n <= std::numeric_limits<int>::max(); };
  for (int d = 0; d < type.rank(); ++d)
    if (!fits(type.shape[static_cast<size_t>(d)]) || !fits(type.strides[static_cast<size_t>(d)]))
      return false;
  return type.rank() >= 3;
}

bool is_for_cudnn(const ConvolutionTypes& t) {
  const Dtype dtype = t.result.dtype;
  if (dtype != Dtype::kF32 && dtype != Dtype::kF16 && dtype != Dtype::kBF16) return false;
  for (const TensorType* operand : {&t.input, &t.weight, &t.result})
    if (operand->dtype != dtype || !fits_int(*operand)) return false;
  if (t.weight.strides != row_major(t.weight.dtype, Dims(t.weight.shape)).strides) return false;
  return t.bias == nullptr || (t.bias->dtype == dtype && t.bias->strides == Dims{1});
}

// Adds dims of size 1 in front, up to the number of spatial dims that cuDNN requires.
std::vector<int> with_spatial_dims(const Dims& dims, int filler) {
  std::vector<int> all(dims.begin(), dims.end());
  while (static_cast<int>(all.size()) < 2 + kFewestSpatialDims) all.insert(all.begin() + 2, filler);
  return all;
}

}  // namespace

std::unique_ptr<ConvolutionByCudnn> ConvolutionByCudnn::create(const Context& context,
                                                               ConvolutionTo to,
                                                               const ConvolutionShape& shape,
                                                               const ConvolutionTypes& types) {
  if (!is_for_cudnn(types)) return nullptr;
  SharedCudnn* const cudnn = context.cudnn();
  if (cudnn == nullptr) return nullptr;
  const Current current(context);
  std::unique_ptr<ConvolutionByCudnn> made(new ConvolutionByCudnn(context, *cudnn, to));
  // If cuDNN refuses the convolution, the plain kernels compute it.
  if (!made->describe(shape, types).ok() || !made->choose()) return nullptr;
  return made;
}

ConvolutionByCudnn::~ConvolutionByCudnn() {
  const Cudnn& api = cudnn_.api();
  for (CudnnTensor t : {input_, result_, bias_})
    if (t != nullptr) (void)api.destroy_tensor(t);
  if (weight_ != nullptr) (void)api.destroy_filter(weight_);
  if (convolution_ != nullptr) (void)api.destroy_convolution(convolution_);
  if (identity_ != nullptr) (void)api.destroy_activation(identity_);
}

Status ConvolutionByCudnn::describe_tensor(CudnnTensor& made, const TensorType& type) const {
  const Cudnn& api = cudnn_.api();
  const std::vector<int> sizes = with_spatial_dims(type.shape, 1);
  // The stride of a dim of size 1 can be any number not less than the extent of the inner dims.
  const auto within = static_cast<int>(type.strides[2] * type.shape[2]);
  const std::vector<int> strides = with_spatial_dims(type.strides, within);
  SHW_RETURN_IF_ERROR(api.check(api.create_tensor(&made), "describing a tensor"));
  return api.check(api.set_tensor(made, cudnn_type(type.dtype), static_cast<int>(sizes.size()),
                                  sizes.data(), strides.data()),
                   "describing a tensor");
}

Status ConvolutionByCudnn::describe_bias(const TensorType& bias, int dims) {
  const Cudnn& api = cudnn_.api();
  std::vector<int> sizes(static_cast<size_t>(dims), 1), strides(static_cast<size_t>(dims), 1);
  sizes[1] = strides[0] = static_cast<int>(bias.shape[0]);
  SHW_RETURN_IF_ERROR(api.check(api.create_tensor(&bias_), "describing a bias"));
  SHW_RETURN_IF_ERROR(
      api.check(api.set_tensor(bias_, cudnn_type(bias.dtype), dims, sizes.data(), strides.data()),
                "describing a bias"));
  SHW_RETURN_IF_ERROR(api.check(api.create_activation(&identity_), "describing a convolution"));
  return api.check(api.set_activation(identity_, kCudnnIdentity, kCudnnPropagateNan, 0),
                   "describing a convolution");
}

Status ConvolutionByCudnn::describe(const ConvolutionShape& shape, const ConvolutionTypes& types) {
  const Cudnn& api = cudnn_.api();
  const CudnnType type = cudnn_type(types.result.dtype);
  SHW_RETURN_IF_ERROR(describe_tensor(input_, types.input));
  SHW_RETURN_IF_ERROR(describe_tensor(result_, types.result));
  const std::vector<int> sizes = with_spatial_dims(types.weight.shape, 1);
  const auto dims = static_cast<int>(sizes.size());
  SHW_RETURN_IF_ERROR(api.check(api.create_filter(&weight_), "describing a weight"));
  SHW_RETURN_IF_ERROR(api.check(api.set_filter(weight_, type, kCudnnRowMajor, dims, sizes.data()),
                                "describing a weight"));
  // Uses the last of the shape's three spatial dims.
  std::vector<int> padding, stride, dilation;
  for (size_t d = ConvolutionShape::kDims + 2 - sizes.size(); d < ConvolutionShape::kDims; ++d) {
    padding.push_back(static_cast<int>(shape.padding[d]));
    stride.push_back(static_cast<int>(shape.stride[d]));
    dilation.push_back(static_cast<int>(shape.dilation[d]));
  }
  SHW_RETURN_IF_ERROR(api.check(api.create_convolution(&convolution_), "describing a convolution"));
  SHW_RETURN_IF_ERROR(
      api.check(api.set_convolution(convolution_, dims - 2, padding.data(), stride.data(),
                                    dilation.data(), kCudnnCrossCorrelation, kCudnnF32),
                "describing a convolution"));
  SHW_RETURN_IF_ERROR(api.check(api.set_groups(convolution_, static_cast<int>(shape.groups)),
                                "describing a convolution"));
  // With tensor cores, f32 would be rounded to TF32.
  SHW_RETURN_IF_ERROR(api.check(
      api.set_math(convolution_, type == kCudnnF32 ? kCudnnMultiplyAdd : kCudnnTensorCores),
      "describing a convolution"));
  return types.bias == nullptr ? Status() : describe_bias(*types.bias, dims);
}

bool ConvolutionByCudnn::choose() {
  const Cudnn& api = cudnn_.api();
  CudnnProposal proposals[kMostProposals];
  int count = 0;
  const SharedCudnn::Handle handle(cudnn_);
  const auto ask = [&](auto function, auto... described) {
    return function(handle, described..., kMostProposals, &count, proposals);
  };
  const CudnnError error = to_ == ConvolutionTo::kResult
                               ? ask(api.propose_result, input_, weight_, convolution_, result_)
                           : to_ == ConvolutionTo::kInput
                               ? ask(api.propose_input, weight_, result_, convolution_, input_)
                               : ask(api.propose_weight, input_, result_, convolution_, weight_);
  if (error != 0) return false;
  const auto end = proposals + std::clamp(count, 0, kMostProposals);
  const auto good = std::find_if(proposals, end, [&](const CudnnProposal& p) {
    // Only this algorithm of cuDNN can add a bias without an activation.
    return p.status == 0 && p.determinism == kCudnnDeterministic &&
           p.workspace_bytes <= kMostConvolutionBytes && adds_products(to_, p.algorithm) &&
           (bias_ == nullptr || p.algorithm == kImplicitPrecomputed);
  });
  if (good == end) return false;
  algorithm_ = good->algorithm;
  workspace_bytes_ = static_cast<int64_t>(good->workspace_bytes);
  return true;
}

bool ConvolutionByCudnn::takes(const ConvolutionBuffers& at) {
  const auto is_aligned = [](const void* p) {
    return reinterpret_cast<uintptr_t>(p) % kAlignment == 0;
  };
  return is_aligned(at.input) && is_aligned(at.weight) && is_aligned(at.result) &&
         is_aligned(at.bias);
}

Status ConvolutionByCudnn::run(CudaStream& stream, const ConvolutionBuffers& at,
                               void* workspace) const {
  const Current current(context_);
  const Cudnn& api = cudnn_.api();
  const auto bytes = static_cast<size_t>(workspace_bytes_);
  const SharedCudnn::Handle handle(cudnn_);
  SHW_RETURN_IF_ERROR(
      api.check(api.set_stream(handle, static_cast<StreamHandle>(stream.native())), "a stream"));
  CudnnError error = 0;
  if (to_ == ConvolutionTo::kInput)
    error = api.to_input(handle, &kTimesOne, weight_, at.weight, result_, at.result, convolution_,
                         algorithm_, workspace, bytes, &kAddNothing, input_, at.input);
  else if (to_ == ConvolutionTo::kWeight)
    error = api.to_weight(handle, &kTimesOne, input_, at.input, result_, at.result, convolution_,
                          algorithm_, workspace, bytes, &kAddNothing, weight_, at.weight);
  else if (bias_ == nullptr)
    error = api.to_result(handle, &kTimesOne, input_, at.input, weight_, at.weight, convolution_,
                          algorithm_, workspace, bytes, &kAddNothing, result_, at.result);
  else
    error = api.to_biased_result(handle, &kTimesOne, input_, at.input, weight_, at.weight,
                                 convolution_, algorithm_, workspace, bytes, &kAddNothing, result_,
                                 at.result, bias_, at.bias, identity_, result_, at.result);
  return api.check(error, "a convolution");
}

}  // namespace shw::runtime::cuda
