#include "runtime/cuda/plugin/pairs.h"

#include <array>

#include "runtime/cuda/plugin/loops.h"

namespace shw::runtime::cuda {
namespace {

class PairsKernel final : public CudaKernel {
 public:
  PairsKernel(const PairArguments& arguments, DeviceKernel kernel, size_t inputs)
      : arguments_(arguments), kernel_(kernel), inputs_(inputs) {}

 protected:
  Status enqueue(CudaStream& stream, void* const* buffers) override {
    return launch_elements(stream, kernel_, arguments_.pairs.total, buffers[inputs_], buffers[0],
                           inputs_ > 1 ? buffers[1] : nullptr, arguments_);
  }

 private:
  const PairArguments arguments_;
  const DeviceKernel kernel_;
  const size_t inputs_;
};

// All operands have pairs of f64 in a last dim of 2; factors broadcast to the result.
Prepared prepare_pairs(const KernelArgs& args, DeviceKernel kernel, size_t num_inputs) {
  SHW_RETURN_IF_ERROR(expect_operands(args, num_inputs));
  const TensorType& out = *args.outputs[0];
  if (args.inputs.size() != num_inputs)
    return bad_types("expected " + std::to_string(num_inputs) + " operands of pairs");
  PairArguments a{};
  for (size_t o = 0; o <= num_inputs; ++o) {
    const TensorType& t = o == 0 ? out : *args.inputs[o - 1];
    const bool fits = num_inputs == 1 ? t.shape == out.shape : broadcasts_to(t.shape, out.shape);
    if (t.dtype != Dtype::kF64 || t.rank() == 0 || t.shape.back() != 2 || !fits)
      return bad_types(to_string(t) + " has no pairs of f64 for " + to_string(out));
    Dims strides = broadcast_strides_bytes(t, out.shape);
    a.next[o] = strides.back();
    strides.erase(strides.size() - 1);
    set_strides(strides, a.stride[o]);
  }
  Dims pairs = out.shape;
  pairs.erase(pairs.size() - 1);
  a.pairs = plain_loops(pairs);
  return make_kernel<PairsKernel>(a, kernel, args.inputs.size());
}

}  // namespace

Prepared prepare_mul_pairs(const Context&, const KernelArgs& args) {
  return prepare_pairs(args, DeviceKernel::shw_mul_pairs, 2);
}
Prepared prepare_conj_pairs(const Context&, const KernelArgs& args) {
  return prepare_pairs(args, DeviceKernel::shw_conj_pairs, 1);
}

}  // namespace shw::runtime::cuda
