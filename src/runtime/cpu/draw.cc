#include "runtime/cpu/draw.h"

#include "runtime/cpu/odometer.h"
#include "runtime/cpu/rows.h"

namespace shw::runtime::cpu {
namespace {

class DrawKernel final : public HostKernel {
 public:
  DrawKernel(const TensorType& out, const DrawShape& shape, Draw draw, size_t output)
      : shape_(out.shape),
        seed_(shape.seed),
        first_(shape.numbers.first),
        strides_{leading_strides_bytes(out, out.shape.size()), shape.numbers.strides},
        draw_(draw),
        round_(store_row<float>(shape.drawn)),
        widen_(load_row<float>(shape.drawn)),
        store_(store_row<float>(out.dtype)),
        output_(output) {}
  Status compute(void* const* buffers) noexcept override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    const u64 seed = seed_in_run(seed_, buffers);
    for_each_offset(shape_, strides_, [&](const std::array<int64_t, 2>& at) {
      float x = draw_(seed, static_cast<u64>(first_ + at[1]));
      alignas(8) std::byte rounded[8];
      round_(&x, 1, rounded, 0);
      widen_(rounded, 0, 1, &x);
      store_(&x, 1, out + at[0], 0);
    });
    return {};
  }

 private:
  Dims shape_;
  StepSeed seed_;
  int64_t first_;
  std::array<Dims, 2> strides_;  // result in bytes; whole tensor in elements
  Draw draw_;
  StoreRow<float> round_;  // rounds to the dtype of the drawn numbers
  LoadRow<float> widen_;
  StoreRow<float> store_;
  size_t output_;
};

}  // namespace

[[gnu::cold]] Prepared prepare_draw(const KernelArgs& args, Draw draw, size_t seed_operand) {
  SHW_ASSIGN_OR_RETURN(const DrawShape shape, draw_shape(args, seed_operand));
  return make_kernel<DrawKernel>(*args.outputs[0], shape, draw, args.inputs.size());
}

}  // namespace shw::runtime::cpu
