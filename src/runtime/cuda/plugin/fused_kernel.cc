#include "runtime/cuda/plugin/fused_kernel.h"

#include "runtime/cuda/plugin/fused_source.h"

namespace shw::runtime::cuda {
namespace {

class GeneratedKernel final : public CudaKernel {
 public:
  GeneratedKernel(FunctionHandle function, FusedSource source)
      : function_(function), source_(std::move(source)), parameters_(source_.buffers.size()) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    // The driver copies what the parameters point to.
    for (size_t p = 0; p < parameters_.size(); ++p)
      parameters_[p] = const_cast<void**>(&buffers[source_.buffers[p]]);
    return stream.launch(function_, source_.blocks, source_.threads, parameters_.data());
  }

 private:
  const FunctionHandle function_;
  const FusedSource source_;
  std::vector<void*> parameters_;
};

}  // namespace

Result<GroupKernel> prepare_fused_group(Context& context, std::span<const GroupStep> steps) {
  const std::vector<FusedStep> read = read_fused_steps(context, steps);
  for (size_t count = read.size(); count > 1; --count) {
    auto source = write_fused_source(read, count, context.block_threads());
    if (!source) continue;
    SHW_ASSIGN_OR_RETURN(const FunctionHandle function,
                         context.load_source(source->text, kFusedKernelName));
    return GroupKernel{std::make_unique<GeneratedKernel>(function, std::move(*source)), count};
  }
  return unimplemented("no kernel is generated that begins with this step");
}

}  // namespace shw::runtime::cuda
