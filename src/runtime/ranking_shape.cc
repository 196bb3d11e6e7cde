#include "runtime/ranking_shape.h"

#include <algorithm>

namespace shw::runtime {

Result<RankingShape> ranking_shape(const KernelArgs& args) {
  SHW_RETURN_IF_ERROR(expect_operands(args, 1, 0));
  if (args.inputs.size() != 1 || args.outputs.size() != 2)
    return bad_types("one tensor is ranked into two");
  SHW_ASSIGN_OR_RETURN(
      const Lines<3> lines,
      lines_along(args.attrs, -1, std::array{args.inputs[0], args.outputs[0], args.outputs[1]}));
  const int64_t count = std::max(lines.count[1], lines.count[2]);
  for (size_t o = 0; o < 2; ++o)
    if (args.outputs[o] != nullptr && (lines.count[o + 1] != count || count > lines.count[0]))
      return bad_types("as many cannot be ranked of " + to_string(*args.inputs[0]));
  SHW_RETURN_IF_ERROR(check_size({lines.count[0]}));
  if (is_complex(args.inputs[0]->dtype)) return unimplemented("complex numbers have no order");
  return RankingShape{lines, count};
}

}  // namespace shw::runtime
