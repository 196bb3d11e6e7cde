// The interface of this backend's kernels, and the table of them.
#pragma once
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "runtime/cuda/plugin/formula.h"
#include "runtime/cuda/plugin/stream.h"
#include "runtime/kernel.h"
#include "runtime/step_args.h"

namespace shw::runtime::cuda {

// A kernel for a CUDA stream. Errors while it is enqueued are raised with the step's name.
class CudaKernel : public PreparedKernel {
 public:
  void launch(Stream& stream, void* const* buffers) final {
    auto& ours = static_cast<CudaStream&>(stream);
    ours.raise(enqueue(ours, buffers), origin);
  }
  // The programs whose kernels it launches, in addition to those in its table entry.
  virtual unsigned programs() const { return 0; }
  // Empty: the step can only be computed by this kernel.
  virtual std::optional<StepFormula> formula() const { return {}; }

 protected:
  virtual Status enqueue(CudaStream& stream, void* const* buffers) = 0;
};

using Prepared = Result<std::unique_ptr<PreparedKernel>>;

// An entry of the backend's kernel table.
struct Kernel {
  std::string_view name;
  // INVALID_ARGUMENT: the types or attributes are invalid for such a step. UNIMPLEMENTED: they are
  // valid, but this backend does not support them.
  Prepared (*prepare)(const Context& context, const KernelArgs& args);
  unsigned programs = cuda::programs(DeviceProgram::pointwise);  // programs it uses
};

const Kernel* find_kernel(std::string_view name);  // null: there is none
// UNIMPLEMENTED: there are 8-bit floats, which the kernel does not support.
Status check_float8(const Kernel& kernel, const KernelArgs& args);
int kernel_number(std::string_view name);  // in the table
std::string_view kernel_name(int number);

template <class K, class... A>
Prepared make_kernel(A&&... a) {
  return std::unique_ptr<PreparedKernel>(std::make_unique<K>(std::forward<A>(a)...));
}

// Launches a kernel with one thread per element.
template <class... P>
Status launch_elements(CudaStream& stream, DeviceKernel kernel, int64_t elements, P... parameters) {
  const int threads = stream.context().block_threads();
  void* pointers[] = {&parameters...};
  return stream.launch(kernel, (elements + threads - 1) / threads, threads, pointers);
}
// Launches a kernel with one block per result.
template <class... P>
Status launch_blocks(CudaStream& stream, DeviceKernel kernel, int64_t blocks, P... parameters) {
  void* pointers[] = {&parameters...};
  return stream.launch(kernel, blocks, stream.context().block_threads(), pointers);
}

}  // namespace shw::runtime::cuda
