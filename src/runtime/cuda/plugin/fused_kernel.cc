#include "runtime/cuda/plugin/fused_kernel.h"

#include "runtime/cuda/plugin/fused_source.h"

namespace shw::runtime::cuda {
namespace {

class GeneratedKernel final : public CudaKernel {
 public:
  // `nodes`: the nodes of the steps that may report an invalid index.
  GeneratedKernel(FunctionHandle function, FusedSource source, std::vector<int64_t> nodes)
      : function_(function), source_(std::move(source)), nodes_(nodes.begin(), nodes.end()) {
    parameters_.resize(source_.buffers.size());
    if (!nodes_.empty()) parameters_.push_back(&errors_);
    for (i64& node : nodes_) parameters_.push_back(&node);
  }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    // The driver copies the parameters, so pointers to them need not outlive the call.
    for (size_t p = 0; p < source_.buffers.size(); ++p)
      parameters_[p] = const_cast<void**>(&buffers[source_.buffers[p]]);
    errors_ = stream.errors();
    return stream.launch(function_, source_.blocks, source_.threads, parameters_.data());
  }

 private:
  const FunctionHandle function_;
  const FusedSource source_;
  std::vector<i64> nodes_;
  DeviceError* errors_ = nullptr;
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
    std::vector<int64_t> nodes;
    for (const int s : source->reporting) nodes.push_back(steps[static_cast<size_t>(s)].node);
    return GroupKernel{
        std::make_unique<GeneratedKernel>(function, std::move(*source), std::move(nodes)), count};
  }
  return unimplemented("no kernel is generated that begins with this step");
}

}  // namespace shw::runtime::cuda
