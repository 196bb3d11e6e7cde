// The messages of a root, for the root of a nearly identical problem.
//
// Sweeps over a huge problem converge slowly, and any messages are valid. So where only limits
// change, or variables are added, the sweeps go on where they were. Messages are kept by variables
// and labels of the input, as presolve may leave others the next time.
#pragma once
#include <cstdint>
#include <vector>

#include "solver/presolve.h"
#include "solver/trws.h"

namespace shw::solver {

class WarmMessages {
 public:
  // `undo`: leads from the variables that `trws` sweeps back to those of `root`.
  WarmMessages(const PlacementProblem& root, const Postsolve& undo, Trws& trws);

  // Those of edges that are not known stay as they are. Returns the share that is known.
  double give(const PlacementProblem& root, const Postsolve& undo, Trws& trws) const;

 private:
  // Those into the end of an edge that is the second of these variables.
  struct Into {
    uint32_t from, to;
    uint32_t labels;  // of the second
    uint64_t first;   // of these in costs_
  };
  static bool is_before(const Into& a, const Into& b);

  std::vector<Into> into_;    // ascending
  std::vector<float> costs_;  // by label of the variable
};

}  // namespace shw::solver
