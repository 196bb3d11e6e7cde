// The placement of every node, to be looked at, changed by hand, and planned with again
// (placement/saved_placements.h reads it).
//
//   {"version": 1, "mesh": {"shape": [2, 4], "dim_names": ["dp", "tp"]},
//    "nodes": [{"name": "mm", "output": "S(0)S(1)", "inputs": ["S(0)R", "RS(1)"]}, …]}
//
// An output that is a tuple stands in parentheses; "none" is a tensor that is not there.
#pragma once
#include <string>

#include "plan/plan.h"

namespace shw {

std::string placements_json(const Plan& plan);

}  // namespace shw
