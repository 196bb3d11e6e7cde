// What a kernel of this backend is, and the list of them.
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

// A kernel of a CUDA stream. What goes wrong when it is put there is raised with the step's name.
class CudaKernel : public PreparedKernel {
 public:
  void launch(Stream& stream, void* const* buffers) final {
    auto& ours = static_cast<CudaStream&>(stream);
    ours.raise(enqueue(ours, buffers), origin);
  }
  // What this kernel launches kernels of, beside what is in its line of the table.
  virtual unsigned programs() const { return 0; }
  // Nothing: only a launch of this kernel computes it.
  virtual std::optional<StepFormula> formula() const { return {}; }

 protected:
  virtual Status enqueue(CudaStream& stream, void* const* buffers) = 0;
};

using Prepared = Result<std::unique_ptr<PreparedKernel>>;

// A line of the backend's table.
struct Kernel {
  std::string_view name;
  // INVALID_ARGUMENT: the types or attributes are not those of such a step. UNIMPLEMENTED: they
  // are, but this backend cannot do it.
  Prepared (*prepare)(const Context& context, const KernelArgs& args);
  unsigned programs = cuda::programs(DeviceProgram::pointwise);  // that it launches kernels of
};

const Kernel* find_kernel(std::string_view name);  // null: there is none
// UNIMPLEMENTED: the kernel has no code for 8-bit floats, and there are some.
Status check_float8(const Kernel& kernel, const KernelArgs& args);
int kernel_number(std::string_view name);  // in the table
std::string_view kernel_name(int number);

template <class K, class... A>
Prepared make_kernel(A&&... a) {
  return std::unique_ptr<PreparedKernel>(std::make_unique<K>(std::forward<A>(a)...));
}

// Launches a kernel with a thread an element.
template <class... P>
Status launch_elements(CudaStream& stream, DeviceKernel kernel, int64_t elements, P... parameters) {
  const int threads = stream.context().block_threads();
  void* pointers[] = {&parameters...};
  return stream.launch(kernel, (elements + threads - 1) / threads, threads, pointers);
}
// Launches a kernel with a block a result.
template <class... P>
Status launch_blocks(CudaStream& stream, DeviceKernel kernel, int64_t blocks, P... parameters) {
  void* pointers[] = {&parameters...};
  return stream.launch(kernel, blocks, stream.context().block_threads(), pointers);
}

}  // namespace shw::runtime::cuda
