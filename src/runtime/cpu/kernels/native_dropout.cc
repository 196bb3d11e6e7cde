// native_dropout(x, run_seed?) → zeros for a share attrs.p of the elements, the others times 1/(1 −
// p); and which stayed. Which these are depends on attrs.seed, the seed of the run and an element's
// place in the whole tensor.
#include "runtime/cpu/draw.h"
#include "runtime/cpu/odometer.h"
#include "runtime/cpu/pointwise.h"
#include "runtime/cpu/random.h"

namespace shw::runtime::cpu {
namespace {

template <class T>
class Dropout final : public HostKernel {
 public:
  Dropout(const KernelArgs& args, const Numbering& numbers, const StepSeed& seed, double p)
      : shape_(args.inputs[0]->shape),
        seed_(seed),
        num_inputs_(args.inputs.size()),
        first_(numbers.first),
        p_(p),
        scale_(p < 1 ? static_cast<T>(1 / (1 - p)) : T{0}),
        load_(load_row<T>(args.inputs[0]->dtype)) {
    strides_[0] = leading_strides_bytes(*args.inputs[0], shape_.size());
    strides_[1] = numbers.strides;
    for (size_t o = 0; o < 2; ++o)
      strides_[o + 2] = args.outputs[o] ? leading_strides_bytes(*args.outputs[o], shape_.size())
                                        : Dims(shape_.size(), 0);
    if (args.outputs[0]) store_ = store_row<T>(args.outputs[0]->dtype);
  }
  Status compute(void* const* buffers) noexcept override {
    const auto* in = static_cast<const std::byte*>(buffers[0]);
    auto* out = static_cast<std::byte*>(buffers[num_inputs_]);
    auto* mask = static_cast<std::byte*>(buffers[num_inputs_ + 1]);
    const uint64_t seed = seed_.in_run(buffers);
    for_each_offset(shape_, strides_, [&](const std::array<int64_t, 4>& at) {
      const bool stays =
          static_cast<double>(random_unit(seed, static_cast<uint64_t>(first_ + at[1]))) >= p_;
      T x;
      load_(in + at[0], 0, 1, &x);
      x = stays ? x * scale_ : T{0};
      if (store_) store_(&x, 1, out + at[2], 0);
      if (mask) mask[at[3]] = std::byte{stays};
    });
    return {};
  }

 private:
  Dims shape_;
  StepSeed seed_;
  size_t num_inputs_;
  int64_t first_;
  double p_;
  T scale_;
  std::array<Dims, 4> strides_;  // input, numbers of the whole, results
  LoadRow<T> load_;
  StoreRow<T> store_ = nullptr;
};

[[gnu::cold]] Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1, 0));
  const TensorType& in = *args.inputs[0];
  bool fits = args.outputs.size() == 2 && is_floating(in.dtype);
  for (size_t o = 0; fits && o < 2; ++o) {
    const TensorType* t = args.outputs[o];
    fits = t == nullptr || (t->shape == in.shape && t->dtype == (o == 0 ? in.dtype : Dtype::kBool));
  }
  const double p = args.attrs.get_bool(AttrKey::kTrain, true)
                       ? scalar_attr(args.attrs, AttrKey::kP, 0).number
                       : 0;
  if (!fits || !(p >= 0 && p <= 1)) return bad_types("no dropout of " + to_string(in));
  SHW_ASSIGN_OR_RETURN(const Numbering numbers, numbering_of(args, in));
  SHW_ASSIGN_OR_RETURN(const StepSeed seed, StepSeed::of(args, 1));
  if (in.dtype == Dtype::kF64) return make_kernel<Dropout<double>>(args, numbers, seed, p);
  return make_kernel<Dropout<float>>(args, numbers, seed, p);
}

}  // namespace

extern const Kernel kDropout;
constinit const Kernel kDropout = {"native_dropout", prepare};

}  // namespace shw::runtime::cpu
