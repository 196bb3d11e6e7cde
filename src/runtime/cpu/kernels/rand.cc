// rand: numbers in [0, 1). Element number i of the whole tensor (attrs.size, row-major) depends on
// attrs.seed and i alone; this rank makes those of its piece (attrs.cuts).
#include "runtime/cpu/kernel_args.h"
#include "runtime/cpu/odometer.h"
#include "runtime/cpu/random.h"
#include "runtime/cpu/rows.h"
#include "runtime/piece.h"

namespace shw::runtime::cpu {
namespace {

class Rand final : public HostKernel {
 public:
  Rand(const TensorType& out, const Piece& piece, uint64_t seed, size_t output)
      : shape_(out.shape), seed_(seed), store_(store_row<float>(out.dtype)), output_(output) {
    const Dims whole = row_major_strides(piece.whole);
    for (size_t d = 0; d < shape_.size(); ++d) first_ += piece.offset[d] * whole[d];
    strides_ = {leading_strides_bytes(out, shape_.size()), whole};
  }
  Status compute(void* const* buffers) noexcept override {
    auto* out = static_cast<std::byte*>(buffers[output_]);
    for_each_offset(shape_, strides_, [&](const std::array<int64_t, 2>& at) {
      const float x = random_unit(seed_, static_cast<uint64_t>(first_ + at[1]));
      store_(&x, 1, out + at[0], 0);
    });
    return {};
  }

 private:
  Dims shape_;
  uint64_t seed_;
  int64_t first_ = 0;
  std::array<Dims, 2> strides_;  // in bytes of the result; in elements of the whole
  StoreRow<float> store_;
  size_t output_;
};

Prepared prepare(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 0));
  const TensorType& out = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const Piece piece, piece_of(args.attrs, args.mesh, args.rank));
  bool fits = piece.whole.size() == out.shape.size() && is_floating(out.dtype);
  int64_t elements = 1;
  for (size_t d = 0; fits && d < out.shape.size(); ++d)
    fits = piece.size[d] <= out.shape[d] &&
           !__builtin_mul_overflow(elements, piece.whole[d], &elements);
  if (!fits) return bad_types(to_string(out) + " is no piece of the tensor that is drawn");
  const auto seed = static_cast<uint64_t>(args.attrs.get_int(AttrKey::kSeed, 0));
  return make_kernel<Rand>(out, piece, seed, args.inputs.size());
}

}  // namespace

extern const Kernel kRand;
constinit const Kernel kRand = {"rand", prepare};

}  // namespace shw::runtime::cpu
