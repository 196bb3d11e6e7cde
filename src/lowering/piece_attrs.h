// Writes the position of a rank's piece in the whole tensor as attributes of a step
// (plan/program.h).
#pragma once
#include "sharding/layout.h"
#include "tensor/attrs.h"

namespace shw {

inline void set_piece(Attrs& attrs, const Dims& shape, const Layout& layout) {
  std::vector<int64_t> cuts;
  for (size_t d = 0; d < shape.size(); ++d)
    for (int m : layout.shards_of(static_cast<int>(d)))
      cuts.insert(cuts.end(), {m, static_cast<int64_t>(d)});
  attrs.set(AttrKey::kSize, std::vector<int64_t>(shape.begin(), shape.end()));
  attrs.set(AttrKey::kCuts, std::move(cuts));
}

}  // namespace shw
