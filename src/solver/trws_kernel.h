// The data of a TRW-S sweep over flat tables, prepared by trws.cc, and the function that runs it.
#pragma once
#include <cstddef>
#include <cstdint>

#include "solver/rounded_table.h"

namespace shw::solver {

inline constexpr size_t kLanes = 8;  // rows of labels are padded to whole 64-byte lines
inline uint32_t padded(size_t labels) {
  return static_cast<uint32_t>((labels + kLanes - 1) / kLanes * kLanes);
}

// A variable that its two neighbours determine, folded into the edge between them (trws.h). The
// edge's cost at each pair of labels includes the cost of the folded variable's label for that
// pair.
struct TrwsFold {
  const uint8_t* label;    // by cell of TrwsArc::matrix
  const uint8_t* reverse;  // by cell of TrwsArc::reverse
  const double* costs;     // by label
  uint32_t variable;
};

// One direction of an edge, seen from variable v. All rows are padded with +∞ after the last label.
struct TrwsArc {
  const double* matrix;   // rows: labels of v, columns: labels of the other end, padded
  const double* reverse;  // rows: labels of the other end, columns: labels of v, padded
  double* in;             // message from the other end, over labels of v
  double* out;            // message to the other end, over its labels
  uint32_t other;
  uint32_t other_stride;
  TrwsFold* folds = nullptr;  // variables folded into the edge; first those with costs
  uint32_t num_folds = 0, num_paying = 0;
};

struct ArcRange {
  uint32_t first, end;
};

struct TrwsNode {
  const double* unary;  // padded
  double* in;           // messages of its arcs in order, one padded row each
  uint32_t labels, stride;
  uint32_t first_arc, first_later_arc,
      end_arc;    // arcs to variables before it, then to those after it
  double weight;  // 1 / max(arcs before, arcs after)

  // In a sweep in direction `step`: the arcs to nodes already visited, and to nodes still to come.
  ArcRange done(int64_t step) const {
    return step > 0 ? ArcRange{first_arc, first_later_arc} : ArcRange{first_later_arc, end_arc};
  }
  ArcRange to_come(int64_t step) const { return done(-step); }
};

struct TrwsSweep {
  const TrwsNode* nodes;
  const TrwsArc* arcs;
  uint32_t* choice;             // labels decoded during the sweep
  double* scratch = nullptr;    // three padded rows of the largest variable
  double* table = nullptr;      // a table of the size of the largest edge with folded variables
  const RoundedTable* rounded;  // by arc; null: the sweep reads exact costs only
  int16_t* rounded_scratch = nullptr;  // two rows of the largest variable, if any table is rounded
  double* marginals;  // unless null: θ − min θ of every label, node by node, padded rows
  // Results of the nodes, which are then summed in a fixed order. `moved`: the minimum that node q
  // moves out of its own table, at first_slot(q), followed by those from the tables of its arcs.
  // `paid`: the cost of its label.
  double* moved;
  double* paid;

  size_t first_slot(size_t q) const { return nodes[q].first_arc + q; }
};

// Processes the nodes first, first + step, … up to but excluding `last`; step is 1 or −1.
void trws_run(const TrwsSweep& sweep, int64_t first, int64_t last, int64_t step);

}  // namespace shw::solver
