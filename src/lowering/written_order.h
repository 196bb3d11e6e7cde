// Chooses the memory order in which a result is written: the order that its readers see through a
// permute. Then the permute, and views after it, are windows, and nothing is copied.
//
// This applies to two kinds of ops. A product whose only reader is a permute: a weight's gradient
// then has the memory order of the weight. And attention, whatever other readers it has, since its
// kernels accept operands in any order: the heads of a position are then adjacent, ready for the
// next product.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace shw {

// By node, the order of its first num_ordered_results() results: order[i] is the dim with the i-th
// largest stride. Empty: the default order.
std::vector<Dims> written_orders(const Graph& graph);
bool is_product(OpKind op);  // one whose letters or operands can be swapped for any order
// The number of results of `op` that follow the order.
size_t num_ordered_results(OpKind op);

}  // namespace shw
