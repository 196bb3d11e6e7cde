#include "lowering/padding.h"

#include "lowering/piece_attrs.h"

namespace shw {

ValueId Padding::filled(const Dims& shape, const Layout& layout, ValueId piece, double with) {
  std::vector<Filled>& known = filled_[piece.v];
  for (const Filled& f : known)
    if (f.with == with) return f.value;
  const TensorType type = builder_.value(piece).type;
  const ValueId out = builder_.fresh(row_major(type.dtype, type.shape));
  ProgramStep& step = builder_.step("fill_padding", {piece}, {out}, prices_.copy_us(type.bytes()));
  step.attrs.set(AttrKey::kFillValue, with);
  set_piece(step.attrs, shape, layout);
  known.push_back({with, out});
  return out;
}

}  // namespace shw
