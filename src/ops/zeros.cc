#include "ops/zeros.h"

namespace shw::ops {

void parts_of_zeros(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  if (args.attrs->get_number(AttrKey::kFillValue, 1) != 0) return;
  rules.add(std::vector<Placement>{kPSum}, std::vector<Placement>(rules.num_operands(), kR));
}

}  // namespace shw::ops
