// mul_pairs: a product of complex numbers that are pairs of f64, in a last dim of size 2.
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"
#include "runtime/strided.h"

namespace shw::runtime::cpu {
namespace {

class MulPairs final : public HostKernel {
 public:
  explicit MulPairs(const KernelArgs& args) : pairs_(args.outputs[0]->shape) {
    const TensorType* operands[] = {args.outputs[0], args.inputs[0], args.inputs[1]};
    for (size_t o = 0; o < 3; ++o) {
      strides_[o] = broadcast_strides_bytes(*operands[o], pairs_);
      next_[o] = strides_[o].back();
      strides_[o].erase(strides_[o].size() - 1);
    }
    pairs_.erase(pairs_.size() - 1);
  }
  Status compute(void* const* buffers) noexcept override {
    const auto at = [](void* p, int64_t bytes) {
      return reinterpret_cast<double*>(static_cast<std::byte*>(p) + bytes);
    };
    for_each_offset(pairs_, strides_, [&](const std::array<int64_t, 3>& o) {
      const double a = *at(buffers[0], o[1]), b = *at(buffers[0], o[1] + next_[1]);
      const double c = *at(buffers[1], o[2]), d = *at(buffers[1], o[2] + next_[2]);
      *at(buffers[2], o[0]) = a * c - b * d;
      *at(buffers[2], o[0] + next_[0]) = a * d + b * c;
    });
    return {};
  }

 private:
  Dims pairs_;
  std::array<Dims, 3> strides_;  // of the result and the operands, in bytes
  std::array<int64_t, 3> next_;  // from the real to the imaginary part
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 2));
  const TensorType& out = *args.outputs[0];
  if (args.inputs.size() != 2) return bad_types("a product of pairs has two factors");
  for (const TensorType* t : {args.inputs[0], args.inputs[1], &out})
    if (t->dtype != Dtype::kF64 || t->rank() == 0 || t->shape.back() != 2 ||
        !broadcasts_to(t->shape, out.shape))
      return bad_types(to_string(*t) + " has no pairs of f64 for a product " + to_string(out));
  return make_kernel<MulPairs>(args);
}

}  // namespace

extern const Kernel kMulPairs;
constinit const Kernel kMulPairs = {"mul_pairs", prepare};

}  // namespace shw::runtime::cpu
