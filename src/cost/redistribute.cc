// The price of one pair of layouts.
#include "cost/redistribute.h"

#include "cost/redistribute_steps.h"

namespace shw::cost {

ValueMeta value_meta(const TensorType& type) {
  return {.bytes = static_cast<double>(type.bytes()), .contiguous = type.contiguous()};
}

double redistribute_us(const CollectiveModel& model, const Roofline& roofline, double global_bytes,
                       bool contiguous, const Layout& from, const Layout& to, PriceRules rules) {
  if (from.all_replicate()) return redistribution::from_all_replicate_us(to);
  if (!redistribution::unfold_together(model.mesh(), from, to)) return redistribution::kInfinity;
  redistribution::DirectPrices prices(model, roofline);
  return redistribution::walk(prices,
                              redistribution::bytes_of_piece(model.mesh(), global_bytes, from),
                              contiguous, model.mesh().rank(), from, to, rules);
}

double transition_us(const Layout& from, const Layout& to) {
  return from == to ? 0.0 : kTransitionUs;
}

}  // namespace shw::cost
