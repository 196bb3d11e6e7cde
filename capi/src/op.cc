// shw_op: the operations that graphs may have.
#include "graph/op_kind.h"
#include "shardwise/compile.h"

using namespace shw;

namespace {

constexpr size_t kFirst = 1;  // inputs are no operation
static_assert(static_cast<size_t>(OpKind::kInput) == 0);

}  // namespace

size_t shw_op_count(void) { return static_cast<size_t>(OpKind::kCount) - kFirst; }

const char* shw_op_name(size_t index) {
  if (index >= shw_op_count()) return "";
  return op_name(static_cast<OpKind>(index + kFirst)).data();  // a literal
}
