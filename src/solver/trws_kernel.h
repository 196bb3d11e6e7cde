// The sweep of TRW-S over flat tables: what trws.cc prepares and trws_kernel.cc runs.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shw::solver {

inline constexpr size_t kLanes = 8;  // rows of labels are padded to whole 64-byte lines

// One direction of an edge, as its variable v sees it. All rows are padded: entries beyond the last
// label are +∞.
struct TrwsArc {
  const double* matrix;   // rows: labels of v, columns: labels of the other, padded
  const double* reverse;  // rows: labels of the other, columns: labels of v, padded
  double* in;             // message from the other, over labels of v
  double* out;            // message to the other, over its labels
  uint32_t other;
  uint32_t other_stride;
};

struct TrwsNode {
  const double* unary;  // padded
  double* in;           // messages of its arcs, in their order, one padded row each
  uint32_t labels, stride;
  uint32_t first_arc, first_later_arc,
      end_arc;    // arcs to variables before it, then to those after it
  double weight;  // 1 / max(arcs before, arcs after)
};

struct TrwsSweep {
  const TrwsNode* nodes;
  const TrwsArc* arcs;
  uint32_t* choice;   // decoded on the way
  double* scratch;    // three padded rows of the largest variable
  double* marginals;  // when not null: θ − min θ of every label, node by node, padded rows
  // Sums of this sweep, added to.
  double bound;  // Σ of what was moved out of the tables: a lower bound once all nodes are done
  double bound_low;  // the part that rounding would lose
  double cost;       // of the decoded labelling
};

// Handles the nodes first, first + step, … up to but without `last`; step is 1 or −1.
void trws_run(TrwsSweep& sweep, int64_t first, int64_t last, int64_t step);

}  // namespace shw::solver
