// Shapes of steps that copy elements to other positions: constant_pad_nd, extend, fill_padding,
// flip, repeat. Attributes determine the shapes.
#pragma once
#include <algorithm>
#include <vector>

#include "runtime/piece.h"
#include "runtime/step_args.h"

namespace shw::runtime {

// The region that the operand and the result of constant_pad_nd have in common, and its offset in
// each.
struct PaddedWindows {
  TensorType from, to;
  int64_t from_bytes = 0, to_bytes = 0;
};
// attrs.pad has two numbers per dim, last dim first: how many elements are added before and after
// it. Negative numbers remove elements.
inline Result<PaddedWindows> padded_windows(const KernelArgs& args) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  const std::vector<int64_t>& pad = args.attrs.get_ints(AttrKey::kPad);
  bool fits = pad.size() % 2 == 0 && pad.size() / 2 <= in.shape.size() &&
              in.shape.size() == out.shape.size();
  PaddedWindows w{in, out};
  const auto padding = [&](size_t d, size_t side) {  // before dim d or behind it
    const size_t i = 2 * (in.shape.size() - 1 - d);
    return i < pad.size() ? pad[i + side] : 0;
  };
  for (size_t d = 0; fits && d < in.shape.size(); ++d) {
    const int64_t before = padding(d, 0), behind = padding(d, 1), n = in.shape[d];
    fits = before >= -n && behind >= -n && before <= out.shape[d] && behind <= out.shape[d] &&
           n + before + behind == out.shape[d];
    w.from.shape[d] = w.to.shape[d] =
        n + std::min<int64_t>(before, 0) + std::min<int64_t>(behind, 0);
    fits = fits && w.to.shape[d] >= 0;
  }
  if (!fits) return bad_types(to_string(in) + " is not padded to " + to_string(out));
  // If the common region is empty, other dims may have any size.
  for (size_t d = 0; w.to.numel() > 0 && d < in.shape.size(); ++d) {
    w.from_bytes += std::max<int64_t>(-padding(d, 0), 0) * in.strides[d] * dtype_size(in.dtype);
    w.to_bytes += std::max<int64_t>(padding(d, 0), 0) * out.strides[d] * dtype_size(out.dtype);
  }
  return w;
}

// extend: the result is at least as large as the operand in each dim.
inline Status check_extended(const KernelArgs& args) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  bool fits = in.shape.size() == out.shape.size() && in.dtype == out.dtype;
  for (size_t d = 0; fits && d < in.shape.size(); ++d) fits = in.shape[d] <= out.shape[d];
  return fits ? Status() : bad_types(to_string(in) + " does not extend to " + to_string(out));
}

// fill_padding: the sizes of this rank's piece without its padding, from attrs.size and attrs.cuts.
inline Result<Dims> own_elements(const KernelArgs& args) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  SHW_ASSIGN_OR_RETURN(const Piece piece, piece_of(args.attrs, args.mesh, args.rank));
  bool fits =
      in.shape == out.shape && in.dtype == out.dtype && piece.size.size() == out.shape.size();
  for (size_t d = 0; fits && d < out.shape.size(); ++d) fits = piece.size[d] <= out.shape[d];
  if (!fits)
    return bad_types(to_string(in) + " and " + to_string(out) +
                     " must have the same shape and dtype, and hold the piece that attributes "
                     "'size' and 'cuts' describe");
  return Dims(piece.size);
}

// flip: bit d is set if dim d is reversed (attrs.dims).
inline Result<uint32_t> flipped_dims(const KernelArgs& args) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  uint32_t turned = 0;
  bool fits = in.shape == out.shape && in.dtype == out.dtype;
  for (int64_t d : args.attrs.get_ints(AttrKey::kDims)) {
    const int64_t dim = d < 0 ? d + in.rank() : d;
    fits = fits && dim >= 0 && dim < in.rank();
    if (fits) turned |= 1u << dim;
  }
  if (!fits)
    return bad_types(
        to_string(in) + " cannot be flipped to " + to_string(out) +
        ": expected the same shape and dtype, and dims of the tensor in attribute 'dims'");
  return turned;
}

// repeat: attrs.repeats has a number for each dim of the result; added dims come first.
inline Result<Dims> repeats_of(const KernelArgs& args) {
  const TensorType &in = *args.inputs[0], &out = *args.outputs[0];
  const std::vector<int64_t>& repeats = args.attrs.get_ints(AttrKey::kRepeats);
  bool fits = repeats.size() == out.shape.size() && in.shape.size() <= repeats.size() &&
              in.dtype == out.dtype;
  for (size_t d = 0; fits && d < repeats.size(); ++d) {
    const size_t added = repeats.size() - in.shape.size();
    int64_t size = repeats[d];
    fits = size >= 0 && (d < added || !__builtin_mul_overflow(size, in.shape[d - added], &size)) &&
           size == out.shape[d];
  }
  if (!fits) return bad_types(to_string(in) + " does not repeat to " + to_string(out));
  return Dims(repeats);
}

}  // namespace shw::runtime
