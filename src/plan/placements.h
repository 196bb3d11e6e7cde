// Writes the placement of every node as JSON that can be inspected, edited, and used as a
// constraint when planning again (placement/saved_placements.h reads it).
//
//   {"version": 1, "mesh": {"shape": [2, 4], "dim_names": ["dp", "tp"]},
//    "nodes": [{"name": "mm", "output": "S(0)S(1)", "inputs": ["S(0)R", "RS(1)"]}, …]}
//
// An output that is a tuple is in parentheses; "none" stands for an absent tensor.
#pragma once
#include <string>

#include "plan/plan.h"

namespace shw {

std::string placements_json(const Plan& plan);

}  // namespace shw
