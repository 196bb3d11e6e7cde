// A fake libcudnn. It computes convolutions and their gradients with plain loops when the stream
// reaches them. It refuses what cuDNN refuses, and what cuDNN would read out of bounds: sizes that
// do not match, algorithms that were not proposed, a workspace that is too small, misaligned
// addresses. Its first proposals are algorithms that the caller must not use: one whose sums have
// no fixed order, one with too large a workspace, and a transform.
#include <algorithm>
#include <cstring>
#include <functional>
#include <vector>

#include "fakes/cudnn_handle.h"
#include "fakes/driver.h"
#include "fakes/element.h"
#include "fakes/inject.h"
#include "runtime/cuda/plugin/cudnn.h"

using namespace shw::fakes;
using namespace shw::runtime::cuda;
using shw::Dtype;
using shw::Status;

namespace {

constexpr CudnnError kBadParameter = 2000, kNotSupported = 3000;
constexpr size_t kWorkspace = 512, kTooMuch = size_t{1} << 40;
constexpr uintptr_t kAlignment = 16;
constexpr int kNotDeterministic = 0, kWinograd = 6, kImplicitPrecomputed = 1;

struct Tensor : Counted {
  CudnnType type = kCudnnF32;
  std::vector<int64_t> sizes, strides;
};
struct Activation : Counted {
  bool is_identity = false;
};
struct Window : Counted {
  std::vector<int64_t> padding, stride, dilation;
  int64_t groups = 1;
  CudnnType compute = kCudnnF32;
  CudnnMath math = kCudnnMultiplyAdd;
};

Dtype dtype_of(CudnnType type) {
  return type == kCudnnF16 ? Dtype::kF16 : type == kCudnnBF16 ? Dtype::kBF16 : Dtype::kF32;
}

const Tensor& tensor(const void* made) { return *static_cast<const Tensor*>(made); }
const Window& window(const void* made) { return *static_cast<const Window*>(made); }

// The sizes and strides of a descriptor without the base class that counts it. A command on a
// stream outlives its descriptors.
struct Place {
  Dtype dtype;
  std::vector<int64_t> sizes, strides;
  explicit Place(const Tensor& t) : dtype(dtype_of(t.type)), sizes(t.sizes), strides(t.strides) {}
  int64_t at(int64_t sample, int64_t channel, const std::vector<int64_t>& where) const {
    int64_t place = sample * strides[0] + channel * strides[1];
    for (size_t d = 0; d < where.size(); ++d) place += where[d] * strides[d + 2];
    return place;
  }
};

// Calls f with each index below the spatial sizes, which are `sizes` from the third on.
void for_each_place(const std::vector<int64_t>& sizes,
                    const std::function<void(const std::vector<int64_t>&)>& f) {
  std::vector<int64_t> at(sizes.size() - 2, 0);
  while (true) {
    f(at);
    size_t d = at.size();
    while (d > 0 && ++at[d - 1] == sizes[d + 1]) at[--d] = 0;
    if (d == 0) return;
  }
}

struct Problem {
  Place x, w, y;
  std::vector<int64_t> padding, stride, dilation;
  int64_t groups;

  Problem(const void* input, const void* weight, const void* result, const void* of)
      : x(tensor(input)),
        w(tensor(weight)),
        y(tensor(result)),
        padding(window(of).padding),
        stride(window(of).stride),
        dilation(window(of).dilation),
        groups(window(of).groups) {}

  bool fits() const {
    const size_t rank = x.sizes.size();
    if (rank < 4 || w.sizes.size() != rank || y.sizes.size() != rank ||
        padding.size() + 2 != rank || x.sizes[0] != y.sizes[0] || w.sizes[0] != y.sizes[1] ||
        x.sizes[1] != w.sizes[1] * groups || w.sizes[0] % groups != 0 || x.dtype != y.dtype ||
        x.dtype != w.dtype)
      return false;
    for (size_t d = 0; d < padding.size(); ++d) {
      const int64_t reach = (w.sizes[d + 2] - 1) * dilation[d] + 1;
      if ((x.sizes[d + 2] + 2 * padding[d] - reach) / stride[d] + 1 != y.sizes[d + 2]) return false;
    }
    return true;
  }

