#include "runtime/cpu/draw.h"

#include "runtime/cpu/odometer.h"
#include "runtime/cpu/random.h"
#include "runtime/cpu/rows.h"

namespace shw::runtime::cpu {
namespace {

class DrawKernel final : public HostKernel {
 public:
  DrawKernel(const TensorType& out, const Numbering& numbers, const StepSeed& seed, Draw draw,
             Dtype drawn, size_t output)
      : shape_(out.shape),
        seed_(seed),
        first_(numbers.first),
        strides_{leading_strides_bytes(out, out.shape.size()), numbers.strides},
        draw_(draw),
        round_(store_row<float>(drawn)),
        widen_(load_row<float>(drawn)),
        store_(store_row<float>(out.dtype)),
        output_(output) {}
  Status compute(void* const* buffers) noexcept override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    const uint64_t seed = seed_.in_run(buffers);
    for_each_offset(shape_, strides_, [&](const std::array<int64_t, 2>& at) {
      float x = draw_(seed, static_cast<uint64_t>(first_ + at[1]));
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
  std::array<Dims, 2> strides_;  // in bytes of the result; in elements of the whole
  Draw draw_;
  StoreRow<float> round_;  // to the dtype that the numbers are drawn in, and back
  LoadRow<float> widen_;
  StoreRow<float> store_;
  size_t output_;
};

}  // namespace

Result<Numbering> numbering_of(const KernelArgs& args, const TensorType& piece) {
  SHW_ASSIGN_OR_RETURN(const Piece place, piece_of(args.attrs, args.mesh, args.rank));
  bool fits = place.whole.size() == piece.shape.size();
  int64_t elements = 1;
  for (size_t d = 0; fits && d < piece.shape.size(); ++d)
    fits = place.size[d] <= piece.shape[d] &&
           !__builtin_mul_overflow(elements, place.whole[d], &elements);
  if (!fits) return bad_types(to_string(piece) + " is no piece of the tensor that is drawn");
  Numbering numbers{0, row_major_strides(place.whole)};
  for (size_t d = 0; d < piece.shape.size(); ++d)
    numbers.first += place.offset[d] * numbers.strides[d];
  return numbers;
}

Result<StepSeed> StepSeed::of(const KernelArgs& args, size_t operand) {
  StepSeed seed;
  seed.own_ = static_cast<uint64_t>(args.attrs.get_int(AttrKey::kSeed, 0));
  if (args.inputs.size() > operand + 1) return bad_types("operands behind the seed of the run");
  if (args.inputs.size() <= operand || args.inputs[operand] == nullptr) return seed;
  const TensorType& run = *args.inputs[operand];
  if (run.dtype != Dtype::kI64 || run.shape != Dims{2})
    return bad_types("the seed of the run is " + to_string(run) + ", expected i64[2]");
  seed.has_run_ = true;
  seed.operand_ = operand;
  seed.stride_ = run.strides[0];
  return seed;
}

uint64_t StepSeed::in_run(void* const* buffers) const {
  if (!has_run_) return own_;
  const auto* run = static_cast<const uint64_t*>(buffers[operand_]);
  return seed_of_run(run[0], run[stride_], own_);
}

[[gnu::cold]] Prepared prepare_draw(const KernelArgs& args, Draw draw, size_t seed_operand) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 0));
  const TensorType& out = *args.outputs[0];
  if (!is_floating(out.dtype)) return bad_types("random numbers are not " + to_string(out));
  SHW_ASSIGN_OR_RETURN(const Numbering numbers, numbering_of(args, out));
  const Dtype drawn = args.attrs.get_dtype(AttrKey::kDtype, out.dtype);
  if (!is_floating(drawn)) return bad_types("random numbers are floating");
  SHW_ASSIGN_OR_RETURN(const StepSeed seed, StepSeed::of(args, seed_operand));
  return make_kernel<DrawKernel>(out, numbers, seed, draw, drawn, args.inputs.size());
}

}  // namespace shw::runtime::cpu
