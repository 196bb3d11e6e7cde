#include "fakes/kernels.h"

#include <tuple>
#include <type_traits>
#include <utility>

#include "fakes/shim.h"
#include "runtime/cuda/plugin/kernels/attention.cuh"
#include "runtime/cuda/plugin/kernels/contraction.cuh"
#include "runtime/cuda/plugin/kernels/convolution.cuh"
#include "runtime/cuda/plugin/kernels/documents.cuh"
#include "runtime/cuda/plugin/kernels/draw.cuh"
#include "runtime/cuda/plugin/kernels/embedding.cuh"
#include "runtime/cuda/plugin/kernels/extreme.cuh"
#include "runtime/cuda/plugin/kernels/flash.cuh"
#include "runtime/cuda/plugin/kernels/gathered.cuh"
#include "runtime/cuda/plugin/kernels/grouped.cuh"
#include "runtime/cuda/plugin/kernels/indexing.cuh"
#include "runtime/cuda/plugin/kernels/lines.cuh"
#include "runtime/cuda/plugin/kernels/loss.cuh"
#include "runtime/cuda/plugin/kernels/names.h"
#include "runtime/cuda/plugin/kernels/norm.cuh"
#include "runtime/cuda/plugin/kernels/numbering.cuh"
#include "runtime/cuda/plugin/kernels/pairs.cuh"
#include "runtime/cuda/plugin/kernels/pointwise.cuh"
#include "runtime/cuda/plugin/kernels/progress.cuh"
#include "runtime/cuda/plugin/kernels/ranking.cuh"
#include "runtime/cuda/plugin/kernels/reduction.cuh"
#include "runtime/cuda/plugin/kernels/sort.cuh"
#include "runtime/cuda/plugin/kernels/tiled_attention.cuh"

namespace shw::fakes {
namespace {

template <class P>
Status translate(const Translate& at, P& parameter) {
  if constexpr (std::is_pointer_v<P>) {
    if (parameter == nullptr) return {};
    SHW_ASSIGN_OR_RETURN(void* found, at(parameter));
    parameter = static_cast<P>(found);
  }
  return {};
}

// Reads the parameters of a launch. Their types come from the type of the kernel function.
template <auto kernel>
struct Binder;
template <class... P, void (*kernel)(P...)>
struct Binder<kernel> {
  static std::function<Result<BoundKernel>(const Translate&)> bind(void** parameters) {
    return [given = read(parameters, std::index_sequence_for<P...>())](
               const Translate& at) -> Result<BoundKernel> {
      std::tuple<P...> values = given;
      Status status;
      std::apply(
          [&](auto&... value) {
            ((status.ok() ? (void)(status = translate(at, value)) : (void)0), ...);
          },
          values);
      if (!status.ok()) return status;
      return BoundKernel([values] { std::apply(kernel, values); });
    };
  }

 private:
  template <size_t... I>
  static std::tuple<P...> read(void** parameters, std::index_sequence<I...>) {
    return {*static_cast<P*>(parameters[I])...};
  }
};

const FakeKernel kKernels[] = {
#define X(program, name) {#program, #name, Binder<name>::bind},
    SHW_CUDA_KERNELS(X)
#undef X
};

}  // namespace

const FakeKernel* find_kernel(std::string_view name) {
  for (const FakeKernel& kernel : kKernels)
    if (kernel.name == name) return &kernel;
  return nullptr;
}

}  // namespace shw::fakes
