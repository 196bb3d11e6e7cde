// In which order of dims a result is written: as those see it who read it through a permute. Then
// that permute, and views behind it, are windows, and nothing is copied.
//
// A product whose only reader is a permute: a weight's gradient lies as the weight does. Attention,
// whoever else reads its results, since its kernels take operands in any order: heads lie beside
// each other, ready for the next product.
#pragma once
#include <vector>

#include "graph/graph.h"

namespace shw {

// By node, of its first num_ordered_results(): order[i] is the dim that lies i-th. Empty: as it is.
std::vector<Dims> written_orders(const Graph& graph);
bool is_product(OpKind op);  // that can be written in any order by swapping letters, or operands
// Results of `op` that follow the order.
size_t num_ordered_results(OpKind op);

}  // namespace shw
