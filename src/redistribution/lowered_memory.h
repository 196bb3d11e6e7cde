// What the program of a graph does in memory wherever its values are placed: how they lie, and
// which are copied. The compiler gets it from lowering.
#pragma once
#include <cstdint>
#include <vector>

#include "redistribution/memory_order.h"

namespace shw {

struct LoweredMemory {
  // By result, in node order (Node::first_result). Of whole tensors: pieces lie in the same order.
  std::vector<MemoryOrder> orders;
  // By node: for how many outputs its value is copied, since it does not lie row-major there.
  std::vector<uint8_t> copies_for_outputs;
};

}  // namespace shw
