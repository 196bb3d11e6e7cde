#include "runtime/cuda/plugin/draw.h"

#include "runtime/cuda/plugin/loops.h"
#include "runtime/draw_shape.h"

namespace shw::runtime::cuda {
namespace {

// Numbers of a step's buffers: the run's seed among the inputs, then the results.
struct Operands {
  StepSeed seed;
  size_t results;
  const i64* run(void* const* buffers) const {
    return seed.has_run ? static_cast<const i64*>(buffers[seed.operand]) : nullptr;
  }
};

class DrawKernel final : public CudaKernel {
 public:
  DrawKernel(const DrawArguments& arguments, const Operands& operands)
      : arguments_(arguments), operands_(operands) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    return launch_elements(stream, DeviceKernel::shw_draw, arguments_.loops.total,
                           buffers[operands_.results], operands_.run(buffers), arguments_);
  }

 private:
  const DrawArguments arguments_;
  const Operands operands_;
};

class DropoutKernel final : public CudaKernel {
 public:
  DropoutKernel(const DrawArguments& arguments, const Operands& operands)
      : arguments_(arguments), operands_(operands) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    const DeviceKernel kernel = arguments_.dtype == kDeviceF64 ? DeviceKernel::shw_dropout_f64
                                                               : DeviceKernel::shw_dropout_f32;
    const void* in = buffers[0];
    return launch_elements(stream, kernel, arguments_.loops.total, buffers[operands_.results],
                           buffers[operands_.results + 1], in, operands_.run(buffers), arguments_);
  }

 private:
  const DrawArguments arguments_;
  const Operands operands_;
};

DrawArguments draw_arguments(const TensorType& drawn, const Numbering& numbers,
                             const StepSeed& seed) {
  DrawArguments a{};
  a.loops = plain_loops(drawn.shape);
  set_strides(numbers.strides, a.stride[0]);
  a.first = numbers.first;
  a.seed = {static_cast<i64>(seed.own), seed.stride};
  a.dtype = static_cast<int>(drawn.dtype);
  return a;
}

Prepared draw(const KernelArgs& args, bool is_normal, size_t seed_operand) {
  SHW_ASSIGN_OR_RETURN(const DrawShape shape, draw_shape(args, seed_operand));
  const TensorType& out = *args.outputs[0];
  DrawArguments a = draw_arguments(out, shape.numbers, shape.seed);
  set_strides(strides_bytes(out), a.stride[1]);
  a.drawn = static_cast<int>(shape.drawn);
  a.normal = is_normal;
  return make_kernel<DrawKernel>(a, Operands{shape.seed, args.inputs.size()});
}

}  // namespace

Prepared prepare_rand(const Context&, const KernelArgs& args) { return draw(args, false, 0); }
Prepared prepare_rand_like(const Context&, const KernelArgs& args) { return draw(args, false, 1); }
Prepared prepare_randn(const Context&, const KernelArgs& args) { return draw(args, true, 0); }
Prepared prepare_randn_like(const Context&, const KernelArgs& args) { return draw(args, true, 1); }

Prepared prepare_dropout(const Context&, const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const DropoutShape shape, dropout_shape(args));
  const TensorType& in = *args.inputs[0];
  DrawArguments a = draw_arguments(in, shape.numbers, shape.seed);
  for (size_t o = 0; o < 2; ++o)
    if (args.outputs[o] != nullptr) set_strides(strides_bytes(*args.outputs[o]), a.stride[o + 1]);
  set_strides(strides_bytes(in), a.stride[3]);
  a.least = shape.dropped.least;
  a.scale = shape.dropped.scale;
  return make_kernel<DropoutKernel>(a, Operands{shape.seed, args.inputs.size()});
}

}  // namespace shw::runtime::cuda
