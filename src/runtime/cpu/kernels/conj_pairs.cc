// conj_pairs: the conjugates of complex numbers that are pairs of f64, in a last dim of size 2.
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"

namespace shw::runtime::cpu {
namespace {

class ConjPairs final : public HostKernel {
 public:
  explicit ConjPairs(const KernelArgs& args) : shape_(args.outputs[0]->shape) {
    strides_ = {leading_strides_bytes(*args.outputs[0], shape_.size()),
                leading_strides_bytes(*args.inputs[0], shape_.size())};
    next_ = {strides_[0].back(), strides_[1].back()};
    for (Dims& s : strides_) s.erase(s.size() - 1);
    shape_.erase(shape_.size() - 1);
  }
  Status compute(void* const* buffers) noexcept override {
    const auto at = [](void* p, int64_t bytes) {
      return reinterpret_cast<double*>(static_cast<std::byte*>(p) + bytes);
    };
    for_each_offset(shape_, strides_, [&](const std::array<int64_t, 2>& o) {
      *at(buffers[1], o[0]) = *at(buffers[0], o[1]);
      *at(buffers[1], o[0] + next_[0]) = -*at(buffers[0], o[1] + next_[1]);
    });
    return {};
  }

 private:
  Dims shape_;
  std::array<Dims, 2> strides_;  // of the result and the operand, in bytes
  std::array<int64_t, 2> next_;  // from the real to the imaginary part
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1));
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  if (args.inputs.size() != 1 || in.shape != out.shape || in.dtype != Dtype::kF64 ||
      out.dtype != Dtype::kF64 || in.rank() == 0 || in.shape.back() != 2)
    return bad_types(to_string(in) + " has no pairs of f64 for " + to_string(out));
  return make_kernel<ConjPairs>(args);
}

}  // namespace

extern const Kernel kConjPairs;
constinit const Kernel kConjPairs = {"conj_pairs", prepare};

}  // namespace shw::runtime::cpu
