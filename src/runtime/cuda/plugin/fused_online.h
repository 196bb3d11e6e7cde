// Finds sums over rows that can be computed in the same pass as the row's maximum: the sum of e^(x
// − maximum) in a softmax (kernels/online_sum.cuh).
#pragma once
#include "runtime/cuda/plugin/fused_places.h"

namespace shw::runtime::cuda {

class FusedOnline : public FusedPlaces {
 protected:
  using FusedPlaces::FusedPlaces;

  static constexpr int kNotOnline = -1;
  // The step that computes the maximum m if the sum's elements are e^(x − m) over the same row x;
  // otherwise kNotOnline.
  int maximum_of_sum(int s, int64_t columns) const {
    const FusedStep& sum = step(s);
    if (!is_reduction(sum, ReduceKind::kSum)) return kNotOnline;
    const FusedStep* power = pointwise_writer(sum.inputs[0], PointwiseOp::kExp);
    if (power == nullptr) return kNotOnline;
    const FusedStep* less = pointwise_writer(operand(*power, 0), PointwiseOp::kSub);
    if (less == nullptr || less->formula.pointwise.number != 1 ||
        less->formula.pointwise.fixed >= 0)
      return kNotOnline;
    const FusedWindow &x = operand(*less, 0), &most = operand(*less, 1);
    const Dims& shape = less->output.type->shape;
    if (most.writer == kFromMemory || x.type->dtype != Dtype::kF32 ||
        !is_row_result(*most.type, shape, columns))
      return kNotOnline;
    const FusedStep& maximum = step(most.writer);
    const bool is_its = is_reduction(maximum, ReduceKind::kMax) && is_same(maximum.inputs[0], x) &&
                        x.type->shape == shape && most.begin == maximum.output.begin &&
                        most.type->numel() == maximum.output.type->numel();
    return is_its ? most.writer : kNotOnline;
  }

 private:
  static const FusedWindow& operand(const FusedStep& s, size_t o) {
    return s.inputs[static_cast<size_t>(s.formula.inputs[o])];
  }
  static bool is_reduction(const FusedStep& s, ReduceKind kind) {
    return s.by_blocks() && !s.formula.is_integer && s.formula.reduction.kind == kind &&
           s.output.type->dtype == Dtype::kF32;
  }
  static bool is_same(const FusedWindow& a, const FusedWindow& b) {
    return a.memory == b.memory && a.begin == b.begin && a.writer == b.writer && *a.type == *b.type;
  }
  // The step that computes the whole window in f32; null: there is none.
  const FusedStep* pointwise_writer(const FusedWindow& window, PointwiseOp op) const {
    if (window.writer == kFromMemory) return nullptr;
    const FusedStep& of = step(window.writer);
    const bool fits = of.formula.kind == StepFormula::Kind::kPointwise &&
                      of.formula.pointwise.op == op && of.formula.compute == ComputeType::kF32 &&
                      of.formula.inputs[0] >= 0 && window.type->dtype == Dtype::kF32 &&
                      *window.type == *of.output.type && window.begin == of.output.begin;
    return fits ? &of : nullptr;
  }
};

}  // namespace shw::runtime::cuda
