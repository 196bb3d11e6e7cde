// Facts about the program's memory that do not depend on the placement: the memory order of values,
// and which values are copied. The compiler gets them from lowering.
#pragma once
#include <cstdint>
#include <vector>

#include "redistribution/memory_order.h"

namespace shw {

struct NodeCopies {
  uint8_t for_outputs = 0;  // copies of its value for outputs, if it is not row-major
  // The order of that value's dims in memory. Empty: the value has gaps, or there are no such
  // outputs.
  SmallVec<uint8_t, kMaxRank> order{};
  uint8_t to_look_at = 0;  // for a view: copies of its operand, if its strides allow no window
  auto operator<=>(const NodeCopies&) const = default;
};

struct LoweredMemory {
  // By result, in node order (Node::first_result). The orders of whole tensors; their pieces have
  // the same order.
  std::vector<MemoryOrder> orders;
  std::vector<NodeCopies> copies;  // by node
  // By node: the order in which the program writes the dims of its first results
  // (lowering/written_order.h). Empty: the default order.
  std::vector<Dims> written;
};

}  // namespace shw
