#include "ops/triangle.h"

namespace shw::ops {

Results infer_triangle(const OpArgs& args) {
  SHW_RETURN_IF_ERROR(want_operands(args, 1));
  if (args.in(0).rank() < 2)
    return invalid_argument("expected two dims or more, got " + to_string(args.in(0)));
  return infer_same(args);
}

void triangle_rules(const OpArgs& args, std::span<const OptionalType>, RuleSet& rules) {
  positionwise_rules(std::vector<bool>(args.in(0).shape.size(), false), rules);
}

}  // namespace shw::ops
