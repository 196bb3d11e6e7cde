#include "runtime/draw_shape.h"

#include <cmath>

#include "runtime/random.h"
#include "runtime/strided.h"

namespace shw::runtime {
namespace {

// For a tensor that is the piece given by attributes `size` and `cuts`.
Result<Numbering> numbering_of(const KernelArgs& args, const TensorType& piece) {
  SHW_ASSIGN_OR_RETURN(const Piece place, piece_of(args.attrs, args.mesh, args.rank));
  bool fits = place.whole.size() == piece.shape.size();
  int64_t elements = 1;
  for (size_t d = 0; fits && d < piece.shape.size(); ++d)
    fits = place.size[d] <= piece.shape[d] &&
           !__builtin_mul_overflow(elements, place.whole[d], &elements);
  if (!fits)
    return bad_types(to_string(piece) +
                     " does not match the piece of the random tensor that attributes 'size' and "
                     "'cuts' describe: expected the same rank, and at least the piece's sizes");
  Numbering numbers{0, row_major_strides(place.whole)};
  for (size_t d = 0; d < piece.shape.size(); ++d)
    numbers.first += place.offset[d] * numbers.strides[d];
  return numbers;
}

}  // namespace

Result<StepSeed> step_seed(const KernelArgs& args, size_t operand) {
  StepSeed seed;
  seed.own = static_cast<uint64_t>(args.attrs.get_int(AttrKey::kSeed, 0));
  if (args.inputs.size() > operand + 1) return bad_types("operands behind the seed of the run");
  if (args.inputs.size() <= operand || args.inputs[operand] == nullptr) return seed;
  const TensorType& run = *args.inputs[operand];
  if (run.dtype != Dtype::kI64 || run.shape != Dims{2})
    return bad_types("the seed of the run is " + to_string(run) + ", expected i64[2]");
  seed.has_run = true;
  seed.operand = operand;
  seed.stride = run.strides[0];
  return seed;
}

Result<DrawShape> draw_shape(const KernelArgs& args, size_t seed_operand) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 0));
  const TensorType& out = *args.outputs[0];
  if (!is_floating(out.dtype)) return bad_types("random numbers are not " + to_string(out));
  SHW_ASSIGN_OR_RETURN(Numbering numbers, numbering_of(args, out));
  const Dtype drawn = args.attrs.get_dtype(AttrKey::kDtype, out.dtype);
  if (!is_floating(drawn)) return bad_types("random numbers are floating");
  SHW_ASSIGN_OR_RETURN(const StepSeed seed, step_seed(args, seed_operand));
  return DrawShape{std::move(numbers), seed, drawn};
}

Dropped Dropped::share(double p) {
  return {static_cast<uint64_t>(std::ceil(p * static_cast<double>(kRandomUnits))),
          p < 1 ? 1 / (1 - p) : 0};
}

Result<DropoutShape> dropout_shape(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1, 0));
  const TensorType& in = *args.inputs[0];
  bool fits = args.outputs.size() == 2 && is_floating(in.dtype);
  for (size_t o = 0; fits && o < 2; ++o) {
    const TensorType* t = args.outputs[o];
    fits = t == nullptr || (t->shape == in.shape && t->dtype == (o == 0 ? in.dtype : Dtype::kBool));
  }
  const double p =
      args.attrs.get_bool(AttrKey::kTrain, true) ? args.attrs.get_number(AttrKey::kP, 0) : 0;
  if (!fits || !(p >= 0 && p <= 1)) return bad_types("no dropout of " + to_string(in));
  SHW_ASSIGN_OR_RETURN(const StepSeed seed, step_seed(args, 1));
  if (p == 0) return DropoutShape{{0, Dims(in.shape.size(), 0)}, seed, {}};
  SHW_ASSIGN_OR_RETURN(Numbering numbers, numbering_of(args, in));
  return DropoutShape{std::move(numbers), seed, Dropped::share(p)};
}

}  // namespace shw::runtime
