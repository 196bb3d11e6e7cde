// Dijkstra's algorithm from one layout to another, over the layouts that moves lead to (moves.h).
//
// For what a graph of all layouts (layout_graph.h) would be too large for: meshes of many dims. So
// it leaves out what rarely helps: of the orders in which many mesh dims cut a tensor dim two are
// tried, and of tensor dims that neither layout cuts two. It offers permutes once for all layouts
// that cut the same blocks.
#pragma once
#include "redistribution/moves.h"
#include "redistribution/route.h"

namespace shw {

// Of two routes of equal price the one with fewer moves is better: each has overheads that no model
// knows. Far below any real difference of prices.
inline constexpr double kPerMoveUs = 1e-9;

// Sums and averages over ranks turn into each other by a factor.
inline bool is_linear(Placement p) {
  return p == Placement::partial(ReduceOp::kSum) || p == Placement::partial(ReduceOp::kAvg);
}

// `move`: with its axes as the program names them.
void add_move(Route& route, Move move, double collective_us, double copy_us);
// All but prices, on a mesh of whole dims.
Move plain_move(const MoveEdge& edge, const Layout& after, const Dims& shape, const Mesh& mesh);

// Layouts are canonical and differ. False: no sequence of even blocks leads there.
bool search_route(const Mesh& mesh, const MovePrices& prices, CollectivePrices& collectives,
                  const Dims& shape, int64_t element_bytes, const Layout& from, const Layout& to,
                  Route& route);

}  // namespace shw
