// A result that consists of windows: each is a copy of an operand, or filled with a number, by one
// launch.
#pragma once
#include <vector>

#include "runtime/cuda/plugin/pointwise.h"

namespace shw::runtime::cuda {

inline Pointwise make_fill(const TensorType& window, const Number& number) {
  Pointwise fill(PointwiseOp::kCopy, window.dtype, window, {});
  fill.set_fixed(0, number);
  return fill;
}

class LaidKernel final : public CudaKernel {
 public:
  explicit LaidKernel(size_t output) : output_(output) {}

  // Fills the window `to`, `to_bytes` into the result, from a window of an input.
  void lay(const TensorType& to, int64_t to_bytes, const TensorType& from, size_t input,
           int64_t from_bytes = 0) {
    if (to.numel() > 0)
      laid_.push_back({make_copy(to, from), static_cast<int>(input), to_bytes, from_bytes});
  }
  void lay(const TensorType& to, int64_t to_bytes, const Number& number) {
    if (to.numel() > 0) laid_.push_back({make_fill(to, number), kNone, to_bytes, 0});
  }

  std::optional<StepFormula> described;  // the formula, if there is one
  std::optional<StepFormula> formula() const override { return described; }

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for (const Laid& l : laid_) {
      const auto* from = l.input == kNone
                             ? nullptr
                             : static_cast<const std::byte*>(buffers[l.input]) + l.from_bytes;
      SHW_RETURN_IF_ERROR(l.pointwise.run(stream, out + l.to_bytes, from, nullptr));
    }
    return {};
  }

 private:
  static constexpr int kNone = -1;
  struct Laid {
    Pointwise pointwise;
    int input;
    int64_t to_bytes, from_bytes;
  };
  std::vector<Laid> laid_;
  const size_t output_;
};

}  // namespace shw::runtime::cuda
