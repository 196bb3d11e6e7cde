// Sorting along a dim gives the values in order, and the index that each had. The sort is stable,
// and NaN counts as larger than every number, as in ATen.
// x → values, places (i64). Along attrs.dim the results have the first `count` elements; each
// result may be absent.
#pragma once
#include "runtime/lines.h"
#include "runtime/step_args.h"

namespace shw::runtime {

struct RankingShape {
  Lines<3> lines;  // x, values, places
  int64_t count;   // elements of each sorted line that are returned
};
// UNIMPLEMENTED: complex numbers, which are not ordered.
Result<RankingShape> ranking_shape(const KernelArgs& args);

// attrs.descending of a sort; attrs.largest of topk. True: largest first.
inline bool sorts_down(const Attrs& attrs) { return attrs.get_bool(AttrKey::kDescending, false); }
inline bool takes_largest(const Attrs& attrs) { return attrs.get_bool(AttrKey::kLargest, true); }

}  // namespace shw::runtime
