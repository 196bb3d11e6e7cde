// nll_loss_forward(x, targets, weight?) has two results. The first depends on attrs.reduction: 0:
// −weight·x at each target's class; 2: the sum of these; 1: the sum divided by the total weight.
// The second is the total weight. Targets equal to attrs.ignore_index are ignored.
#include "runtime/cpu/nll_loss.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

class NllLoss final : public HostKernel {
 public:
  NllLoss(const KernelArgs& args, const LossWalk& walk)
      : walk_(walk), load_(load_row<double>(args.inputs[0]->dtype)), output_(args.inputs.size()) {
    if (args.inputs.size() > 2 && args.inputs[2])
      load_weight_ = load_row<double>(args.inputs[2]->dtype);
    if (args.outputs[0]) {
      store_ = store_row<double>(args.outputs[0]->dtype);
      if (walk.reduction == LossReduction::kNone) zero_ = StridedFill(*args.outputs[0]);
    }
    if (args.outputs[1]) store_total_ = store_row<double>(args.outputs[1]->dtype);
  }
  Status compute(void* const* buffers) override {
    const auto* x = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    const bool each = walk_.reduction == LossReduction::kNone;
    double sum = 0, total = 0;
    if (each && out != nullptr) zero_.run(out);
    SHW_RETURN_IF_ERROR(walk_.for_each(buffers[1], [&](int64_t chosen, int64_t scores, int64_t to) {
      double score, weight = 1;
      load_(x + scores + chosen * walk_.class_step, 0, 1, &score);
      if (load_weight_)
        load_weight_(static_cast<const std::byte*>(buffers[2]) + chosen * walk_.weight_step, 0, 1,
                     &weight);
      const double loss = -weight * score;
      if (each && out != nullptr) store_(&loss, 1, out + to, 0);
      sum += loss;
      total += weight;
    }));
    if (walk_.reduction == LossReduction::kMean) sum /= total;
    if (each) total = 0;  // as in ATen
    if (!each && out != nullptr) store_(&sum, 1, out, 0);
    if (store_total_) store_total_(&total, 1, static_cast<std::byte*>(buffers[output_ + 1]), 0);
    return {};
  }

 private:
  LossWalk walk_;
  StridedFill zero_;
  LoadRow<double> load_, load_weight_ = nullptr;
  StoreRow<double> store_ = nullptr, store_total_ = nullptr;
  size_t output_;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2, 0));
  if (args.outputs.size() != 2) return bad_types("a loss has two results");
  const bool each = args.attrs.get_int(AttrKey::kReduction, 1) == 0;
  const TensorType *weight = args.inputs.size() > 2 ? args.inputs[2] : nullptr,
                   *out = args.outputs[0], *total = args.outputs[1];
  if ((out != nullptr && !each && out->rank() != 0) || (total != nullptr && total->rank() != 0))
    return bad_types("a loss and its total weight are one number each");
  SHW_ASSIGN_OR_RETURN(const LossWalk walk, loss_walk(args, *args.inputs[0], *args.inputs[1],
                                                      weight, each ? out : nullptr));
  return make_kernel<NllLoss>(args, walk);
}

}  // namespace

extern const Kernel kNllLoss;
constinit const Kernel kNllLoss = {"nll_loss_forward", prepare};

}  // namespace shw::runtime::cpu
