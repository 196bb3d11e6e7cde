// Finds a route by Dijkstra's algorithm from one layout to another, over the layouts that moves
// reach (moves.h).
//
// It is for meshes of many dims, where a graph of all layouts (layout_graph.h) would be too large.
// So it omits moves that rarely help. If many mesh dims cut a tensor dim, it tries only two orders;
// and it cuts only two of the tensor dims that neither layout cuts. It offers permutes once for all
// layouts that have the same blocks.
#pragma once
#include "redistribution/moves.h"
#include "redistribution/route.h"

namespace shw {

// Added to the price of each move. Of two routes of equal price, the one with fewer moves is
// better, since each move has overheads that no model knows. The term is far below any real
// difference of prices.
inline constexpr double kPerMoveUs = 1e-9;

// Sums and averages over ranks differ only by a factor.
inline bool is_linear(Placement p) {
  return p == Placement::partial(ReduceOp::kSum) || p == Placement::partial(ReduceOp::kAvg);
}

// `move`: its axes are numbered as in the program.
void add_move(Route& route, Move move, double collective_us, double copy_us);
// The move without prices, on a mesh of whole dims.
Move plain_move(const MoveEdge& edge, const Layout& after, const Dims& shape, const Mesh& mesh);

// The layouts must be canonical and different. False: no sequence of even blocks connects them.
bool search_route(const Mesh& mesh, const MovePrices& prices, CollectivePrices& collectives,
                  const Dims& shape, int64_t element_bytes, const Layout& from, const Layout& to,
                  Route& route);

}  // namespace shw