  // Calls f for each product, with the indices of its elements in x, w and y.
  void for_each_product(const std::function<void(int64_t, int64_t, int64_t)>& f) const {
    const int64_t outputs = w.sizes[0] / groups, inputs = w.sizes[1];
    std::vector<int64_t> from(padding.size());
    for (int64_t n = 0; n < y.sizes[0]; ++n)
      for (int64_t o = 0; o < y.sizes[1]; ++o)
        for_each_place(y.sizes, [&](const auto& to) {
          for_each_place(w.sizes, [&](const auto& in_kernel) {
            for (size_t d = 0; d < to.size(); ++d) {
              from[d] = to[d] * stride[d] - padding[d] + in_kernel[d] * dilation[d];
              if (from[d] < 0 || from[d] >= x.sizes[d + 2]) return;
            }
            for (int64_t c = 0; c < inputs; ++c)
              f(x.at(n, o / outputs * inputs + c, from), w.at(o, c, in_kernel), y.at(n, o, to));
          });
        });
  }
  // The number of elements that a buffer needs, gaps included.
  static int64_t extent(const Place& p) {
    int64_t last = 0;
    for (size_t d = 0; d < p.sizes.size(); ++d) last += (p.sizes[d] - 1) * p.strides[d];
    return last + 1;
  }
};

// Computes each element of one operand as the sum of the products of the other two, plus a bias.
struct Sums {
  Problem problem;
  const void *x, *w, *y, *bias;
  enum { kX, kW, kY } to;

  Status run(FakeDevice& device, void* workspace) const {
    const auto& memory = device.context.memory;
    SHW_ASSIGN_OR_RETURN(void* px, memory.for_kernels(x));
    SHW_ASSIGN_OR_RETURN(void* pw, memory.for_kernels(w));
    SHW_ASSIGN_OR_RETURN(void* py, memory.for_kernels(y));
    SHW_ASSIGN_OR_RETURN(void* scratch, memory.for_kernels(workspace));
    std::memset(scratch, 0xa5, kWorkspace);
    const Place& place = to == kX ? problem.x : to == kW ? problem.w : problem.y;
    void* const result = to == kX ? px : to == kW ? pw : py;
    std::vector<double> sums(static_cast<size_t>(Problem::extent(place)));
    const auto value = [](const void* base, int64_t i, const Place& of) {
      return element(base, i, of.dtype).real();
    };
    problem.for_each_product([&](int64_t i, int64_t j, int64_t k) {
      const double a = to == kX ? 0 : value(px, i, problem.x);
      const double b = to == kW ? 0 : value(pw, j, problem.w);
      const double c = to == kY ? 0 : value(py, k, problem.y);
      sums[static_cast<size_t>(to == kX   ? i
                               : to == kW ? j
                                          : k)] += to == kX   ? b * c
                                                   : to == kW ? a * c
                                                              : a * b;
    });
    const void* added = nullptr;
    if (bias != nullptr) {
      SHW_ASSIGN_OR_RETURN(added, memory.for_kernels(bias));
    }
    for (int64_t n = 0; n < place.sizes[0]; ++n)
      for (int64_t c = 0; c < place.sizes[1]; ++c)
        for_each_place(place.sizes, [&](const auto& where) {
          const int64_t at = place.at(n, c, where);
          const double more = added == nullptr ? 0 : element(added, c, place.dtype).real();
          set_element(result, at, place.dtype, sums[static_cast<size_t>(at)] + more);
        });
    return {};
  }
};

CudnnError enqueue(CudnnHandle handle, const char* function, const void* alpha, const void* beta,
                   int algorithm, void* workspace, size_t bytes, const Sums& sums) {
  if (const int code = injected(function); code != 0) return code;
  const auto number = [](const void* p) { return *static_cast<const float*>(p); };
  if (handle->stream == nullptr || number(alpha) != 1 || number(beta) != 0 ||
      !sums.problem.fits() || algorithm != kImplicitPrecomputed || bytes < kWorkspace)
    return kBadParameter;
  for (const void* p : {sums.x, sums.w, sums.y, sums.bias})
    if (reinterpret_cast<uintptr_t>(p) % kAlignment != 0) return kNotSupported;
  handle->stream->queue->push({[=, device = handle->stream->device](const auto&) {
    if (Status s = sums.run(*device, workspace); !s.ok()) device->context.lose(std::move(s));
  }});
  return 0;
}

CudnnError propose(const char* function, const Problem& problem, const void* of, int wanted,
                   int* count, CudnnProposal* proposals) {
  if (const int code = injected(function); code != 0) return code;
  *count = 0;
  if (!problem.fits()) return kBadParameter;
  const CudnnMath math = window(of).math;
  // With other math types, tensor cores would round f32 to TF32.
  if (problem.x.dtype == Dtype::kF32 && math != kCudnnMultiplyAdd) return kNotSupported;
  const CudnnProposal all[] = {
      {0, 0, 1, 0, static_cast<CudnnDeterminism>(kNotDeterministic), math, {}},
      {kImplicitPrecomputed, 0, 1, kTooMuch, kCudnnDeterministic, math, {}},
      {kWinograd, 0, 2, kWorkspace, kCudnnDeterministic, math, {}},
      {kImplicitPrecomputed, kNotSupported, 2, 0, kCudnnDeterministic, math, {}},
      {kImplicitPrecomputed, 0, 3, kWorkspace, kCudnnDeterministic, math, {}}};
  for (const CudnnProposal& p : all)
    if (*count < wanted) proposals[(*count)++] = p;
  return 0;
}

template <class T>
CudnnError make(const char* function, void** made) {
  if (const int code = injected(function); code != 0) return code;
  *made = new T;
  return 0;
}

std::vector<int64_t> numbers(const int* from, int count) { return {from, from + count}; }

}  // namespace

