#include "runtime/cpu/triangle.h"

#include <algorithm>
#include <cstring>

#include "runtime/cpu/indices.h"
#include "runtime/cpu/odometer.h"
#include "runtime/triangle_shift.h"

namespace shw::runtime::cpu {
namespace {

class TriangleKernel final : public HostKernel {
 public:
  TriangleKernel(const KernelArgs& args, Triangle triangle, int64_t shift)
      : triangle_(triangle), shift_(shift), output_(args.inputs.size()) {
    const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
    rows_ = out.shape;
    columns_ = rows_.back();
    rows_.erase(rows_.size() - 1);
    const size_t row = rows_.size() - 1;
    item_ = static_cast<size_t>(dtype_size(in.dtype));
    step_ = {in.strides.back() * dtype_size(in.dtype), out.strides.back() * dtype_size(out.dtype)};
    strides_ = {leading_strides_bytes(in, rows_.size()), leading_strides_bytes(out, rows_.size()),
                Dims(rows_.size(), 0)};
    strides_[2][row] = 1;  // counts rows
  }
  Status compute(void* const* buffers) noexcept override {
    const auto* in = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for_each_offset(rows_, strides_, [&](const std::array<int64_t, 3>& at) {
      // Columns up to and including the diagonal.
      const int64_t split = std::clamp<int64_t>(
          at[2] + shift_ + (triangle_ == Triangle::kLower ? 1 : 0), 0, columns_);
      for (int64_t c = 0; c < columns_; ++c) {
        std::byte* to = out + at[1] + c * step_[1];
        if ((c < split) == (triangle_ == Triangle::kLower))
          std::memcpy(to, in + at[0] + c * step_[0], item_);
        else
          std::memset(to, 0, item_);
      }
    });
    return {};
  }

 private:
  Triangle triangle_;
  int64_t shift_;  // of the diagonal in this piece
  size_t item_, output_;
  Dims rows_;
  int64_t columns_;
  std::array<int64_t, 2> step_;
  std::array<Dims, 3> strides_;
};

}  // namespace

[[gnu::cold]] Prepared prepare_triangle(const KernelArgs& args, Triangle triangle) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  SHW_ASSIGN_OR_RETURN(const int64_t shift, triangle_shift(args));
  return make_kernel<TriangleKernel>(args, triangle, shift);
}

}  // namespace shw::runtime::cpu
