// What the program of a graph does in memory wherever its values are placed: how they lie, and
// which are copied. The compiler gets it from lowering.
#pragma once
#include <cstdint>
#include <vector>

#include "redistribution/memory_order.h"

namespace shw {

struct NodeCopies {
  uint8_t for_outputs = 0;  // of its value, for outputs: it does not lie row-major there
  // The order of that value's dims, if it has no gaps; empty: it has, or there are no such outputs.
  std::vector<uint8_t> order{};
  uint8_t to_look_at = 0;  // a view of an operand whose strides allow no window: of the operand
  auto operator<=>(const NodeCopies&) const = default;
};

struct LoweredMemory {
  // By result, in node order (Node::first_result). Of whole tensors: pieces lie in the same order.
  std::vector<MemoryOrder> orders;
  std::vector<NodeCopies> copies;  // by node
};

}  // namespace shw
