// The price of changing a value's layout.
//
// Follows the reference planner's rules (meta-pytorch/autoparallel,
// cost_models/collective_runtime_estimation, a54c252): one collective per mesh dim, plus the copies
// that a collective along a tensor dim other than the first needs. It ignores shard orders and
// collectives over combined groups; where these matter, placement/ uses the prices of the
// redistribution planner (redistribution/).
#pragma once
#include <limits>
#include <span>

#include "cost/collective.h"
#include "cost/roofline.h"
#include "sharding/layout.h"
#include "tensor/tensor_type.h"

namespace shw::cost {

// The properties of a global (unsharded) value that its price depends on.
struct ValueMeta {
  double bytes = 0;
  bool contiguous = true;  // row-major without gaps
};
ValueMeta value_meta(const TensorType& type);

// µs. Infinite if no collectives lead from `from` to `to`: only a partial can remain or become a
// partial.
double redistribute_us(const CollectiveModel& model, const Roofline& roofline, double global_bytes,
                       bool contiguous, const Layout& from, const Layout& to,
                       PriceRules rules = PriceRules::kCompat);

// The same for all pairs: out[i · to.size() + j] is from[i] → to[j]. Equal layouts and equal steps
// are priced once, so a pair takes a few nanoseconds.
void redistribute_matrix(const CollectiveModel& model, const Roofline& roofline,
                         double global_bytes, bool contiguous, std::span<const Layout> from,
                         std::span<const Layout> to, std::span<double> out_row_major,
                         PriceRules rules = PriceRules::kCompat);

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Charged for any layout change in addition to its cost; breaks ties in favour of keeping the
// layout.
inline constexpr double kTransitionUs = 1;
double transition_us(const Layout& from, const Layout& to);

}  // namespace shw::cost
