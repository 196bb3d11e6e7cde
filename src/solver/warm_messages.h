// Saves the messages of a root for the root of a nearly identical problem.
//
// Sweeps over a huge problem converge slowly, and any messages are valid. So if only limits change,
// or variables are added, the sweeps continue from the saved messages. These are indexed by
// variables and labels of the input, since presolve may keep others the next time.
#pragma once
#include <cstdint>
#include <vector>

#include "solver/presolve.h"
#include "solver/trws.h"

namespace shw::solver {

class WarmMessages {
 public:
  // `undo`: maps the variables that `trws` sweeps to those of `root`.
  WarmMessages(const PlacementProblem& root, const Postsolve& undo, Trws& trws);

  // Copies the saved messages to `trws`; others stay unchanged. Returns the share that was known.
  double give(const PlacementProblem& root, const Postsolve& undo, Trws& trws) const;

 private:
  // The message from one variable to another along an edge.
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
