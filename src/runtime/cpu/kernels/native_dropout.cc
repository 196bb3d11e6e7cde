// native_dropout(x, run_seed?) has two results: x with a fraction attrs.p of the elements set to
// zero and the others multiplied by 1/(1 − p), and the mask of the elements that are kept. The mask
// depends on attrs.seed, the seed of the run and an element's position in the whole tensor.
#include "runtime/cpu/draw.h"
#include "runtime/cpu/odometer.h"
#include "runtime/cpu/pointwise.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class Dropout final : public HostKernel {
 public:
  Dropout(const KernelArgs& args, const DropoutShape& shape)
      : shape_(args.inputs[0]->shape),
        seed_(shape.seed),
        num_inputs_(args.inputs.size()),
        first_(shape.numbers.first),
        least_(shape.dropped.least),
        scale_(static_cast<T>(shape.dropped.scale)),
        load_(load_row<T>(args.inputs[0]->dtype)) {
    strides_[0] = leading_strides_bytes(*args.inputs[0], shape_.size());
    strides_[1] = shape.numbers.strides;
    for (size_t o = 0; o < 2; ++o)
      strides_[o + 2] = args.outputs[o] ? leading_strides_bytes(*args.outputs[o], shape_.size())
                                        : Dims(shape_.size(), 0);
    if (args.outputs[0]) store_ = store_row<T>(args.outputs[0]->dtype);
  }
  Status compute(void* const* buffers) noexcept override {
    const auto* in = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[num_inputs_]);
    auto* mask = static_cast<std::byte*>(buffers[num_inputs_ + 1]);
    const u64 seed = seed_in_run(seed_, buffers);
    for_each_offset(shape_, strides_, [&](const std::array<int64_t, 4>& at) {
      const bool is_kept = stays(seed, static_cast<u64>(first_ + at[1]), least_);
      T x;
      load_(in + at[0], 0, 1, &x);
      x = is_kept ? x * scale_ : T{0};
      if (store_) store_(&x, 1, out + at[2], 0);
      if (mask) mask[at[3]] = std::byte{is_kept};
    });
    return {};
  }

 private:
  Dims shape_;
  StepSeed seed_;
  size_t num_inputs_;
  int64_t first_;
  u64 least_;
  T scale_;
  std::array<Dims, 4> strides_;  // input, numbers of the whole, results
  LoadRow<T> load_;
  StoreRow<T> store_ = nullptr;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_ASSIGN_OR_RETURN(const DropoutShape shape, dropout_shape(args));
  if (args.inputs[0]->dtype == Dtype::kF64) return make_kernel<Dropout<double>>(args, shape);
  return make_kernel<Dropout<float>>(args, shape);
}

}  // namespace

extern const Kernel kDropout;
constinit const Kernel kDropout = {"native_dropout", prepare};

}  // namespace shw::runtime::cpu
