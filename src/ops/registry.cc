// The list of all ops: one line each in graph/op_kind.h, one constant each in the files of this
// folder.
#include <array>

#include "ops/op_def.h"

namespace shw {
namespace ops {
#define X(id, name) extern const OpDef k##id;
SHW_OP_KINDS(X)
#undef X
}  // namespace ops

const OpDef& op_def(OpKind kind) {
  static constexpr std::array<const OpDef*, static_cast<size_t>(OpKind::kCount)> kTable = {
#define X(id, name) &ops::k##id,
      SHW_OP_KINDS(X)
#undef X
  };
  return *kTable[static_cast<size_t>(kind)];
}

}  // namespace shw
