// The price of bringing a value from one layout into another.
//
// The reference planner's rules (meta-pytorch/autoparallel, cost_models/
// collective_runtime_estimation, a54c252): mesh dim by mesh dim, one collective each, plus the
// copies that a collective along another dim than the first needs. Shard order plays no part, and
// neither do collectives on combined groups: where they matter, placement/ asks lowering's planner.
#pragma once
#include <limits>
#include <span>

#include "cost/collective.h"
#include "cost/roofline.h"
#include "sharding/layout.h"
#include "tensor/tensor_type.h"

namespace shw::cost {

enum class PriceRules : uint8_t {
  kCompat,  // to the last digit the reference's
  kFull     // but P(x) → P(y) with x ≠ y, which the reference gives away, is forbidden
};

// What of a global (unsharded) value its price depends on.
struct ValueMeta {
  double bytes = 0;
  bool contiguous = true;  // row-major without gaps
};
ValueMeta value_meta(const TensorType& type);

// µs; infinite where no collective leads from `from` to `to` (to a partial from anything but
// itself).
double redistribute_us(const CollectiveModel& model, const Roofline& roofline, double global_bytes,
                       bool contiguous, const Layout& from, const Layout& to,
                       PriceRules rules = PriceRules::kCompat);

// The same for all pairs: out[i · to.size() + j] is from[i] → to[j]. Equal layouts and equal steps
// are priced once, so a pair costs a few nanoseconds.
void redistribute_matrix(const CollectiveModel& model, const Roofline& roofline,
                         double global_bytes, bool contiguous, std::span<const Layout> from,
                         std::span<const Layout> to, std::span<double> out_row_major,
                         PriceRules rules = PriceRules::kCompat);

inline constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Charged where the layouts differ, whatever the change costs: breaks ties in favour of changing
// nothing.
inline constexpr double kTransitionUs = 1;
double transition_us(const Layout& from, const Layout& to);

}  // namespace shw::cost
