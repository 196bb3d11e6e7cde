#include "runtime/cuda/plugin/gathered.h"

#include "runtime/cuda/plugin/kernel.h"

namespace shw::runtime::cuda {
namespace {

ReduceKind kind_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::kAvg:
      return ReduceKind::kMean;
    case ReduceOp::kMax:
      return ReduceKind::kMax;
    case ReduceOp::kMin:
      return ReduceKind::kMin;
    case ReduceOp::kProduct:
      return ReduceKind::kProduct;
    default:
      return ReduceKind::kSum;
  }
}

// The workspace holds the data that the ranks send.
class GatheredReduction final : public PreparedKernel {
 public:
  GatheredReduction(std::unique_ptr<PreparedKernel> moved, const GatheredArguments& arguments)
      : moved_(std::move(moved)), arguments_(arguments) {}

  int64_t workspace_bytes() const override {
    return arguments_.formula.count * arguments_.count * arguments_.bytes;
  }
  void launch(Stream& stream, void* const* buffers) override {
    auto& ours = static_cast<CudaStream&>(stream);
    const void* gathered = buffers[2];
    void* const moves[] = {buffers[0], buffers[2], nullptr};
    moved_->origin = origin;
    moved_->launch(stream, moves);
    ours.raise(launch_elements(ours, DeviceKernel::shw_reduce_gathered, arguments_.count,
                               buffers[1], gathered, arguments_),
               origin);
  }

 private:
  const std::unique_ptr<PreparedKernel> moved_;
  const GatheredArguments arguments_;
};

}  // namespace

bool is_reduced_here(const CollectiveSpec& spec) {
  const bool is_integer = !is_floating(spec.dtype) && !is_complex(spec.dtype);
  return reduces(spec.kind) &&
         (spec.dtype == Dtype::kI16 || (is_integer && spec.op == ReduceOp::kAvg));
}

CollectiveSpec moved_for(const CollectiveSpec& spec) {
  CollectiveSpec moved = spec;
  moved.kind = spec.kind == CollectiveKind::kAllReduce ? CollectiveKind::kAllGather
                                                       : CollectiveKind::kAllToAll;
  return moved;
}

Result<std::unique_ptr<PreparedKernel>> prepare_gathered(Context& context,
                                                         std::unique_ptr<PreparedKernel> moved,
                                                         const CollectiveSpec& spec,
                                                         int64_t members) {
  SHW_RETURN_IF_ERROR(context.load(programs(DeviceProgram::gathered)));
  GatheredArguments a{};
  a.count = spec.count;
  a.dtype = static_cast<int>(spec.dtype);
  a.bytes = dtype_size(spec.dtype);
  a.formula = {kind_of(spec.op), members};
  return make_kernel<GatheredReduction>(std::move(moved), a);
}

}  // namespace shw::runtime::cuda
