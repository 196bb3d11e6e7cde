// Sorting along a dim: values in order, and where they stood. Equal ones keep their order, and NaN
// counts as larger than everything, as in ATen.
// x → values, places (i64), as many along attrs.dim as the results have; each may be absent.
#pragma once
#include "runtime/lines.h"
#include "runtime/step_args.h"

namespace shw::runtime {

struct RankingShape {
  Lines<3> lines;  // x, values, places
  int64_t count;   // of a line's elements in order that the results have
};
// UNIMPLEMENTED: complex numbers, which have no order.
Result<RankingShape> ranking_shape(const KernelArgs& args);

// attrs.descending of a sort, attrs.largest of topk: largest first.
inline bool sorts_down(const Attrs& attrs) { return attrs.get_bool(AttrKey::kDescending, false); }
inline bool takes_largest(const Attrs& attrs) { return attrs.get_bool(AttrKey::kLargest, true); }

}  // namespace shw::runtime
