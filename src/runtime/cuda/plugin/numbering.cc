#include "runtime/cuda/plugin/numbering.h"

#include "runtime/cuda/plugin/loops.h"
#include "runtime/cuda/plugin/pointwise.h"
#include "runtime/iota_shape.h"
#include "runtime/triangle_shift.h"

namespace shw::runtime::cuda {
namespace {

class Iota final : public CudaKernel {
 public:
  Iota(const IotaArguments& arguments, bool is_real, size_t output)
      : arguments_(arguments), is_real_(is_real), output_(output) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    return launch_elements(stream,
                           is_real_ ? DeviceKernel::shw_iota_f64 : DeviceKernel::shw_iota_i64,
                           arguments_.count, buffers[output_], arguments_);
  }

 private:
  const IotaArguments arguments_;
  const bool is_real_;
  const size_t output_;
};

class TriangleKernel final : public CudaKernel {
 public:
  TriangleKernel(const TriangleArguments& arguments, size_t output)
      : arguments_(arguments), output_(output) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    return launch_elements(stream, DeviceKernel::shw_triangle, arguments_.loops.total,
                           buffers[output_], buffers[0], arguments_);
  }

 private:
  const TriangleArguments arguments_;
  const size_t output_;
};

Prepared prepare_triangle(const KernelArgs& args, bool is_lower) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  TriangleArguments a{};
  SHW_ASSIGN_OR_RETURN(a.shift, triangle_shift(args));
  a.loops = plain_loops(out.shape);
  set_strides(strides_bytes(out), a.stride[0]);
  set_strides(strides_bytes(in), a.stride[1]);
  a.is_lower = is_lower;
  a.dtype = static_cast<int>(out.dtype);
  return make_kernel<TriangleKernel>(a, args.inputs.size());
}

}  // namespace

Prepared prepare_iota(const Context&, const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(check_iota(args));
  const TensorType& out = *args.outputs[0];
  const Number start = number_attr(args.attrs, AttrKey::kStart, 0),
               step = number_attr(args.attrs, AttrKey::kStep, 1);
  IotaArguments a{};
  a.count = out.shape[0];
  a.stride = out.strides[0] * dtype_size(out.dtype);
  a.start = start.real;
  a.step = step.real;
  a.integer_start = start.integer;
  a.integer_step = step.integer;
  a.dtype = static_cast<int>(out.dtype);
  return make_kernel<Iota>(a, is_floating(out.dtype), args.inputs.size());
}

Prepared prepare_tril(const Context&, const KernelArgs& args) {
  return prepare_triangle(args, /*is_lower=*/true);
}
Prepared prepare_triu(const Context&, const KernelArgs& args) {
  return prepare_triangle(args, /*is_lower=*/false);
}

}  // namespace shw::runtime::cuda