SHW_FAKE_API size_t cudnnGetVersion() {
  const int other = injected("cudnnGetVersion");
  return other != 0 ? static_cast<size_t>(other) : 91900;
}
#define FAKE SHW_FAKE_API CudnnError
FAKE cudnnCreate(CudnnHandle* handle) {
  if (const int code = injected("cudnnCreate"); code != 0) return code;
  *handle = new cudnnContext;
  return 0;
}
FAKE cudnnDestroy(CudnnHandle handle) {
  delete handle;
  return 0;
}
FAKE cudnnSetStream(CudnnHandle handle, StreamHandle stream) {
  handle->stream = stream;
  return injected("cudnnSetStream");
}
FAKE cudnnCreateTensorDescriptor(CudnnTensor* made) {
  return make<Tensor>("cudnnCreateTensorDescriptor", made);
}
FAKE cudnnDestroyTensorDescriptor(CudnnTensor made) {
  delete static_cast<Tensor*>(made);
  return 0;
}
FAKE cudnnSetTensorNdDescriptor(CudnnTensor made, CudnnType type, int rank, const int* sizes,
                                const int* strides) {
  if (const int code = injected("cudnnSetTensorNdDescriptor"); code != 0) return code;
  auto& t = *static_cast<Tensor*>(made);
  t.type = type;
  t.sizes = numbers(sizes, rank);
  t.strides = numbers(strides, rank);
  for (int d = 0; d < rank; ++d)
    if (sizes[d] < 1 || strides[d] < 1) return kBadParameter;
  return rank < 4 ? kBadParameter : 0;
}
FAKE cudnnCreateFilterDescriptor(CudnnFilter* made) {
  return make<Tensor>("cudnnCreateFilterDescriptor", made);
}
FAKE cudnnDestroyFilterDescriptor(CudnnFilter made) {
  delete static_cast<Tensor*>(made);
  return 0;
}
FAKE cudnnSetFilterNdDescriptor(CudnnFilter made, CudnnType type, CudnnFormat format, int rank,
                                const int* sizes) {
  if (const int code = injected("cudnnSetFilterNdDescriptor"); code != 0) return code;
  if (format != kCudnnRowMajor || rank < 4) return kBadParameter;
  auto& t = *static_cast<Tensor*>(made);
  t.type = type;
  t.sizes = numbers(sizes, rank);
  t.strides.assign(t.sizes.size(), 1);
  for (size_t d = t.sizes.size() - 1; d > 0; --d) t.strides[d - 1] = t.strides[d] * t.sizes[d];
  return 0;
}
FAKE cudnnCreateConvolutionDescriptor(CudnnConvolution* made) {
  return make<Window>("cudnnCreateConvolutionDescriptor", made);
}
FAKE cudnnDestroyConvolutionDescriptor(CudnnConvolution made) {
  delete static_cast<Window*>(made);
  return 0;
}
FAKE cudnnSetConvolutionNdDescriptor(CudnnConvolution made, int dims, const int* padding,
                                     const int* stride, const int* dilation, CudnnMode mode,
                                     CudnnType compute) {
  if (const int code = injected("cudnnSetConvolutionNdDescriptor"); code != 0) return code;
  if (mode != kCudnnCrossCorrelation || compute != kCudnnF32) return kNotSupported;
  auto& w = *static_cast<Window*>(made);
  w.padding = numbers(padding, dims);
  w.stride = numbers(stride, dims);
  w.dilation = numbers(dilation, dims);
  return 0;
}
FAKE cudnnSetConvolutionGroupCount(CudnnConvolution made, int groups) {
  static_cast<Window*>(made)->groups = groups;
  return injected("cudnnSetConvolutionGroupCount");
}
FAKE cudnnSetConvolutionMathType(CudnnConvolution made, CudnnMath math) {
  static_cast<Window*>(made)->math = math;
  return injected("cudnnSetConvolutionMathType");
}
FAKE cudnnCreateActivationDescriptor(CudnnActivation* made) {
  return make<Activation>("cudnnCreateActivationDescriptor", made);
}
FAKE cudnnDestroyActivationDescriptor(CudnnActivation made) {
  delete static_cast<Activation*>(made);
  return 0;
}
FAKE cudnnSetActivationDescriptor(CudnnActivation made, CudnnIdentity mode, CudnnNan, double) {
  static_cast<Activation*>(made)->is_identity = mode == kCudnnIdentity;
  return injected("cudnnSetActivationDescriptor");
}
FAKE cudnnGetConvolutionForwardAlgorithm_v7(CudnnHandle, CudnnTensor x, CudnnFilter w,
                                            CudnnConvolution of, CudnnTensor y, int wanted,
                                            int* count, CudnnProposal* proposals) {
  return propose("cudnnGetConvolutionForwardAlgorithm_v7", Problem(x, w, y, of), of, wanted, count,
                 proposals);
}
FAKE cudnnGetConvolutionBackwardDataAlgorithm_v7(CudnnHandle, CudnnFilter w, CudnnTensor y,
                                                 CudnnConvolution of, CudnnTensor x, int wanted,
                                                 int* count, CudnnProposal* proposals) {
  return propose("cudnnGetConvolutionBackwardDataAlgorithm_v7", Problem(x, w, y, of), of, wanted,
                 count, proposals);
}
FAKE cudnnGetConvolutionBackwardFilterAlgorithm_v7(CudnnHandle, CudnnTensor x, CudnnTensor y,
                                                   CudnnConvolution of, CudnnFilter w, int wanted,
                                                   int* count, CudnnProposal* proposals) {
  return propose("cudnnGetConvolutionBackwardFilterAlgorithm_v7", Problem(x, w, y, of), of, wanted,
                 count, proposals);
}
FAKE cudnnConvolutionForward(CudnnHandle handle, const void* alpha, CudnnTensor x, const void* px,
                             CudnnFilter w, const void* pw, CudnnConvolution of, int algorithm,
                             void* workspace, size_t bytes, const void* beta, CudnnTensor y,
                             void* py) {
  return enqueue(handle, "cudnnConvolutionForward", alpha, beta, algorithm, workspace, bytes,
                 {Problem(x, w, y, of), px, pw, py, nullptr, Sums::kY});
}
FAKE cudnnConvolutionBiasActivationForward(CudnnHandle handle, const void* alpha, CudnnTensor x,
                                           const void* px, CudnnFilter w, const void* pw,
                                           CudnnConvolution of, int algorithm, void* workspace,
                                           size_t bytes, const void* beta, CudnnTensor z,
                                           const void* pz, CudnnTensor bias, const void* pb,
                                           CudnnActivation activation, CudnnTensor y, void* py) {
  if (z != y || pz != py || !static_cast<Activation*>(activation)->is_identity ||
      tensor(bias).sizes.size() != tensor(y).sizes.size() ||
      tensor(bias).sizes[1] != tensor(y).sizes[1])
    return kBadParameter;
  return enqueue(handle, "cudnnConvolutionBiasActivationForward", alpha, beta, algorithm, workspace,
                 bytes, {Problem(x, w, y, of), px, pw, py, pb, Sums::kY});
}
FAKE cudnnConvolutionBackwardData(CudnnHandle handle, const void* alpha, CudnnFilter w,
                                  const void* pw, CudnnTensor y, const void* py,
                                  CudnnConvolution of, int algorithm, void* workspace, size_t bytes,
                                  const void* beta, CudnnTensor x, void* px) {
  return enqueue(handle, "cudnnConvolutionBackwardData", alpha, beta, algorithm, workspace, bytes,
                 {Problem(x, w, y, of), px, pw, py, nullptr, Sums::kX});
}
FAKE cudnnConvolutionBackwardFilter(CudnnHandle handle, const void* alpha, CudnnTensor x,
                                    const void* px, CudnnTensor y, const void* py,
                                    CudnnConvolution of, int algorithm, void* workspace,
                                    size_t bytes, const void* beta, CudnnFilter w, void* pw) {
  return enqueue(handle, "cudnnConvolutionBackwardFilter", alpha, beta, algorithm, workspace, bytes,
                 {Problem(x, w, y, of), px, pw, py, nullptr, Sums::kW});
}
