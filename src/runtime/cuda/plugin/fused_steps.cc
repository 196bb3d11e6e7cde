#include "runtime/cuda/plugin/fused_steps.h"

#include <algorithm>

namespace shw::runtime::cuda {
namespace {

bool touch(const FusedWindow& a, const FusedWindow& b) {
  return a.memory == b.memory && a.begin < b.end && b.begin < a.end;
}
bool is_same_window(const FusedWindow& a, const FusedWindow& b) {
  return a.memory == b.memory && a.begin == b.begin && *a.type == *b.type;
}

FusedWindow window_of(const TensorType* type, const GroupOperand& operand, size_t buffer) {
  FusedWindow window{type,
                     operand.memory,
                     operand.offset_bytes,
                     operand.offset_bytes,
                     operand.place_bytes,
                     operand.is_aligned,
                     buffer};
  if (type == nullptr || type->numel() == 0) return window;
  int64_t last = 0;
  for (size_t d = 0; d < type->shape.size(); ++d) last += (type->shape[d] - 1) * type->strides[d];
  window.end += (last + 1) * dtype_size(type->dtype);
  return window;
}

// Whether a window is contained in the output of a step, with elements of the same dtype. A complex
// number may also be read as a pair of f32, and vice versa.
bool can_find(const FusedWindow& read, const FusedStep& writer) {
  const FusedWindow& written = writer.output;
  if (is_same_window(read, written)) return true;
  const Dtype from = written.type->dtype, to = read.type->dtype;
  const bool pairs =
      (from == Dtype::kF32 && to == Dtype::kC64) || (from == Dtype::kC64 && to == Dtype::kF32);
  return written.type->contiguous() && (from == to || pairs) && written.begin <= read.begin &&
         read.end <= written.end && (read.begin - written.begin) % dtype_size(from) == 0;
}

// Whether the elements of a row lie in memory in the order in which the reduction's kernel adds
// them.
bool is_in_order(const ReducedDims& dims) {
  int64_t before = INT64_MAX;
  for (size_t d = 0; d < dims.reduced.size(); ++d) {
    if (dims.reduced[d] == 1) continue;
    if (dims.reduced_in[d] > before) return false;
    before = dims.reduced_in[d];
  }
  return true;
}

class Reader {
 public:
  Reader(const Context& context, std::span<const GroupStep> steps)
      : context_(context), steps_(steps) {}

  std::vector<FusedStep> run() {
    for (const GroupStep& step : steps_)
      if (!add(step)) break;
    for (size_t s = read_.size(); s < steps_.size(); ++s) note_reads(steps_[s], s);
    return std::move(read_);
  }

 private:
  bool add(const GroupStep& step) {
    const Kernel* kernel = find_kernel(step.kernel);
    if (kernel == nullptr || step.args.outputs.size() != 1 || step.args.outputs[0] == nullptr ||
        step.args.outputs[0]->numel() == 0)
      return false;
    FusedStep fused;
    if (!describe(step, *kernel, fused)) return false;
    const size_t inputs = step.args.inputs.size();
    for (size_t i = 0; i < inputs; ++i) {
      fused.inputs.push_back(window_of(step.args.inputs[i], step.operands[i], next_buffer_ + i));
      if (fused.inputs[i].type != nullptr && !find_writer(fused.inputs[i])) return false;
    }
    fused.output = window_of(step.args.outputs[0], step.operands[inputs], next_buffer_ + inputs);
    fused.is_temporary = step.operands[inputs].is_temporary;
    for (const FusedStep& other : read_)
      if (touch(other.output, fused.output)) return false;
    note_reads(step, read_.size());
    next_buffer_ += inputs + 1;
    read_.push_back(std::move(fused));
    return true;
  }

  bool describe(const GroupStep& step, const Kernel& kernel, FusedStep& fused) const {
    auto prepared = kernel.prepare(context_, step.args);
    if (!prepared.ok()) return false;
    const auto formula = static_cast<const CudaKernel&>(**prepared).formula();
    if (!formula) return false;
    fused.formula = *formula;
    fused.args = &step.args;
    if (formula->kind != StepFormula::Kind::kReduction) return true;
    const auto dims = reduced_dims(step.args);
    // The kernel computes complex sums as sums of real pairs.
    if (!dims.ok() || is_complex(step.args.inputs[0]->dtype) || !is_in_order(*dims)) return false;
    fused.reduced = *dims;
    return true;
  }

  void note_reads(const GroupStep& step, size_t number) {
    for (size_t i = 0; i < step.args.inputs.size(); ++i) {
      if (step.args.inputs[i] == nullptr) continue;
      for (FusedStep& writer : read_)
        if (writer.output.memory == step.operands[i].memory)
          writer.last_reader = static_cast<int>(number);
    }
  }

  // False: the window was written by several steps, or only in part by one step.
  bool find_writer(FusedWindow& in) const {
    for (size_t w = 0; w < read_.size(); ++w) {
      if (!touch(read_[w].output, in)) continue;
      if (in.writer != kFromMemory || !can_find(in, read_[w])) return false;
      in.writer = static_cast<int>(w);
    }
    return true;
  }

  const Context& context_;
  const std::span<const GroupStep> steps_;
  std::vector<FusedStep> read_;
  size_t next_buffer_ = 0;
};

}  // namespace

std::vector<FusedStep> read_fused_steps(const Context& context, std::span<const GroupStep> steps) {
  return Reader(context, steps).run();
}

}  // namespace shw::runtime::cuda
